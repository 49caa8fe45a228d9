//go:build linux

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"atelier/bench/api"
	"atelier/bench/nodes"
	"atelier/bench/server"
)

// demoCommand is the command line of the demo.
type demoCommand struct {
	Attendees int           `default:"40" help:"Number of simulated attendees."`
	For       time.Duration `default:"2h" help:"Time after which the demo ends."`
	Listen    string        `placeholder:"HOST:PORT" help:"Address of the server; the default is 127.0.0.1:8080, or a free port if that is in use."`
	Nodes     int           `default:"1" help:"Number of nodes, with PostgreSQL and a load balancer; you can kill any of them during the demo."`
	Server    string        `type:"path" placeholder:"PATH" help:"Server binary; the default is atelier in the folder of this program."`
}

// longest is the maximum duration of a demo, in case the user forgets it.
const longest = 24 * time.Hour

// maxRehearsing is the maximum number of people in a rehearsal. longestRehearsal is the maximum
// duration of a rehearsal.
const (
	maxRehearsing    = 60
	longestRehearsal = time.Hour
)

// Validate is called by kong.
func (c *demoCommand) Validate() error {
	if c.For > longest {
		return fmt.Errorf("--for is %v, want %v or less", c.For, longest)
	}
	if c.Attendees > maxRehearsing {
		return fmt.Errorf("--attendees is %d, want %d or fewer", c.Attendees, maxRehearsing)
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
	// Clean up in every case.
	defer func() { err = errors.Join(err, end()) }()
	ctx, cancel := context.WithTimeout(ctx, c.For)
	defer cancel()
	workshop, err := prepareDemo(target)
	if err == nil {
		defer workshop.client.Close()
		err = workshop.rehearse(ctx, c.Attendees)
	}
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

`, target.URL, workshop.lab.ID, target.AdminID, target.AdminPW, target.URL, workshop.lab.ID, log, c.Attendees, workshop.lab.Title, c.For)
	var watching sync.WaitGroup
	if several != nil {
		watching.Go(func() { several.run(ctx, os.Stdin) })
	}
	workshop.keep(ctx, c.Attendees)
	watching.Wait()
	fmt.Println("\n  The demo is over.")
	return nil
}

// demoTarget is a server with its owner's login.
type demoTarget struct{ URL, AdminID, AdminPW string }

// demoWorkshop is the server's sample workshop, which simulated attendees work through. They are
// the attendees of the server's own rehearsals.
type demoWorkshop struct {
	client *api.Client
	admin  api.Session
	lab    api.Codelab
}

// prepareDemo creates the workshop. Registration is open to everybody.
func prepareDemo(target demoTarget) (*demoWorkshop, error) {
	client, err := api.New(target.URL, "", api.Within)
	if err != nil {
		return nil, err
	}
	w := &demoWorkshop{client: client}
	if w.admin, err = client.Login(target.AdminID, target.AdminPW, "Demo"); err == nil {
		var a *api.Answer
		if a, err = client.Do(&api.Request{Method: "POST", Path: "/admin/sample", Session: w.admin}); err == nil {
			err = a.Decode(&w.lab)
		}
	}
	if err == nil {
		err = client.Send(w.admin, "PUT", "/codelabs/"+w.lab.ID, map[string]any{"is_public": true})
	}
	if err != nil {
		client.Close()
		return nil, fmt.Errorf("prepare the workshop: %w", err)
	}
	return w, nil
}

// rehearse starts a rehearsal. It lasts until the deadline of ctx, rounded up to whole minutes, but
// at most longestRehearsal. People who register do not end it.
func (w *demoWorkshop) rehearse(ctx context.Context, people int) error {
	lasts := longestRehearsal
	if end, ok := ctx.Deadline(); ok {
		lasts = min(lasts, time.Until(end)+time.Minute-1)
	}
	return w.client.Send(w.admin, "POST", "/codelabs/"+w.lab.ID+"/rehearsal",
		map[string]any{"people": people, "minutes": max(int(lasts/time.Minute), 1), "force": true})
}

// keep starts the next rehearsal whenever one has ended, until ctx ends. A rehearsal ends after at
// most longestRehearsal, or if its node was killed.
func (w *demoWorkshop) keep(ctx context.Context, people int) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		// A node that was just killed does not answer, so the next tick checks again.
		if running, err := w.running(); err == nil && !running {
			_ = w.rehearse(ctx, people)
		}
	}
}

func (w *demoWorkshop) running() (bool, error) {
	var lab struct {
		Rehearsal *struct{} `json:"rehearsal"`
	}
	err := w.client.Get(w.admin, "/codelabs/"+w.lab.ID, &[2]any{&lab, new(any)})
	return lab.Rehearsal != nil, err
}

// start starts the server, or several nodes. It returns the address and login of the server, and the
// path of its log, or of the log of node 1. several is nil for a single server. end stops the server
// and removes its data.
func (c *demoCommand) start(ctx context.Context, binary string) (to demoTarget, log string, several *nodesDemo, end func() error, err error) {
	if c.Nodes > 1 {
		if several, err = startNodes(ctx, binary, c.address(), c.Nodes); err != nil {
			return to, "", nil, nil, err
		}
		first := several.cluster.Processes[0]
		to = demoTarget{URL: several.balancer.URL(), AdminID: first.AdminID, AdminPW: first.AdminPW}
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
	to = demoTarget{URL: process.URL(), AdminID: process.AdminID, AdminPW: process.AdminPW}
	return to, filepath.Join(process.Dir, "server.log"), nil, func() error { return errors.Join(process.Stop(), process.Remove()) }, nil
}

// address returns the listening address of the demo's server: --listen, or the default address if
// it is free, or "" for any free port.
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

// password returns a password that is easy to type.
func password() string { return strings.ToLower(rand.Text()[:12]) }

// interrupted returns nil if ctx has ended, and err otherwise. An interrupt by the user is no
// error.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
