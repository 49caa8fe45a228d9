package main

import (
	"context"
	"errors"
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
	cfg, err := c.load()
	if err != nil {
		return err
	}
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer f.Close()
	var line string
	client, err := control.Dial(cfg.Server.Data)
	switch {
	case err == nil:
		defer client.Close()
		line, err = client.Import(f)
	case errors.Is(err, control.ErrNotRunning):
		var core *service.Core
		if core, err = service.OpenCore(cfg, nil, nil, newLogger(quietly(cfg.Log))); err != nil {
			return err
		}
		line, err = core.Import(f, cfg.Admin.ID)
		err = errors.Join(err, core.Close(context.Background()))
	}
	if err != nil {
		return fmt.Errorf("import %s: %w", c.File, err)
	}
	fmt.Println(line)
	return nil
}
