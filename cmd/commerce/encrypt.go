package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"atelier/transport/handler/encrypted"
)

// keygenCmd generates the key pair of a business.
type keygenCmd struct {
	Private string `required:"" help:"File for the private key; must not exist." placeholder:"FILE"`
}

// Run writes the private key and prints the public one.
func (c keygenCmd) Run(s streams) error {
	public, private, err := encrypted.Generate()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(c.Private, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return failure{exitIO, "io", c.Private, err}
	}
	_, err = f.Write(append(private, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return failure{exitIO, "io", c.Private, err}
	}
	_, err = fmt.Fprintf(s.out, "%s\n", public)
	return err
}

// encryptCmd is the platform's side of the encrypted credential pattern.
type encryptCmd struct {
	Key        string `required:"" help:"Public key (JWK) of the business, as the handler publishes it at /keys/{identity}." placeholder:"FILE"`
	Checkout   string `required:"" help:"Id of the checkout of the credential." placeholder:"ID"`
	Credential string `arg:"" optional:"" default:"-" help:"File with the credential, a JSON object; - is standard input."`
}

// Run prints the encrypted message (JWE, compact).
func (c encryptCmd) Run(s streams) error {
	key, err := readSmall(c.Key, encrypted.MaxKeyBytes)
	if err != nil {
		return err
	}
	credential, err := readSmall(c.Credential, encrypted.MaxMessageBytes)
	if err != nil {
		return err
	}
	message, err := encrypted.Encrypt(key, c.Checkout, credential)
	if err != nil {
		return usage(err)
	}
	_, err = fmt.Fprintln(s.out, message)
	return err
}

// decryptCmd is the business's side of the pattern.
type decryptCmd struct {
	Key      string `required:"" help:"Private key (JWK)." placeholder:"FILE"`
	Checkout string `required:"" help:"Id of the checkout; a message for another is refused." placeholder:"ID"`
	Message  string `arg:"" optional:"" default:"-" help:"File with the message; - is standard input."`
}

// Run prints the decrypted credential.
func (c decryptCmd) Run(s streams) error {
	key, err := readSmall(c.Key, encrypted.MaxKeyBytes)
	if err != nil {
		return err
	}
	message, err := readSmall(c.Message, encrypted.MaxMessageBytes)
	if err != nil {
		return err
	}
	credential, err := encrypted.Decrypt(key, c.Checkout, string(message))
	switch {
	case errors.Is(err, encrypted.ErrKey), errors.Is(err, encrypted.ErrCheckout):
		return usage(err)
	case err != nil:
		return failure{exitFindings, "message", c.Message, err}
	}
	_, err = fmt.Fprintf(s.out, "%s\n", credential)
	return err
}

// readSmall reads a file of at most the given size in bytes. The path - means standard input.
// readSmall removes all line breaks at the end.
func readSmall(path string, most int) ([]byte, error) {
	in := os.Stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, failure{exitIO, "io", path, err}
		}
		defer f.Close()
		in = f
	}
	limit := most + 2 // and a line break
	b, err := io.ReadAll(io.LimitReader(in, int64(limit)+1))
	if err != nil {
		return nil, failure{exitIO, "io", path, err}
	}
	large := len(b) > limit
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	if large || len(b) > most {
		return nil, usage(fmt.Errorf("%s is larger than %d bytes", path, most))
	}
	return b, nil
}
