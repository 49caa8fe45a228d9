package main

import (
	"fmt"

	"atelier/transport/control"
)

// keysCmd looks after the server's token keys.
type keysCmd struct {
	Rotate keysRotate `cmd:"" help:"Make a new token key; new tokens use it at once, earlier keys stay for as long as their tokens may live."`
}

type keysRotate struct{ common }

// Run rotates the keys.
func (c keysRotate) Run() error {
	return c.operate(func(server *control.Client) error {
		text, err := server.RotateKeys()
		fmt.Print(text)
		return err
	})
}
