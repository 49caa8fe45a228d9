package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/nodes"
	"atelier/cmd/atelier/service"
	"atelier/transport/control"
)

// clusterCmd manages the nodes of a cluster and the placement of codelabs.
type clusterCmd struct {
	Status  clusterStatusCmd  `cmd:"" help:"Show all nodes and the state of this one; exit code 1 if there is a problem, for example a dead or unreachable node."`
	Drain   clusterDrainCmd   `cmd:"" help:"Drain a node: it transfers its codelabs and clients to the others and takes no more, even after a restart. Waits until it is drained."`
	Undrain clusterUndrainCmd `cmd:"" help:"Let a drained node serve again."`
	Move    clusterMoveCmd    `cmd:"" help:"Move a codelab to a node, where it stays for at least ten minutes."`
	Forget  clusterForgetCmd  `cmd:"" help:"Remove a dead node from the list."`
	Rekey   clusterRekeyCmd   `cmd:"" help:"Seal the shared keys in the database under a new cluster.secret from standard input. Only while all nodes are stopped."`
}

type clusterDrainCmd struct {
	common
	Node string `arg:"" help:"Name of the node."`
}

// drainTime is the maximum time that a command waits until a node has released everything.
const drainTime = 2 * time.Minute

// Run drains a node.
func (c clusterDrainCmd) Run() error {
	return c.ask(func(client *control.Client) error {
		if err := client.Place(control.Placing{Do: "drain", Node: c.Node}); err != nil {
			return err
		}
		for until := time.Now().Add(drainTime); ; time.Sleep(time.Second / 2) {
			var st nodes.Status
			if err := client.Cluster(&st); err != nil {
				return err
			}
			i := slices.IndexFunc(st.Nodes, func(n nodes.NodeStatus) bool { return n.Node == c.Node })
			switch {
			case i < 0 || !st.Nodes[i].Alive:
				fmt.Printf("%s is not running; when it starts, it takes nothing\n", c.Node)
				return nil
			case st.Nodes[i].Owns == 0:
				fmt.Printf("%s owns nothing any more, and takes nothing until you run: atelier cluster undrain %s\n", c.Node, c.Node)
				return nil
			case time.Now().After(until):
				return fmt.Errorf("%s still owns %d actors; look at atelier cluster status", c.Node, st.Nodes[i].Owns)
			}
		}
	})
}

type clusterUndrainCmd struct {
	common
	Node string `arg:"" help:"Name of the node."`
}

// Run reverts a drain.
func (c clusterUndrainCmd) Run() error {
	return c.place(control.Placing{Do: "undrain", Node: c.Node})
}

type clusterMoveCmd struct {
	common
	Codelab string `arg:"" help:"Id of the codelab."`
	Node    string `arg:"" help:"Name of the node."`
}

// Run moves a codelab to a node.
func (c clusterMoveCmd) Run() error {
	return c.place(control.Placing{Do: "move", Node: c.Node, Codelab: c.Codelab})
}

type clusterForgetCmd struct {
	common
	Node string `arg:"" help:"Name of the node."`
}

// Run removes a dead node from the list.
func (c clusterForgetCmd) Run() error {
	return c.place(control.Placing{Do: "forget", Node: c.Node})
}

// ask sends a request to the server on this machine, because only a node can ask the other nodes.
func (c common) ask(do func(*control.Client) error) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return either(cfg, do, func() error {
		return fmt.Errorf("no server runs on %s: run this where a node runs", cfg.Server.Data)
	})
}

func (c common) place(p control.Placing) error {
	return c.ask(func(client *control.Client) error {
		err := client.Place(p)
		if err == nil {
			fmt.Println("done")
		}
		return err
	})
}

type clusterRekeyCmd struct{ common }

// maxSecret is the maximum size of a secret on standard input, in bytes.
const maxSecret = 4 << 10

// Run seals the nodes' shared secrets under another cluster.secret. It contacts no server, and all
// nodes must be stopped. The secret is not an argument, because other users can see arguments.
func (c clusterRekeyCmd) Run() error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if !cfg.Cluster.Enabled {
		return nodes.ErrAlone
	}
	secret, err := readSecret(os.Stdin)
	if err != nil {
		return fmt.Errorf("the secret on standard input %w", err)
	}
	if err := service.Rekey(cfg, secret, newLogger(quietly(cfg.Log))); err != nil {
		return err
	}
	fmt.Println("done: give all nodes the new cluster.secret, and start them")
	return nil
}

// readSecret reads a cluster secret, without white space around it. An error continues the sentence
// of the caller.
func readSecret(r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxSecret+1))
	if err != nil {
		return "", fmt.Errorf("cannot be read: %w", err)
	}
	if len(b) > maxSecret {
		return "", fmt.Errorf("has more than %d bytes", maxSecret)
	}
	secret := strings.TrimSpace(string(b))
	return secret, config.CheckClusterSecret(secret)
}

