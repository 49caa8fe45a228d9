//go:build linux

package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"

	"atelier/bench/server"
	"atelier/bench/workshop"
)

// target finds or starts the server. The function it returns ends a server of
// the run's own.
func (w *workshopCommand) target(ctx context.Context) (*workshop.Target, func() error, error) {
	if !w.Spawn {
		if err := w.askReadiness(ctx); err != nil {
			return nil, nil, err
		}
		return &workshop.Target{URL: w.URL, AdminID: w.AdminID, AdminPW: w.AdminPW}, func() error { return nil }, nil
	}
	binary, err := w.binary()
	if err != nil {
		return nil, nil, err
	}
	process, err := server.New(binary)
	if err != nil {
		return nil, nil, err
	}
	done := func() error {
		err := process.Stop()
		if w.Keep || err != nil {
			fmt.Fprintln(os.Stderr, "data and log are kept in", process.Dir)
			return err
		}
		return process.Remove()
	}
	if err := process.Start(ctx); err != nil {
		process.Kill()
		return nil, nil, err
	}
	return &workshop.Target{URL: process.URL(), AdminID: process.AdminID, AdminPW: process.AdminPW, Process: process}, done, nil
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

// askReadiness fails when a server that is not ours says it is not ready.
func (w *workshopCommand) askReadiness(ctx context.Context) error {
	if w.InternalURL == "" {
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(w.InternalURL, "/")+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("ask for readiness: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask for readiness: %w", err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("server is not ready: status %d", resp.StatusCode)
	}
	return nil
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
