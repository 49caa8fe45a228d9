//go:build linux

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"atelier/bench/demo"
	"atelier/bench/nodes"
	"atelier/bench/server"
)

// demoCommand is the command line of the demo.
type demoCommand struct {
	Attendees int           `default:"40" help:"Number of simulated attendees."`
	Speed     float64       `default:"1" help:"Speed of the attendees; 1 is the pace that the codelab states."`
	For       time.Duration `default:"2h" help:"Time after which the demo ends."`
	Listen    string        `placeholder:"HOST:PORT" help:"Address of the server; the default is 127.0.0.1:8080, or a free port if that is in use."`
	Nodes     int           `default:"1" help:"Number of nodes, with PostgreSQL and a load balancer; you can kill any of them during the demo."`
	Server    string        `type:"path" placeholder:"PATH" help:"Server binary; the default is atelier in the folder of this program."`
	Seed      uint64        `help:"Seed of the attendees' behaviour; 0 draws one."`
}

// longest bounds a demo that somebody forgets.
const longest = 24 * time.Hour

// Validate is called by kong.
func (c *demoCommand) Validate() error {
	if c.For > longest {
		return fmt.Errorf("--for is %v, want %v or less", c.For, longest)
	}
	if !(c.Speed >= 0.1 && c.Speed <= 1000) {
		return fmt.Errorf("--speed is %v, want 0.1 to 1000", c.Speed)
	}
	if c.Nodes > nodes.Most {
		return fmt.Errorf("--nodes is %d, want %d or fewer", c.Nodes, nodes.Most)
	}
	return errors.Join(atLeast("attendees", c.Attendees, 1), atLeast("for", c.For, time.Second), atLeast("nodes", c.Nodes, 1))
}

// Run is called by kong.
func (c *demoCommand) Run(ctx context.Context) (err error) {
	if err := raiseFileLimit(); err != nil {
		return err
	}
	binary, err := (&serverFlags{Server: c.Server}).binary()
	if err != nil {
		return err
	}
	target, log, several, end, err := c.start(ctx, binary)
	if err != nil {
		return interrupted(ctx, err)
	}
	// Clean up in all cases.
	defer func() { err = errors.Join(err, end()) }()
	cfg := demo.Config{Attendees: c.Attendees, Speed: c.Speed, Join: 5 * time.Second, Seed: c.Seed, Note: c.note(ctx)}
	if cfg.Seed == 0 {
		cfg.Seed = uint64(mathrand.Uint32())
	}
	workshop, err := demo.Prepare(cfg, target)
	if err != nil {
		return interrupted(ctx, err)
	}
	fmt.Printf(`
  Open        %s/admin/%s
  Admin id    %s
  Password    %s

  Attendees   %s/codelabs/%s
  Log         %s

  %d people are working through "%s".
  Ctrl-C ends it and removes its data; it ends by itself in %v.

`, target.URL, workshop.ID, target.AdminID, target.AdminPW, target.URL, workshop.ID, log, c.Attendees, workshop.Title, c.For)
	ctx, cancel := context.WithTimeout(ctx, c.For)
	defer cancel()
	var watching sync.WaitGroup
	if several != nil {
		watching.Go(func() { several.run(ctx, os.Stdin) })
	}
	workshop.Run(ctx)
	watching.Wait()
	fmt.Println("\n  The demo is over.")
	return nil
}

// start starts the server, or several nodes of it, and returns the path of its log.
func (c *demoCommand) start(ctx context.Context, binary string) (to demo.Target, log string, several *nodesDemo, end func() error, err error) {
	if c.Nodes > 1 {
		if several, err = startNodes(ctx, binary, c.address(), c.Nodes); err != nil {
			return to, "", nil, nil, err
		}
		first := several.cluster.Processes[0]
		to = demo.Target{URL: several.balancer.URL(), AdminID: first.AdminID, AdminPW: first.AdminPW}
		return to, filepath.Join(first.Dir, "server.log"), several, several.close, nil
	}
	process, err := server.New(binary)
	if err != nil {
		return to, "", nil, nil, err
	}
	process.AdminID, process.AdminPW, process.Listen = "admin", password(), c.address()
	if err := process.Start(ctx); err != nil {
		process.Kill()
		return to, "", nil, nil, errors.Join(err, process.Remove())
	}
	to = demo.Target{URL: process.URL(), AdminID: process.AdminID, AdminPW: process.AdminPW}
	return to, filepath.Join(process.Dir, "server.log"), nil, func() error { return errors.Join(process.Stop(), process.Remove()) }, nil
}

// address is where the server of the demo listens: the usual place, if nobody
// is there.
func (c *demoCommand) address() string {
	const usual = "127.0.0.1:8080"
	if c.Listen != "" {
		return c.Listen
	}
	l, err := net.Listen("tcp", usual)
	if err != nil {
		return ""
	}
	_ = l.Close()
	return usual
}

// note prints a person's errors, as long as the demo has not been ended.
func (c *demoCommand) note(ctx context.Context) func(string) {
	return func(text string) {
		if ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "demo:", text)
		}
	}
}

// password returns a password that people can type.
func password() string { return strings.ToLower(rand.Text()[:12]) }

// interrupted is not an error when somebody asked for it.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
