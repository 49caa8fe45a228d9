//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"atelier/bench/api"
	"atelier/bench/nodes"
	"atelier/bench/server"
)

// serverFlags select the server to test.
type serverFlags struct {
	URL      []string `sep:"none" placeholder:"URL" group:"Server" help:"Server to test, http://host:port or https://host:port; or use --spawn. Repeatable; clients are spread over all servers."`
	Spawn    bool     `group:"Server" help:"Start a server on a temporary data folder and free ports; or use --url."`
	Server   string   `type:"path" placeholder:"PATH" group:"Server" help:"Server binary for --spawn; the default is atelier in the folder of this program."`
	Nodes    int      `placeholder:"N" group:"Server" help:"Number of servers on one PostgreSQL, with --spawn."`
	Postgres string   `placeholder:"URL" group:"Server" help:"Address of a running PostgreSQL to create the database of --nodes in; the default is a temporary one."`
	CA       string   `name:"ca" type:"existingfile" placeholder:"FILE" group:"Server" help:"CA certificates (PEM) to trust, for https."`
	Insecure bool     `group:"Server" help:"Trust any certificate, for https."`
	Keep     bool     `group:"Server" help:"Keep the data folder and the log of a spawned server even if the run passes."`

	AdminID     string   `env:"ADMIN_ID" default:"admin" group:"Server" help:"Admin to log in as, with --url."`
	AdminPW     string   `env:"ADMIN_PW" group:"Server" help:"The admin's password, with --url."`
	InternalURL []string `sep:"none" placeholder:"URL" group:"Server" help:"Internal listener of the server, with --url, for readiness, memory and processor time. One per --url, in the same order."`
}

// server returns the address of the first server, or "" for a spawned server.
func (w *serverFlags) server() string {
	if len(w.URL) == 0 {
		return ""
	}
	return w.URL[0]
}

func (w *serverFlags) check() error {
	if err := w.one(); err != nil {
		return err // further checks depend on which of the two is used
	}
	var problems []error
	bad := func(wrong bool, text string) {
		if wrong {
			problems = append(problems, errors.New(text))
		}
	}
	bad(len(w.URL) > 0 && w.AdminPW == "", "--url needs --admin-pw, or ADMIN_PW in the environment")
	bad(!w.Spawn && w.Nodes > 0, "--nodes needs --spawn")
	bad(w.Nodes == 0 && w.Postgres != "", "--postgres needs --nodes")
	bad(w.Nodes < 0 || w.Nodes > nodes.Most, fmt.Sprintf("--nodes: want 1 to %d", nodes.Most))
	bad(len(w.InternalURL) > 0 && len(w.InternalURL) != len(w.URL), "--internal-url: want as many as --url")
	if w.Postgres != "" {
		problems = append(problems, nodes.CheckDatabase(w.Postgres))
	}
	secure := false
	for _, text := range w.URL {
		u, err := api.ParseURL(text)
		if err == nil {
			_, err = api.Address(u)
			secure = secure || u.Scheme == "https"
		}
		problems = append(problems, err)
	}
	bad(!secure && (w.CA != "" || w.Insecure), "--ca and --insecure are for an https --url")
	return errors.Join(problems...)
}

// one checks that exactly one of --url and --spawn is given.
func (w *serverFlags) one() error {
	switch {
	case w.Spawn && len(w.URL) > 0:
		return errors.New("--url and --spawn exclude each other: --url is for a running server, --spawn starts one")
	case !w.Spawn && len(w.URL) == 0:
		return errors.New("no server is given: use --url for a running server, or --spawn to start one")
	}
	return nil
}

// singleServer refuses several servers for a scenario that measures only one.
func (w *serverFlags) singleServer(scenario string) error {
	if w.Nodes > 0 || len(w.URL) > 1 {
		return fmt.Errorf("%s measures only one server: use one --url, without --nodes", scenario)
	}
	return nil
}

// atLeast returns an error if n, the value of a flag, is less than least.
func atLeast[N int | int64 | float64 | time.Duration](flag string, n, least N) error {
	if n < least {
		return fmt.Errorf("--%s is %v, want %v or more", flag, n, least)
	}
	return nil
}

// bench is passed to a scenario: the server, and the screen for its progress.
type bench struct {
	*server.Target
	screen *screen
}

// target finds or starts the servers. The returned function stops the servers that the run has
// started. It removes their data, unless keep is true or a stop failed. For running servers, it only
// closes the tunnels to them.
func (w *serverFlags) target(ctx context.Context, env []string) (*server.Target, func(keep bool) error, error) {
	if !w.Spawn {
		return w.running(ctx)
	}
	binary, err := w.binary()
	if err != nil {
		return nil, nil, err
	}
	env = understood(ctx, binary, env)
	if w.Nodes > 0 {
		return w.cluster(ctx, binary, env)
	}
	process, err := server.New(binary)
	if err != nil {
		return nil, nil, err
	}
	process.Env = env
	done := func(keep bool) error {
		err := process.Stop()
		if keep || err != nil {
			fmt.Fprintln(os.Stderr, "data and log of the server are kept in", process.Dir)
			return err
		}
		return process.Remove()
	}
	if err := process.Start(ctx); err != nil {
		process.Kill()
		return nil, nil, errors.Join(err, process.Remove())
	}
	n := spawned("", process)
	return &server.Target{
		URL: n.URL, AdminID: process.AdminID, AdminPW: process.AdminPW, Process: process, Usage: n.Usage, Inside: n.Inside,
	}, done, nil
}

