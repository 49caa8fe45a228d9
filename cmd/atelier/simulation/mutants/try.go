package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// hang is the timeout of a seed. On an idle machine a seed takes a tenth of a second.
const hang = 10 * time.Second

// A test that hangs with a mutant has found the mutant, so its timeout is short. Without a mutant a
// test can be slow on a busy machine.
const (
	mutatedTimeout  = "-test.timeout=25s"
	originalTimeout = "-test.timeout=2m"
)

// crashed is the oracle of a process that crashed or hung.
const crashed = "crash"

// seeds runs a range of seeds until one fails. It returns this seed, or 0 if all pass.
func (x *mutated) seeds(first, last uint64) (finding, error) {
	began := time.Now()
	cmd := exec.Command(x.binary, "-test.run=^TestSimulation$", "-test.timeout=0", "-worker", //nolint:gosec // built here
		fmt.Sprint("-first=", first), fmt.Sprint("-seeds=", last-first+1), "-every=1", "-plan=")
	cmd.Env = x.environment("GOMAXPROCS=1")
	cmd.Dir = filepath.Dir(x.binary)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return finding{}, err
	}
	cmd.Stderr = io.Discard
	if err := cmd.Start(); err != nil {
		return finding{}, err
	}
	watchdog := time.AfterFunc(hang, func() { _ = cmd.Process.Kill() })
	defer watchdog.Stop()
	var at uint64
	var f finding
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() && f.seed == 0 {
		var r struct {
			Seed    uint64
			Finding string
		}
		if json.Unmarshal(lines.Bytes(), &r) != nil || r.Seed == 0 {
			continue
		}
		watchdog.Reset(hang)
		if at = r.Seed; r.Finding != "" {
			f.seed = at
			f.oracle, _, _ = strings.Cut(r.Finding, ":")
		}
	}
	if f.seed > 0 {
		_ = cmd.Process.Kill() // its output is sufficient
		_ = cmd.Wait()
	} else if err := cmd.Wait(); err != nil {
		if at == 0 {
			return finding{}, fmt.Errorf("%s: the simulator does not run: %w", x.name, err)
		}
		f.seed, f.oracle = at, crashed
	}
	f.seconds = time.Since(began).Seconds()
	return f, nil
}

// tries is the number of times that a seed runs to determine whether it finds a mutant.
const tries = 5

// fails runs a seed up to the given number of times, until it fails. It returns the failure, or the
// zero finding if the seed always passes.
func (x *mutated) fails(seed uint64, times int) (f finding, err error) {
	began := time.Now()
	for range times {
		if f, err = x.seeds(seed, seed); err != nil || f.seed > 0 {
			break
		}
	}
	f.seconds = time.Since(began).Seconds()
	return f, err
}

// test runs a package test, and reports whether it fails.
func (x *mutated) test(t packageTest) (f finding, failed bool, err error) {
	began := time.Now()
	timeout := originalTimeout
	if x.name != originalName {
		timeout = mutatedTimeout
	}
	var cmd *exec.Cmd
	if x.shared != nil {
		binary, err := x.shared.testOf(t.pkg)
		if err != nil {
			return f, false, err
		}
		cmd = exec.Command(binary, "-test.count=1", "-test.v", timeout, "-test.run="+t.run) //nolint:gosec // built here
		cmd.Dir = filepath.Join(x.root, t.pkg)
	} else {
		cmd = exec.Command("go", "test", "-count=1", "-vet=off", timeout, "-v", "-run", t.run, "-overlay="+x.overlay, t.pkg) //nolint:gosec // the test comes from mutants.txt
		cmd.Dir = x.root
	}
	cmd.Env = x.environment("RAPID_NOFAILFILE=true") // otherwise it would leave a file in the tree
	out, err := cmd.CombinedOutput()
	f = finding{test: t, seconds: time.Since(began).Seconds()}
	var exit *exec.ExitError
	switch {
	case err == nil && !bytes.Contains(out, []byte("--- PASS")):
		return f, false, fmt.Errorf("%s: go test %s ran nothing:\n%s", x.name, t, bytes.TrimSpace(out))
	case err == nil:
		return f, false, nil
	case !errors.As(err, &exit) || bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")):
		return f, false, fmt.Errorf("%s: go test %s: %w\n%s", x.name, t, err, bytes.TrimSpace(out))
	}
	return f, true, nil
}
