package main

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"commerce": main})
}

// TestScripts runs the commands as users do. exits N runs a command that must end with this exit
// code.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			// With the race detector, every command would otherwise wait for a second at its end.
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			published, err := os.Getwd()
			e.Setenv("PUBLISHED", published+"/../../transport/commerce/schema/published/2026-01-23")
			return err
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg {
					ts.Fatalf("exits cannot be negated")
				}
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				got := 0
				if err := ts.Exec(args[1], args[2:]...); err != nil {
					if _, err := fmt.Sscanf(err.Error(), "exit status %d", &got); err != nil {
						ts.Fatalf("it did not run")
					}
				}
				if got != want {
					ts.Fatalf("exit code %d, want %d", got, want)
				}
			},
		},
	})
}
