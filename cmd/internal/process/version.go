package process

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version and revision are set by the build (-ldflags "-X atelier/cmd/internal/process.version=…").
// If the build does not set the revision, the revision recorded by Go is used.
var version, revision = "dev", ""

// Version returns the version, or "dev" for a binary that was built without one.
func Version() string { return version }

// VersionText returns a line about a program: its version, its revision, the program's additional
// text, the toolchain and the system.
func VersionText(program, more string) string {
	of := revision
	if info, ok := debug.ReadBuildInfo(); ok && of == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				of = s.Value[:min(12, len(s.Value))]
			}
		}
	}
	if of != "" {
		of = " (" + of + ")"
	}
	return fmt.Sprintf("%s %s%s, %s%s %s/%s", program, version, of, more, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
