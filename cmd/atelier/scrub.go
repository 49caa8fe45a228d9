package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"atelier/transport/control"
)

type scrubCmd struct{ common }

// Run reads everything that is stored, through the running server when there
// is one, and says what is damaged.
func (c scrubCmd) Run() error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	var damaged int
	err = either(cfg, func(client *control.Client) (err error) {
		damaged, err = client.Scrub(os.Stdout)
		return err
	}, func() error {
		data, err := openData(cfg)
		if err != nil {
			return err
		}
		damaged, err = data.Scrub(os.Stdout)
		return errors.Join(err, data.Close(context.Background()))
	})
	if err != nil {
		return fmt.Errorf("scrub: %w", err)
	}
	if damaged > 0 {
		return fmt.Errorf("scrub: %d stored contents are damaged: restore them from a backup", damaged)
	}
	return nil
}
