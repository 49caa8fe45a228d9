package process

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the build (-ldflags "-X atelier/cmd/internal/version.version=…").
var version = "dev"

// Version is the version, "dev" for a binary that was built without one.
func Version() string { return version }

// VersionText is a line about a program: its version, the revision that it was built from,
// what else it says of itself, and the toolchain and system.
func VersionText(program, more string) string {
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " (" + s.Value[:min(12, len(s.Value))] + ")"
			}
		}
	}
	return fmt.Sprintf("%s %s%s, %s%s %s/%s", program, version, revision, more, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
