//go:build linux

package faults

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"atelier/bench/nodes"
)

// Kind is a kind of fault.
type Kind string

// Kinds of faults.
const (
	// Kill ends a node with SIGKILL, and starts it again.
	Kill Kind = "kill"
	// Pause suspends a node for a while; connections stay open.
	Pause Kind = "pause"
	// Restart shuts a node down gracefully, as for an upgrade, and starts it again.
	Restart Kind = "restart"
	// Cut drops the messages between nodes, or to the database, for a while.
	Cut Kind = "cut"
	// RestartDB restarts the database, alternating between an orderly and an immediate stop.
	RestartDB Kind = "restart-db"
	// Roll restarts all nodes, one after another.
	Roll Kind = "roll"
	// Upgrade restarts all nodes with another version of the program, one after another. The next
	// upgrade reverts to the first version.
	Upgrade Kind = "upgrade"
	// KillAll kills all nodes simultaneously, and starts them again.
	KillAll Kind = "kill-all"
)

// Fault is one injected fault.
type Fault struct {
	Kind Kind
	// Node is the node, counted from 1, of a kill, a pause or a restart; 0 means a random node.
	Node int
	// Ends and Way describe the ends and the direction of a cut; see nodes.ParseCut and nodes.Both.
	Ends, Way string
}

// String returns the fault in the form that Parse accepts.
func (f Fault) String() string {
	switch {
	case f.Kind == Cut && f.Way != nodes.Both:
		return fmt.Sprintf("%s:%s:%s", f.Kind, f.Ends, f.Way)
	case f.Kind == Cut:
		return fmt.Sprintf("%s:%s", f.Kind, f.Ends)
	case f.Node > 0:
		return fmt.Sprintf("%s:%d", f.Kind, f.Node)
	}
	return string(f.Kind)
}

// Forms describes the forms that Parse accepts.
const Forms = "kill, pause or restart, each with :NODE or of any node; cut:A-B, cut:A-B:to, cut:A-B:from; restart-db; roll; upgrade; kill-all"

// Parse parses a fault for count nodes. A count of 0 means a single server, which has no network
// and no database.
func Parse(text string, count int) (Fault, error) {
	kind, rest, more := strings.Cut(text, ":")
	f := Fault{Kind: Kind(kind)}
	bad := fmt.Errorf("fault %q: want %s", text, Forms)
	switch f.Kind {
	case Kill, Pause, Restart:
		if !more {
			return f, nil
		}
		n, err := strconv.Atoi(rest)
		if err != nil || n < 1 || n > max(count, 1) {
			return f, bad
		}
		f.Node = n
		return f, nil
	case Cut:
		var some bool
		f.Ends, f.Way, some = strings.Cut(rest, ":")
		if !some {
			f.Way = nodes.Both
		}
		if !slices.Contains([]string{nodes.Both, nodes.To, nodes.From}, f.Way) {
			return f, bad
		}
		if _, _, err := nodes.ParseCut(f.Ends, count); err != nil {
			return f, err
		}
	case RestartDB, Roll, Upgrade, KillAll:
		if more {
			return f, bad
		}
	default:
		return f, bad
	}
	if count == 0 {
		return f, errors.New("fault " + text + " is for several nodes")
	}
	return f, nil
}
