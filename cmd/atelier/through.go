package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/service"
	"atelier/transport/control"
)

// either calls running if a server has the data folder open, and otherwise calls stopped.
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

// operate sends requests to the running server. If no server runs, this process opens the store and
// serves the same API itself.
func (c common) operate(ask func(*control.Client) error) error { return c.operateOn(false, ask) }

// operateOn does the same as operate. If the argument there is true, a folder without data is an
// error.
func (c common) operateOn(there bool, ask func(*control.Client) error) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return operate(cfg, ask, func() (*service.Core, error) {
		switch err := hasData(cfg); {
		case err != nil && there:
			return nil, err
		case err != nil:
			// This notice helps an operator who has mistyped the path.
			fmt.Fprintln(os.Stderr, "no server runs on", cfg.Server.Data, "and the folder contains no data: a new store is created there")
		}
		return openCore(cfg)
	})
}

func operate(cfg config.Config, ask func(*control.Client) error, open func() (*service.Core, error)) error {
	return either(cfg, ask, func() error {
		core, err := open()
		if err != nil {
			return err
		}
		client := control.Within(core.Operator())
		err = ask(client)
		client.Close()
		return errors.Join(err, core.Close(context.Background()))
	})
}

// openCore opens the store with its actors. A server must not have the store open at the same time.
func openCore(cfg config.Config) (*service.Core, error) {
	if cfg.Storage.Backend == config.Memory {
		return nil, errors.New("storage.backend is memory: only a running server has data, and no server runs on this folder")
	}
	return service.OpenCore(cfg, service.Hooks{}, service.Options{}, newLogger(quietly(cfg.Log)))
}

// printJSON prints a value in a form for programs.
func printJSON(v any) error {
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(v)
}
