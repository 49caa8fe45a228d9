package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"atelier/cmd/atelier/service"
	"atelier/transport/control"
)

// keysCmd manages the server's token keys.
type keysCmd struct {
	Rotate keysRotate `cmd:"" help:"Create a token key. New tokens use it at once; earlier keys stay for the maximum lifetime of their tokens."`
	New    keysNew    `cmd:"" help:"Void all tokens, so that the next start creates new keys. Only while the server is stopped and the file of token keys is lost or damaged."`
}

type keysNew struct {
	common
	ForgetTokens bool `required:"" help:"Confirm that every token becomes void permanently." name:"forget-tokens"`
	Yes          bool `help:"Do not ask for confirmation."`
}

// Run voids all tokens while the server is stopped. A server that lacks its keys does not start.
func (c keysNew) Run() error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	ask := func(tokens int) error {
		fmt.Printf("The store contains %d tokens. All of them become invalid: requests with one get token_not_found.\n", tokens)
		if c.Yes {
			return nil
		}
		fmt.Print("Write forget to continue: ")
		answer, err := bufio.NewReader(io.LimitReader(os.Stdin, 100)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if strings.TrimSpace(answer) != "forget" {
			return errors.New("nothing was changed")
		}
		return nil
	}
	if err := service.ForgetTokens(cfg, ask, newLogger(quietly(cfg.Log))); err != nil {
		return err
	}
	fmt.Println("done: the next start makes new keys")
	return nil
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
