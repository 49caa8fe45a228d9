//go:build linux

package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"atelier/bench/nodes"
	"atelier/bench/pacing"
	"atelier/bench/server"
)

// Inflictor injects faults into the servers of a run. It is not safe for concurrent use.
type Inflictor struct {
	Target *server.Target
	// Pause and Cut are the durations of these faults.
	Pause, Cut time.Duration
	// Upgrade is the path of the program with which the next Upgrade fault restarts the nodes; ""
	// means the current program. Each upgrade exchanges the two programs.
	Upgrade string
	// Rng chooses the node of a fault that names no node.
	Rng *rand.Rand

	restarts int // number of restarts of the database until now
}

// Choose returns a fault with its node. For a kill, a pause or a restart that names no node, it
// chooses one at random.
func (i *Inflictor) Choose(f Fault) Fault {
	switch f.Kind {
	case Kill, Pause, Restart:
		if n := len(i.Target.Nodes()); f.Node == 0 && n > 1 {
			f.Node = 1 + i.Rng.IntN(n)
		}
	}
	return f
}

// Harmed returns the nodes that a fault affects, counted from 0. Of a cut A-B, it returns only A.
// It returns none if the cut is not valid.
func (i *Inflictor) Harmed(f Fault) []int {
	switch f.Kind {
	case Kill, Pause, Restart:
		return []int{max(f.Node, 1) - 1}
	case Cut:
		n, _, err := nodes.ParseCut(f.Ends, len(i.Target.Nodes()))
		if err != nil {
			return nil
		}
		return []int{n - 1}
	}
	var all []int
	for n := range i.Target.Nodes() {
		all = append(all, n)
	}
	return all
}

// Do injects a fault, and returns after the repair: all servers run again, and cuts are healed. On
// an error, the repair can be incomplete.
func (i *Inflictor) Do(ctx context.Context, f Fault) error {
	all := i.Target.Nodes()
	p := all[max(f.Node, 1)-1].Process
	switch f.Kind {
	case Pause:
		if err := p.Pause(); err != nil {
			return err
		}
		pacing.Sleep(ctx, i.Pause)
		return p.Continue()
	case Restart:
		return restart(ctx, p, p.Binary)
	case Kill:
		p.Kill()
		return p.Start(ctx)
	case Roll:
		return roll(ctx, all, p.Binary)
	case Upgrade:
		other := cmp.Or(i.Upgrade, p.Binary)
		i.Upgrade = p.Binary
		return roll(ctx, all, other)
	case KillAll:
		return killAll(ctx, all)
	case Cut:
		heal, err := i.Target.Network.Cut(f.Ends, f.Way)
		if err != nil {
			return err
		}
		pacing.Sleep(ctx, i.Cut)
		return heal()
	case RestartDB:
		i.restarts++
		return i.Target.Database.Restart(ctx, i.restarts%2 == 0)
	}
	return fmt.Errorf("unknown fault %q", f.Kind)
}

// Check returns an error if a plan is impossible with these servers.
func (i *Inflictor) Check(plan []Planned) error {
	for _, planned := range plan {
		switch f := planned.Fault; {
		case f.Kind == Cut && i.Target.Network == nil:
			return errors.New("cut needs a network that the run creates: use --spawn --nodes")
		case f.Kind == RestartDB && i.Target.Database == nil:
			return errors.New("restart-db needs a database that the run creates: use --spawn --nodes without --postgres")
		case i.Target.Nodes()[0].Process == nil:
			return errors.New("faults need servers that the run starts: use --spawn")
		}
	}
	return nil
}

// roll restarts all nodes with a program, one after another.
func roll(ctx context.Context, all []server.Node, binary string) error {
	for _, n := range all {
		if err := restart(ctx, n.Process, binary); err != nil {
			return fmt.Errorf("node %s: %w", n.Name, err)
		}
	}
	return nil
}

func restart(ctx context.Context, p *server.Process, binary string) error {
	if err := p.Stop(); err != nil {
		return err
	}
	p.Binary = binary
	return p.Start(ctx)
}

// killAll kills all nodes, and then starts them concurrently.
func killAll(ctx context.Context, all []server.Node) error {
	for _, n := range all {
		n.Process.Kill()
	}
	problems := make([]error, len(all))
	var starting sync.WaitGroup
	for n := range all {
		starting.Go(func() { problems[n] = all[n].Process.Start(ctx) })
	}
	starting.Wait()
	return errors.Join(problems...)
}
