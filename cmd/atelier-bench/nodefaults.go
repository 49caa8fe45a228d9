//go:build linux

package main

import (
	"errors"
	"fmt"
	"time"

	"atelier/bench/faults"
	"atelier/bench/nodes"
)

// nodeFaultFlags are faults of several nodes, each with its own interval.
type nodeFaultFlags struct {
	KillNode  time.Duration `placeholder:"DURATION" group:"Faults" help:"Kill a node with SIGKILL at this interval and start it again, with --nodes."`
	PauseNode time.Duration `placeholder:"DURATION" group:"Faults" help:"Pause a node with SIGSTOP at this interval, for --pause-for."`
	PauseFor  time.Duration `default:"10s" group:"Faults" help:"Duration of a pause."`
	Cut       []string      `placeholder:"A-B" sep:"none" group:"Faults" help:"Drop the traffic between nodes, such as 1-2, 2-db (the database), 1-others or 1-all. Repeatable; the cuts occur in turn."`
	CutEvery  time.Duration `default:"20s" group:"Faults" help:"Time between two cuts."`
	CutFor    time.Duration `default:"10s" group:"Faults" help:"Duration of a cut."`
	CutWay    string        `default:"both" enum:"both,to,from" group:"Faults" help:"Direction of a cut: both, to (from A to B) or from (from B to A)."`
	RestartDB time.Duration `name:"restart-db" placeholder:"DURATION" group:"Faults" help:"Restart the database at this interval, alternating between an orderly and an immediate stop."`
	Roll      bool          `group:"Faults" help:"Restart all nodes one after the other (SIGTERM), once, after a third of the time."`
}

func (f *nodeFaultFlags) check(count int) error {
	problems := []error{
		atLeast("kill-node", f.KillNode, 0), atLeast("pause-node", f.PauseNode, 0), atLeast("pause-for", f.PauseFor, time.Millisecond),
		atLeast("cut-every", f.CutEvery, time.Second), atLeast("cut-for", f.CutFor, time.Millisecond), atLeast("restart-db", f.RestartDB, 0),
	}
	if count == 0 && (f.KillNode+f.PauseNode+f.RestartDB > 0 || f.Roll || len(f.Cut) > 0) {
		return errors.Join(append(problems, errors.New("--kill-node, --pause-node, --cut, --restart-db and --roll need --spawn --nodes"))...)
	}
	for _, ends := range f.Cut {
		if _, _, err := nodes.ParseCut(ends, count); err != nil {
			problems = append(problems, fmt.Errorf("--cut: %w", err))
		}
	}
	return errors.Join(problems...)
}

// plan returns all faults within a duration. The first kill and the first pause affect node 1. The
// run creates everything through this node, so node 1 probably owns the objects of the load.
func (f *nodeFaultFlags) plan(count int, duration time.Duration) []faults.Planned {
	if count == 0 {
		return nil
	}
	var cuts []faults.Fault
	for _, ends := range f.Cut {
		cuts = append(cuts, faults.Fault{Kind: faults.Cut, Ends: ends, Way: f.CutWay})
	}
	var roll []faults.Planned
	if f.Roll {
		roll = []faults.Planned{{At: duration / 3, Fault: faults.Fault{Kind: faults.Roll}}}
	}
	kills := faults.Every(f.KillNode, duration, faults.Fault{Kind: faults.Kill})
	pauses := faults.Every(f.PauseNode, duration, faults.Fault{Kind: faults.Pause})
	for _, first := range [][]faults.Planned{kills, pauses} {
		if len(first) > 0 {
			first[0].Fault.Node = 1
		}
	}
	return faults.Merge(kills, pauses, roll, faults.Every(f.CutEvery, duration, cuts...), faults.Every(f.RestartDB, duration, faults.Fault{Kind: faults.RestartDB}))
}
