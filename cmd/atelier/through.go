package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/service"
	"atelier/transport/control"
)

// either asks the running server or, when none has the data folder open, does
// without one.
func either(cfg config.Config, running func(*control.Client) error, stopped func() error) error {
	client, err := control.Dial(cfg.Server.Data)
	switch {
	case err == nil:
		defer client.Close()
		return running(client)
	case errors.Is(err, control.ErrNotRunning):
		return stopped()
	}
	return err
}

// through prints what the running server says or, when none runs, what the
// store's own actors say.
func (c common) through(running func(*control.Client) (string, error), stopped func(*service.Core) (string, error)) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	var text string
	err = either(cfg, func(client *control.Client) (err error) {
		text, err = running(client)
		return err
	}, func() error {
		if hasData(cfg) != nil {
			// It may be a mistyped one.
			fmt.Fprintln(os.Stderr, "no server runs on", cfg.Server.Data, "and it holds no data: making a new store there")
		}
		core, err := openCore(cfg)
		if err != nil {
			return err
		}
		text, err = stopped(core)
		return errors.Join(err, core.Close(context.Background()))
	})
	if err == nil {
		fmt.Print(text)
	}
	return err
}

// openCore opens the store with its actors, which no server has open.
func openCore(cfg config.Config) (*service.Core, error) {
	if cfg.Storage.Backend == config.Memory {
		return nil, errors.New("storage.backend is memory: only a running server has data, and none runs on this folder")
	}
	return service.OpenCore(cfg, service.Hooks{}, service.Options{}, newLogger(quietly(cfg.Log)))
}
