package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	repeat := flag.Int("repeat", 1, "number of times that everything is run")
	spinners := flag.Int("spinners", 0, "number of busy loops that run at the same time")
	concurrent := flag.Bool("concurrent", false, "list the packages in which goroutines can interact")
	flag.Parse()
	if *concurrent {
		if err := listConcurrent(os.Stdout, flag.Args()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	ok, err := run(flag.Args(), *repeat, *spinners)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// run runs all groups, repeat times, and reports whether all passed.
func run(groups []string, repeat, spinners int) (bool, error) {
	if len(groups) == 0 {
		return false, errors.New("the names of suites are missing: suites [-repeat N] [-spinners N] TARGET[,TARGET] TARGET")
	}
	scratch, remove, err := inMemory()
	if err != nil {
		return false, err
	}
	defer remove()
	stop := spin(spinners)
	defer stop()
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)

	var table []*result
	began := time.Now()
	out := &lines{to: os.Stdout}
	for round := range repeat {
		for _, group := range groups {
			names := strings.Split(group, ",")
			var results []*result
			for _, name := range names {
				r := &result{target: name, name: name, seen: newSeen(out, prefix(name, len(names) > 1))}
				if repeat > 1 {
					r.name = fmt.Sprintf("%s #%d", name, round+1)
				}
				results = append(results, r)
			}
			table = append(table, results...)
			twoAtATime(results, func(r *result) { r.make(scratch) })
			select {
			case <-interrupted:
				return false, errors.New("interrupted")
			default:
			}
		}
	}
	return printTable(os.Stdout, table, time.Since(began)), nil
}

// twoAtATime calls do for each result, in order and two in parallel. It returns when all calls have
// ended.
func twoAtATime(results []*result, do func(*result)) {
	var all sync.WaitGroup
	next := make(chan *result)
	for range 2 {
		all.Go(func() {
			for r := range next {
				do(r)
			}
		})
	}
	for _, r := range results {
		next <- r
	}
	close(next)
	all.Wait()
}

func prefix(name string, several bool) string {
	if several {
		return name + ": "
	}
	return ""
}

// result is the result of one suite.
type result struct {
	target, name string
	*seen
	took   time.Duration
	failed error // error of the target
}

// make runs the suite's target of the Makefile.
func (r *result) make(scratch string) {
	began := time.Now()
	defer func() { r.took = time.Since(began) }()
	cmd := exec.Command("make", "--no-print-directory", r.target, "REPORT=1")
	cmd.Env = os.Environ()
	if scratch != "" {
		// The compiler's temporary files can be too large for memory, so they are on the disk. If
		// suites run within suites, os.TempDir is in memory.
		if os.Getenv("GOTMPDIR") == "" {
			cmd.Env = append(cmd.Env, "GOTMPDIR="+os.TempDir())
		}
		cmd.Env = append(cmd.Env, "TMPDIR="+scratch)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		r.failed = err
		return
	}
	cmd.Stderr = cmd.Stdout
	if r.failed = cmd.Start(); r.failed != nil {
		return
	}
	text := bufio.NewReaderSize(pipe, 1<<20)
	for {
		line, err := text.ReadString('\n')
		if line != "" {
			r.line(strings.TrimSuffix(line, "\n"))
		}
		if err != nil {
			break
		}
	}
	r.failed = cmd.Wait()
	r.end()
}

// printTable prints the final table with the reason of each failure, and reports whether everything
// passed. The last line contains only the total.
func printTable(w io.Writer, table []*result, took time.Duration) bool {
	ok, sum := true, count{}
	fmt.Fprintf(w, "\n%-18s %8s %8s %8s %8s\n", "suite", "passed", "failed", "skipped", "seconds")
	for _, r := range table {
		verdict := ""
		if r.failed != nil {
			verdict, ok = "  FAIL", false
			if r.count.failed == 0 { // the target has no tests, or ended before its tests
				r.count.failed = 1
			}
			if len(r.failures) == 0 {
				r.failures = []*failure{{name: r.target, why: r.last}}
			}
		} else if r.count.failed > 0 {
			verdict, ok = "  FAIL", false
		}
		sum.add(r.count)
		fmt.Fprintf(w, "%-18s %8d %8d %8d %8.0f%s\n", r.name, r.count.passed, r.count.failed, r.count.skipped, r.took.Seconds(), verdict)
	}
	fmt.Fprintf(w, "%-18s %8d %8d %8d %8.0f\n", "all", sum.passed, sum.failed, sum.skipped, took.Seconds())
	for _, r := range table {
		for _, f := range r.failures {
			fmt.Fprintf(w, "failed: %s: %s\n", r.name, f.name)
			for _, line := range f.why {
				fmt.Fprintf(w, "    %s\n", line)
			}
		}
	}
	fmt.Fprintf(w, "\n%d passed, %d failed, %d skipped\n", sum.passed, sum.failed, sum.skipped)
	return ok
}

// lines writes the output of several suites without mixing their lines. It is safe for concurrent
// use.
type lines struct {
	mu sync.Mutex
	to io.Writer // guarded by mu
}

func (l *lines) print(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.to, text)
}

// needed is the space in memory, in bytes, for the files that tests have open at the same time. The
// stores' files are mostly holes.
const needed = 6 << 30

// inMemory creates a folder in memory, and returns a function that removes it. It returns "" if no
// such folder can be used.
func inMemory() (dir string, remove func(), err error) {
	const shm = "/dev/shm"
	var s syscall.Statfs_t
	if syscall.Statfs(shm, &s) != nil || s.Bavail*uint64(s.Bsize) < needed {
		return "", func() {}, nil
	}
	if dir, err = os.MkdirTemp(shm, "atelier-"); err != nil {
		return "", func() {}, nil
	}
	remove = func() { _ = os.RemoveAll(dir) }
	// Tests that run as another user need access to the sockets in this folder.
	if err := os.Chmod(dir, 0o755); err != nil {
		remove()
		return "", func() {}, err
	}
	// Containers mount this file system with noexec.
	try := filepath.Join(dir, "try")
	if os.WriteFile(try, []byte("#!/bin/sh\nexit 0\n"), 0o700) != nil || exec.Command(try).Run() != nil {
		remove()
		return "", func() {}, nil
	}
	return dir, remove, os.Remove(try)
}

// spin runs n busy processes until stop is called.
func spin(n int) (stop func()) {
	var done atomic.Bool
	var all sync.WaitGroup
	for range n {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		all.Go(func() {
			if err := cmd.Start(); err != nil {
				fmt.Fprintln(os.Stderr, "a busy loop did not start:", err)
				return
			}
			for !done.Load() {
				time.Sleep(100 * time.Millisecond)
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
	return func() { done.Store(true); all.Wait() }
}