type clusterStatusCmd struct {
	common
	JSON bool `help:"Print JSON." name:"json"`
}

// Run asks the running server or, if no server runs here, the database.
func (c clusterStatusCmd) Run() error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	st := &nodes.Status{}
	err = either(cfg, func(client *control.Client) error { return client.Cluster(st) }, func() (err error) {
		st, err = nodes.StoppedStatus(cfg)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(st)
	} else {
		err = writeClusterStatus(os.Stdout, st)
	}
	if err == nil && len(st.Problems) > 0 {
		err = errors.New("the cluster has problems")
	}
	return err
}

// writeClusterStatus writes the status in a form for people.
func writeClusterStatus(w io.Writer, st *nodes.Status) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	row := func(cells ...string) { fmt.Fprintln(t, strings.TrimRight(strings.Join(cells, "\t"), "\t ")) }
	row("  NODE", "STATE", "LEASE", "UP SINCE", "PROGRAM", "PROTOCOL", "OWNS", "LOAD", "RESPONSE TIME")
	for _, n := range st.Nodes {
		mark, state, lease, load := "  ", n.State, ago(-n.LeaseLeftSeconds), "-"
		if state == "dead" {
			state = "DEAD"
		}
		if n.Figures != nil {
			load = fmt.Sprint(n.Load)
			if n.Trouble != nil {
				state = "OUT: " + n.Trouble.Reason
			}
		}
		if n.Node == st.Node {
			mark = "* "
		}
		up := n.Since.Local().Format("2006-01-02 15:04:05")
		if n.Alive {
			lease = fmt.Sprintf("%.1f s left", n.LeaseLeftSeconds)
		}
		program := n.Program
		if program == "" {
			program = "-"
		}
		row(mark+n.Node, state, lease, up, program, fmt.Sprintf("version %d", n.Protocol), fmt.Sprint(n.Owns), load, n.Reached)
	}
	switch {
	case st.Unlisted:
		row("  (the database does not answer)")
	case len(st.Nodes) == 0:
		row("  (none has run on this database lately)")
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if st.This != nil {
		writeThisNode(w, st)
	}
	fmt.Fprintln(w)
	if len(st.Problems) == 0 {
		_, err := fmt.Fprintln(w, "All is well.")
		return err
	}
	for _, p := range st.Problems {
		fmt.Fprintln(w, "PROBLEM:", p)
	}
	return nil
}

func writeThisNode(w io.Writer, st *nodes.Status) {
	n := st.This
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "  %-10s%s\n", name, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(w, "\nNode %s\n", st.Node)
	ready, lease := "yes", "holds"
	if !n.Ready {
		ready = "NO: " + n.Why
	}
	if !n.Lease {
		lease = "LOST"
	}
	line("ready", "%s", ready)
	line("lease", "%s, lost %s since the start", lease, times(n.LeasesLost))
	m, nats := n.Messages, "embedded"
	if m.Elsewhere {
		nats = "external"
	}
	switch {
	case !m.Connected:
		nats += ", NOT CONNECTED"
	case m.Elsewhere:
		nats += ", connected"
	default:
		nats += fmt.Sprintf(", connected to %d nodes", m.Routes)
	}
	line("NATS", "%s; %d messages sent (%s), %d received, %d missed", nats, m.Sent, size(m.SentBytes), m.Received, m.Missed)
	line("copies", "the copy that is furthest behind lacks %d records; all were complete %.1f s ago; %d differed from their owners", n.BehindRecords, n.StaleSeconds, n.Divergences)
	line("commands", "%d sent to other nodes; %d actors taken over", n.Forwarded, n.Takeovers)
	line("reads", "%d confirmed by %d questions to other nodes", n.Confirmed, n.Questions)
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "  ACTORS IN MEMORY\tOWNED\tOF WHICH FOLLOWED\tCOPIES")
	for _, kind := range slices.Sorted(maps.Keys(n.Actors)) {
		a := n.Actors[kind]
		fmt.Fprintf(t, "  %s\t%d\t%d\t%d\n", kind, a.Owned, a.Shared, a.Followed)
	}
	_ = t.Flush() // if w fails, the caller's next write returns the error
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprint(n, " times")
}

// ago returns the rounded age of an event that happened the given number of seconds ago.
func ago(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.0f s ago", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%.0f min ago", d.Minutes())
	}
	return fmt.Sprintf("%.0f h ago", d.Hours())
}

func size(bytes uint64) string {
	switch {
	case bytes < 10<<10:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 10<<20:
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}
