//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"atelier/bench/api"
	"atelier/bench/server"
	"atelier/bench/tunnel"
)

// serverFlags say which server to test.
type serverFlags struct {
	URL      string `xor:"server" required:"" group:"Server" help:"Server to test, http://host:port or https://host:port."`
	Spawn    bool   `xor:"server" required:"" group:"Server" help:"Start a server on a temporary data folder and free ports."`
	Server   string `type:"path" placeholder:"PATH" group:"Server" help:"Binary for --spawn; the default is atelier beside this one."`
	CA       string `name:"ca" type:"existingfile" placeholder:"FILE" group:"Server" help:"Certificates (PEM) of authorities to trust, for https."`
	Insecure bool   `group:"Server" help:"Trust any certificate, for https."`
	Keep     bool   `group:"Server" help:"Keep the data folder and the log of a spawned server also when the run passes."`

	AdminID     string `env:"ADMIN_ID" default:"admin" group:"Server" help:"Admin to log in as, with --url."`
	AdminPW     string `env:"ADMIN_PW" group:"Server" help:"The admin's password, with --url."`
	InternalURL string `placeholder:"URL" group:"Server" help:"Internal listener of the server, with --url: asked for readiness and for memory and processor time."`
}

func (w *serverFlags) check() error {
	if w.URL != "" && w.AdminPW == "" {
		return errors.New("--url needs --admin-pw, or ADMIN_PW in the environment")
	}
	if w.URL == "" {
		if w.CA != "" || w.Insecure {
			return errors.New("--ca and --insecure are for an https --url")
		}
		return nil
	}
	u, err := url.Parse(w.URL)
	if err == nil {
		_, err = api.Address(u)
	}
	if err == nil && u.Scheme != "https" && (w.CA != "" || w.Insecure) {
		err = errors.New("--ca and --insecure are for an https --url")
	}
	return err
}

// atLeast refuses numbers that no run can have.
func atLeast[N int | int64 | float64 | time.Duration](flag string, n, least N) error {
	if n < least {
		return fmt.Errorf("--%s is %v, want %v or more", flag, n, least)
	}
	return nil
}

// bench is what a scenario gets: the server, and where to show how it goes.
type bench struct {
	*server.Target
	screen *screen
}

// target finds or starts the server. The function it returns ends a server of
// the run's own, and keeps its data if that is asked for.
func (w *serverFlags) target(ctx context.Context, env []string) (*server.Target, func(keep bool) error, error) {
	if !w.Spawn {
		t := &server.Target{URL: w.URL, AdminID: w.AdminID, AdminPW: w.AdminPW}
		if w.InternalURL != "" {
			remote := &server.Remote{URL: w.InternalURL}
			if err := remote.Ready(ctx); err != nil {
				return nil, nil, err
			}
			t.Usage, t.Inside = remote.Usage, remote.Inside
		}
		u, err := url.Parse(w.URL)
		if err != nil || u.Scheme != "https" {
			return t, func(bool) error { return nil }, err
		}
		address, err := api.Address(u)
		if err != nil {
			return nil, nil, err
		}
		passage, err := tunnel.Open(address, tunnel.Trust{CAFile: w.CA, Insecure: w.Insecure})
		if err != nil {
			return nil, nil, err
		}
		t.Via = passage.Address()
		return t, func(bool) error { passage.Close(); return nil }, nil
	}
	binary, err := w.binary()
	if err != nil {
		return nil, nil, err
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
	return &server.Target{
		URL: process.URL(), AdminID: process.AdminID, AdminPW: process.AdminPW, Process: process, Usage: process.Usage,
		// The address of its metrics is another after each start.
		Inside: func() (server.Inside, error) { return (&server.Remote{URL: process.InternalURL()}).Inside() },
	}, done, nil
}

// binary is the server's executable.
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

// raiseFileLimit allows as many open files as the system does: each person is
// one here, and in a spawned server, which inherits the limit.
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
