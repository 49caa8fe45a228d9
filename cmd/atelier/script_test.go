package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"atelier": main})
}

// TestScripts runs the binary's commands in the same way as users. Each script in testdata/script
// is one scenario.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("ADMIN_PW", "a-test-password")
			return os.Mkdir(e.WorkDir+"/tmp", 0o700)
		},
	})
}
