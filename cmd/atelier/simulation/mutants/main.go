package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	listFile  = "cmd/atelier/simulation/mutants/mutants.txt"
	foundFile = "cmd/atelier/simulation/mutants/found.txt"
)

func main() {
	which := flag.String("mutant", "", "run only these `mutants`, by their numbers or names, separated by commas")
	limit := flag.Uint64("limit", 600, "maximum number of seeds for each mutant; 0 runs only the package tests and stores no results")
	atOnce := flag.Int("at-once", 2, "number of mutants to build and run concurrently")
	flag.Parse()
	if err := run(*which, *limit, *atOnce, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(which string, limit uint64, atOnce int, out io.Writer) error {
	began := time.Now()
	t, err := newTree()
	if err != nil {
		return err
	}
	defer t.close()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-stop
		t.close()
		os.Exit(1)
	}()
	list, err := t.read(listFile)
	if err != nil {
		return err
	}
	all, err := parse(list)
	if err != nil {
		return fmt.Errorf("%s: %w", listFile, err)
	}
	path := filepath.Join(t.root, foundFile)
	found, err := readFound(path)
	if err != nil {
		return err
	}
	chosen := all
	if which != "" {
		if chosen, err = pick(all, which); err != nil {
			return err
		}
	}
	shared, err := t.share(chosen)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%6.0f s  built; %d of %d share a build\n", time.Since(began).Seconds(), len(shared.has), len(chosen))
	j := &judge{tree: t, shared: shared, limit: limit, passes: map[packageTest]error{}, unclean: map[uint64]string{}}
	verdicts, err := j.all(chosen, found, atOnce, func(v verdict) error {
		_, _ = fmt.Fprintf(out, "%6.0f s  %3d %-34s %s\n", time.Since(began).Seconds(), v.number, v.name, v)
		if v.found == nil || v.err != nil || limit == 0 {
			return nil
		}
		now, err := readFound(path) // other processes can run mutants, too
		if err != nil {
			return err
		}
		now[v.name] = *v.found
		return writeFound(path, all, now)
	})
	if err != nil {
		return err
	}
	err = conclude(t, verdicts, out)
	for seed, oracle := range j.unclean {
		_, _ = fmt.Fprintf(out, "seed %d sometimes fails without a mutant: %s\n", seed, oracle)
	}
	_, _ = fmt.Fprintf(out, "%v\n", time.Since(began).Round(time.Second))
	return err
}

// all judges mutants, a few concurrently, and reports each verdict immediately.
func (j *judge) all(chosen []*mutant, found map[string]finding, atOnce int, judged func(verdict) error) ([]verdict, error) {
	type job struct {
		i      int
		before finding
	}
	jobs := make(chan job, len(chosen))
	for i, m := range chosen {
		jobs <- job{i, found[m.name]}
	}
	close(jobs)
	verdicts := make([]verdict, len(chosen))
	var mu sync.Mutex
	var failed error
	var workers sync.WaitGroup
	for range max(atOnce, 1) {
		workers.Go(func() {
			for job := range jobs {
				v := j.judge(chosen[job.i], job.before)
				verdicts[job.i] = v
				mu.Lock()
				failed = errors.Join(failed, judged(v))
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	return verdicts, failed
}

// conclude prints the table, and returns an error for each mutant with a bad verdict.
func conclude(t *tree, verdicts []verdict, out io.Writer) error {
	var alive []*mutant
	for _, v := range verdicts {
		if v.found == nil && v.err == nil {
			alive = append(alive, v.mutant)
		}
	}
	unexecuted, err := t.unexecuted(alive)
	if err != nil {
		return err
	}
	var errs []error
	var bySeed, byTest, equivalent int
	_, _ = fmt.Fprintln(out)
	for _, v := range verdicts {
		_, _ = fmt.Fprintf(out, "%3d %-34s %-44s %s\n", v.number, v.name, v, v.promise)
		if err := v.conclude(unexecuted[v.mutant]); err != nil {
			errs = append(errs, err)
			continue
		}
		switch {
		case v.found == nil:
			equivalent++
		case v.found.seed > 0:
			bySeed++
		default:
			byTest++
		}
	}
	_, _ = fmt.Fprintf(out, "\n%d mutants: %d found by seeds, %d by tests of their packages, %d equivalent, %d not found\n",
		len(verdicts), bySeed, byTest, equivalent, len(errs))
	return errors.Join(errs...)
}

// String returns the verdict on a mutant in a few words.
func (v verdict) String() string {
	switch {
	case v.err != nil:
		first, _, _ := strings.Cut(v.err.Error(), "\n")
		return "ERROR " + first
	case v.found != nil:
		return v.found.String()
	case v.equivalent != "":
		return "equivalent"
	}
	return "SURVIVED"
}
