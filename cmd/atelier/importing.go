package main

import (
	"fmt"
	"os"

	"atelier/cmd/atelier/service"
	"atelier/transport/control"
)

type importCmd struct {
	common
	File string `arg:"" help:"A claat Markdown file, or a ZIP of one, or an exported codelab." type:"existingfile"`
}

// Run imports through the running server, or into the store when none runs.
func (c importCmd) Run() error {
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer f.Close()
	line := func(text string, err error) (string, error) {
		if err != nil {
			return "", fmt.Errorf("import %s: %w", c.File, err)
		}
		return text + "\n", nil
	}
	return c.through(
		func(running *control.Client) (string, error) { return line(running.Import(f)) },
		func(core *service.Core) (string, error) { return line(core.Import(f)) },
	)
}
