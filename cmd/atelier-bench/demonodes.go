//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier/bench/nodes"
	"atelier/bench/server"
)

// nodesDemo is a demo on several nodes. The user can kill each node and start it again.
type nodesDemo struct {
	cluster  *nodes.Cluster
	balancer *nodes.Balancer
	out      io.Writer
	screen   bool // the table is redrawn in place

	// Used only by the goroutine of run.
	states  []string
	changed chan change
	drawn   int // number of lines on the terminal that the next table replaces
	last    string
}

// change is the new state of a node.
type change struct {
	node  int
	state string
}

const (
	nodeUp, nodeKilled, nodeStarting = "up", "killed", "starting"
	lookEvery                        = time.Second
)

func startNodes(ctx context.Context, binary, listen string, count int) (d *nodesDemo, err error) {
	d = &nodesDemo{out: os.Stdout, screen: isTerminal(os.Stdout), changed: make(chan change, count)}
	fmt.Fprintf(d.out, "\n  Starting PostgreSQL and %d nodes …\n", count)
	if d.cluster, err = nodes.Start(ctx, &nodes.Config{Binary: binary, Count: count}); err != nil {
		return nil, err
	}
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	if d.balancer, err = nodes.Balance(listen, count); err != nil {
		return nil, errors.Join(err, d.endNodes())
	}
	for i, p := range d.cluster.Processes {
		d.put(i, p)
		d.states = append(d.states, nodeUp)
	}
	return d, nil
}

func (d *nodesDemo) endNodes() error {
	err := d.cluster.Stop()
	_, left := d.cluster.Remove(false)
	return errors.Join(err, left)
}

func (d *nodesDemo) put(i int, p *server.Process) {
	d.balancer.Put(i, strings.TrimPrefix(p.URL(), "http://"), p.InternalURL())
}

func (d *nodesDemo) close() error {
	d.balancer.Close()
	return d.endNodes()
}

// run shows the nodes until ctx ends. A line with the number of a node kills that node, or starts
// it again.
func (d *nodesDemo) run(ctx context.Context, in io.Reader) {
	lines := make(chan string)
	go func() {
		for s := bufio.NewScanner(in); s.Scan(); {
			select {
			case lines <- s.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		d.draw()
		select {
		case <-ctx.Done():
			for slices.Contains(d.states, nodeStarting) { // wait for starts in progress
				c := <-d.changed
				d.states[c.node] = c.state
			}
			return
		case <-tick.C:
		case c := <-d.changed:
			d.states[c.node] = c.state
		case line := <-lines:
			d.drawn++ // the typed text is on the screen
			if n, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && n >= 1 && n <= len(d.states) {
				d.turn(ctx, n-1)
			}
		}
	}
}

// turn kills a node, or starts it again.
func (d *nodesDemo) turn(ctx context.Context, i int) {
	p := d.cluster.Processes[i]
	switch d.states[i] {
	case nodeUp:
		d.balancer.Remove(i)
		p.Kill()
		d.states[i] = nodeKilled
	case nodeKilled:
		d.states[i] = nodeStarting
		go func() {
			state := nodeUp
			if err := p.Start(ctx); err != nil {
				p.Kill()
				state = nodeKilled
			} else {
				d.put(i, p)
			}
			d.changed <- change{i, state}
		}()
	}
}

// draw shows the nodes. On a terminal it redraws the table in place. Otherwise it prints the table
// only if the state of a node has changed.
func (d *nodesDemo) draw() {
	var table, states strings.Builder
	fmt.Fprintf(&table, "  %-6s%-12s%s\n", "NODE", "STATE", "CONNECTIONS")
	for i, state := range d.states {
		ready, open := d.balancer.State(i)
		if state == nodeUp && !ready {
			state = "not ready"
		}
		fmt.Fprintf(&table, "  %-6d%-12s%d\n", i+1, state, open)
		states.WriteString(state + " ")
	}
	fmt.Fprintf(&table, "\n  A number and Enter kills that node, as a power cut does, or starts it again: ")
	switch {
	case d.screen:
		if d.drawn > 0 {
			fmt.Fprintf(d.out, "\x1b[%dA\r\x1b[J", d.drawn)
		}
		fmt.Fprint(d.out, table.String())
		d.drawn = strings.Count(table.String(), "\n")
	case states.String() != d.last:
		fmt.Fprintln(d.out, table.String())
		d.last = states.String()
	}
}
