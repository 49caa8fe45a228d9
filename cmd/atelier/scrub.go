package main

import (
	"fmt"
	"os"

	"atelier/cmd/atelier/service"
	"atelier/transport/control"
)

type scrubCmd struct{ common }

// Run verifies all stored data, through the server if one runs, and prints each damaged item.
func (c scrubCmd) Run() error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	var damaged int
	err = operate(cfg, func(client *control.Client) (err error) {
		damaged, err = client.Scrub(os.Stdout)
		return err
	}, func() (*service.Core, error) { return openData(cfg) })
	if err != nil {
		return fmt.Errorf("scrub: %w", err)
	}
	if damaged > 0 {
		return fmt.Errorf("scrub: %d stored objects are damaged: restore them from a backup", damaged)
	}
	return nil
}
