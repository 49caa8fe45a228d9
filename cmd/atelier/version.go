package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"atelier/persistence/badger"
)

// version is set by the build (-ldflags "-X main.version=…").
var version = "dev"

type versionCmd struct{ common }

// Run shows what this binary is.
func (versionCmd) Run() error {
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " (" + s.Value[:min(12, len(s.Value))] + ")"
			}
		}
	}
	fmt.Printf("atelier %s%s, data format %d, %s %s/%s\n", version, revision, badger.Format, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}
