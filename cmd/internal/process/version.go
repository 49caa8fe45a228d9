package process

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version and revision are set by the build (-ldflags "-X
// atelier/cmd/internal/process.version=…"); a build that does not set the revision has
// what Go found.
var version, revision = "dev", ""

// Version is the version, "dev" for a binary that was built without one.
func Version() string { return version }

// VersionText is a line about a program: its version, the revision that it was built from,
// what else it says of itself, and the toolchain and system.
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