// understood returns env without the settings that the server binary does not recognize. An older
// server would not start with them, and does not have the limits that these settings raise.
func understood(ctx context.Context, binary string, env []string) []string {
	check := exec.CommandContext(ctx, binary, "checkconfig")
	check.Env = slices.Concat(os.Environ(), env)
	out, _ := check.CombinedOutput() // any other problem is reported when the server starts
	lines := strings.Split(string(out), "\n")
	return slices.DeleteFunc(slices.Clone(env), func(setting string) bool {
		name, _, _ := strings.Cut(setting, "=")
		return slices.ContainsFunc(lines, func(line string) bool { return strings.HasSuffix(line, "unknown key "+name) })
	})
}

// spawned returns the node for a server that the run has started.
func spawned(name string, p *server.Process) server.Node {
	return server.Node{
		Name: name, URL: p.URL(), Process: p, Usage: p.Usage,
		// The address of the server's metrics changes with each start.
		Inside: func() (server.Inside, error) {
			return (&server.Remote{URL: p.InternalURL(), Within: lookWithin}).Inside()
		},
	}
}

// lookWithin is the timeout of a measurement of a server, so that a paused server does not delay
// the measurements of the others.
const lookWithin = 800 * time.Millisecond

// cluster starts several servers on one database.
func (w *serverFlags) cluster(ctx context.Context, binary string, env []string) (*server.Target, func(keep bool) error, error) {
	c, err := nodes.Start(ctx, &nodes.Config{Binary: binary, Count: w.Nodes, Postgres: w.Postgres, Env: env})
	if err != nil {
		return nil, nil, err
	}
	var all []server.Node
	for i, p := range c.Processes {
		all = append(all, spawned(nodes.Name(i+1), p))
	}
	t := server.Join(all)
	t.AdminID, t.AdminPW, t.Network = c.Processes[0].AdminID, c.Processes[0].AdminPW, c.Network
	if c.Database.Own() {
		t.Database = c.Database
	}
	return t, func(keep bool) error {
		err := c.Stop()
		kept, failed := c.Remove(keep || err != nil)
		for _, dir := range kept {
			fmt.Fprintln(os.Stderr, "kept:", dir)
		}
		return errors.Join(err, failed)
	}, nil
}

// running finds servers that are already running.
func (w *serverFlags) running(ctx context.Context) (*server.Target, func(bool) error, error) {
	var passages []*server.Tunnel
	done := func(bool) error {
		for _, p := range passages {
			p.Close()
		}
		return nil
	}
	var all []server.Node
	for i, text := range w.URL {
		n, passage, err := w.node(ctx, i, text)
		if passage != nil {
			passages = append(passages, passage)
		}
		if err != nil {
			return nil, nil, errors.Join(err, done(false))
		}
		all = append(all, n)
	}
	t := server.Join(all)
	if len(all) == 1 {
		t.Several = nil
	}
	t.AdminID, t.AdminPW = w.AdminID, w.AdminPW
	return t, done, nil
}

func (w *serverFlags) node(ctx context.Context, i int, text string) (n server.Node, passage *server.Tunnel, err error) {
	n = server.Node{Name: nodes.Name(i + 1), URL: text}
	if len(w.InternalURL) > 0 {
		remote := &server.Remote{URL: w.InternalURL[i], Within: lookWithin}
		if err := remote.Ready(ctx); err != nil {
			return n, nil, err
		}
		n.Usage, n.Inside = remote.Usage, remote.Inside
	}
	u, err := api.ParseURL(text)
	if err != nil || u.Scheme != "https" {
		return n, nil, err
	}
	address, err := api.Address(u)
	if err != nil {
		return n, nil, err
	}
	if passage, err = server.OpenTunnel(address, server.Trust{CAFile: w.CA, Insecure: w.Insecure}); err == nil {
		n.Via = passage.Address()
	}
	return n, passage, err
}

// binary returns the path of the server's executable.
func (w *serverFlags) binary() (string, error) {
	if w.Server != "" {
		return w.Server, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the server binary: %w", err)
	}
	return filepath.Join(filepath.Dir(self), "atelier"), nil
}

// raiseFileLimit raises the limit of open files to the system's maximum. Each simulated person
// needs one open file here, and one in a spawned server, which inherits the limit.
func raiseFileLimit() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read file limit: %w", err)
	}
	limit.Cur = limit.Max
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("raise file limit: %w", err)
	}
	return nil
}
