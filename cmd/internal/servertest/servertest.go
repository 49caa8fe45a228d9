// Package servertest builds the server for tests that run it as a process.
package servertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// folder is the folder of the binary, once a test has needed it.
var folder string

// Build builds the server as it is shipped and returns the path of its binary. It does so once for
// all tests of the process, because linking takes seconds. It is safe for concurrent use.
var Build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "atelier-server-*")
	if err != nil {
		return "", err
	}
	folder = dir
	path := filepath.Join(dir, "atelier")
	if out, err := exec.Command("go", "build", "-o", path, "atelier/cmd/atelier").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
})

// Remove removes the binary, if a test has built it. TestMain calls Remove after all tests.
func Remove() {
	if folder != "" {
		_ = os.RemoveAll(folder)
	}
}
