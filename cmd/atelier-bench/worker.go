//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"atelier/bench/workers"
)

// workerCommand is a generator that a coordinator controls.
type workerCommand struct {
	Listen string `placeholder:"HOST:PORT" help:"Address to accept coordinators at; empty only in a process that a coordinator started."`
	Secret string `env:"BENCH_SECRET" help:"Secret shared with the coordinator, 16 characters or more; prefer the environment variable."`
}

// Validate is called by kong.
func (w *workerCommand) Validate() error {
	if w.Listen == "" {
		return nil
	}
	return workers.CheckSecret(w.Secret)
}

// Run is called by kong.
func (w *workerCommand) Run(ctx context.Context) error {
	if err := raiseFileLimit(); err != nil {
		return err
	}
	if w.Listen == "" {
		conn, err := workers.Inherited()
		if err != nil {
			return err
		}
		return workers.Serve(conn)
	}
	return workers.Listen(ctx, w.Listen, w.Secret,
		func(a net.Addr) { fmt.Fprintln(os.Stderr, "waiting for a coordinator at", a) },
		func(from net.Addr, why error) { fmt.Fprintf(os.Stderr, "rejected %v: %v\n", from, why) })
}
