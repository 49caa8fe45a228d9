package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/service"
	"atelier/transport/control"
)

type backupCmd struct {
	common
	File string `arg:"" help:"Where to write the backup; must not exist."`
}

// Run writes a backup, through the running server when there is one.
func (c backupCmd) Run() error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if _, err := os.Stat(c.File); err == nil {
		return fmt.Errorf("%s exists already", c.File)
	}
	// Written beside and renamed: a backup that broke off is never mistaken
	// for a whole one.
	tmp, err := os.CreateTemp(filepath.Dir(c.File), ".atelier-backup-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	err = writeBackup(cfg, tmp)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if err := os.Rename(tmp.Name(), c.File); err != nil {
		return err
	}
	info, err := os.Stat(c.File)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes\n", c.File, info.Size())
	return nil
}

func writeBackup(cfg config.Config, w io.Writer) error {
	return either(cfg, func(client *control.Client) error { return client.Backup(w) }, func() error {
		if _, err := cfg.Check(); err != nil {
			return err
		}
		if err := hasData(cfg); err != nil {
			return err
		}
		// With its actors: what is to be erased must not be in the backup.
		core, err := openCore(cfg)
		if err != nil {
			return err
		}
		return errors.Join(core.Backup(w), core.Close(context.Background()))
	})
}

func hasData(cfg config.Config) error {
	if !service.HasData(cfg) {
		return fmt.Errorf("there is no data in %s", cfg.Server.Data)
	}
	return nil
}

// openData opens what the data folder holds, which no server has open.
func openData(cfg config.Config) (*service.Core, error) {
	if err := hasData(cfg); err != nil {
		return nil, err
	}
	return service.OpenData(cfg, newLogger(quietly(cfg.Log)))
}

// quietly logs only what went wrong: the command itself says what it did.
func quietly(l config.Log) config.Log {
	if l.Level == "info" {
		l.Level = "warn"
	}
	return l
}

type restoreCmd struct {
	common
	File string `arg:"" help:"A backup." type:"existingfile"`
}

// Run restores a backup into a data folder that holds no data. Clients see
// that their position in the stream is void.
func (c restoreCmd) Run() error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	// A server would not start with what is wrong here.
	if _, err := cfg.Check(); err != nil {
		return err
	}
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := service.Restore(cfg, f); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	fmt.Printf("restored into %s\n", cfg.Server.Data)
	return nil
}
