package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/archive"
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
		var core *core
		if core, err = openCore(cfg, nil, nil, newLogger(quietly(cfg.Log))); err != nil {
			return err
		}
		line, err = core.importFile(f, cfg.Admin.ID)
		err = errors.Join(err, core.close(context.Background()))
	}
	if err != nil {
		return fmt.Errorf("import %s: %w", c.File, err)
	}
	fmt.Println(line)
	return nil
}

// importFile makes a codelab of a file and says what was made.
func (c *core) importFile(f *os.File, adminID string) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if info.Size() > archive.MaxPacked {
		return "", fmt.Errorf("the file is larger than %d MiB", archive.MaxPacked>>20)
	}
	made, err := archive.Read(f, info.Size())
	if err != nil {
		return "", err
	}
	m, err := c.workshops.Create(&pb.Caller{Role: pb.Role_ROLE_ADMIN, Id: codelab.FacilitatorID, AdminId: adminID, UserAgent: "atelier import"}, made)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s  %s (%d steps, join code %s)", m.Id, m.Title, len(made.Steps), m.JoinCode), nil
}

// controls is what a running server does for other commands.
func (c *core) controls(adminID string) control.Operations {
	return control.Operations{
		Backup: c.store.Backup,
		Import: func(content io.Reader) (string, error) {
			f, err := os.CreateTemp("", "atelier-import-*")
			if err != nil {
				return "", err
			}
			defer os.Remove(f.Name())
			defer f.Close()
			if _, err := io.Copy(f, io.LimitReader(content, archive.MaxPacked+1)); err != nil {
				return "", err
			}
			return c.importFile(f, adminID)
		},
	}
}
