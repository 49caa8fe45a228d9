package main

import (
	"fmt"

	"atelier/cmd/internal/process"
	"atelier/persistence/badger"
)

type versionCmd struct{ common }

// Run prints the version of this binary.
func (versionCmd) Run() error {
	fmt.Println(versionText())
	return nil
}

func versionText() string {
	return process.VersionText("atelier", fmt.Sprintf("data format %d, ", badger.Format))
}
