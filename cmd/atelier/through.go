package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"atelier/cmd/atelier/service"
	"atelier/transport/control"
)

// through prints what the running server says or, when none runs, what the
// store's own actors say.
func (c common) through(running func(*control.Client) (string, error), stopped func(*service.Core) (string, error)) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	var text string
	client, err := control.Dial(cfg.Server.Data)
	switch {
	case err == nil:
		defer client.Close()
		text, err = running(client)
	case errors.Is(err, control.ErrNotRunning):
		if hasData(cfg) != nil {
			// It may be a mistyped one.
			fmt.Fprintln(os.Stderr, "no server runs on", cfg.Server.Data, "and it holds no data: making a new store there")
		}
		var core *service.Core
		if core, err = service.OpenCore(cfg, service.Hooks{}, service.Options{}, newLogger(quietly(cfg.Log))); err != nil {
			return err
		}
		text, err = stopped(core)
		err = errors.Join(err, core.Close(context.Background()))
	}
	if err == nil {
		fmt.Print(text)
	}
	return err
}
