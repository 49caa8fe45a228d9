package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"atelier/transport/ai/keys"
)

type encryptKeyCmd struct{ common }

// maxKeyInput is the maximum size of the input, in bytes.
const maxKeyInput = 8 << 10

// Run reads an AI key from standard input and prints it in the form that POST /api/admin/settings
// accepts. The key is not an argument, because other users can see arguments.
func (c encryptKeyCmd) Run() error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	password, err := ownersPassword(cfg)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("there is no admin password yet: set ADMIN_PW, or start the server once")
	}
	if err != nil {
		return err
	}
	key, err := io.ReadAll(io.LimitReader(os.Stdin, maxKeyInput+1))
	switch {
	case err != nil:
		return err
	case len(key) > maxKeyInput:
		return fmt.Errorf("standard input is larger than %d bytes, too large for a key", maxKeyInput)
	}
	if len(strings.TrimSpace(string(key))) == 0 {
		return errors.New("the key is expected on standard input")
	}
	text, err := keys.Encrypt(password, strings.TrimSpace(string(key)), rand.Reader)
	if err != nil {
		return err
	}
	fmt.Println(text)
	return nil
}
