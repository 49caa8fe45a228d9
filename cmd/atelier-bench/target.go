//go:build linux

package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"golang.org/x/sys/unix"

	"atelier/bench/server"
	"atelier/bench/workshop"
)

// target finds or starts the server. The function it returns ends a server of
// the run's own, and keeps its data if that is asked for.
func (w *workshopCommand) target(ctx context.Context) (*workshop.Target, func(keep bool) error, error) {
	if !w.Spawn {
		t := &workshop.Target{URL: w.URL, AdminID: w.AdminID, AdminPW: w.AdminPW}
		if w.InternalURL != "" {
			remote := &server.Remote{URL: w.InternalURL}
			if err := remote.Ready(ctx); err != nil {
				return nil, nil, err
			}
			t.Usage = remote.Usage
		}
		return t, func(bool) error { return nil }, nil
	}
	binary, err := w.binary()
	if err != nil {
		return nil, nil, err
	}
	process, err := server.New(binary)
	if err != nil {
		return nil, nil, err
	}
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
	return &workshop.Target{
		URL: process.URL(), AdminID: process.AdminID, AdminPW: process.AdminPW, Process: process, Usage: process.Usage,
	}, done, nil
}

// binary is the server's executable.
func (w *workshopCommand) binary() (string, error) {
	if w.Server != "" {
		return w.Server, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the server binary: %w", err)
	}
	return filepath.Join(filepath.Dir(self), "atelier"), nil
}

// versions says what was built from what.
func (w *workshopCommand) versions() map[string]string {
	v := map[string]string{"go": runtime.Version(), "os": "linux/" + runtime.GOARCH, "cpus": fmt.Sprint(runtime.NumCPU())}
	if info, ok := debug.ReadBuildInfo(); ok {
		v["bench"] = revision(info)
	}
	if binary, err := w.binary(); err == nil && w.Spawn {
		if info, err := buildinfo.ReadFile(binary); err == nil {
			v["server"] = revision(info)
		}
	}
	return v
}

func revision(info *debug.BuildInfo) string {
	name, dirty := info.Main.Version, ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			name = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = " with changes"
		}
	}
	return name + dirty
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
