package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// judge determines which seed or test finds each mutant.
type judge struct {
	tree   *tree
	shared *sharedBuild
	limit  uint64 // maximum number of seeds per mutant; 0 runs only tests

	mu sync.Mutex
	// passes contains the results of tests without a mutant. Guarded by mu.
	passes map[packageTest]error
	// unclean contains the seeds that fail without a mutant, each with its oracle. Guarded by mu.
	unclean map[uint64]string
}

// verdict is the verdict on one mutant.
type verdict struct {
	*mutant
	found *finding // nil if the mutant survives
	err   error
}

// equivalentSeeds is the maximum number of seeds for a mutant that is declared equivalent. No seed
// should find such a mutant.
const equivalentSeeds = 100

// judge tries the previous finding first, then seeds, then the mutant's tests.
func (j *judge) judge(m *mutant, before finding) (v verdict) {
	v.mutant = m
	x, err := j.shared.mutate(m)
	if err != nil {
		v.err = err
		return v
	}
	defer x.clean()
	simulated := j.limit > 0 && j.tree.simulates(m)
	if kept := before.test; kept != (packageTest{}) && slices.Contains(m.tests, kept) {
		if v.found, v.err = j.test(x, kept); v.found != nil || v.err != nil {
			return v
		}
	}
	if simulated {
		if v.err = x.build(); v.err != nil {
			return v
		}
		if v.found, v.err = j.seeds(x, before.seed); v.found != nil || v.err != nil {
			return v
		}
	}
	for _, t := range m.tests {
		if v.found, v.err = j.test(x, t); v.found != nil || v.err != nil {
			return v
		}
	}
	if j.limit > 0 && !simulated && len(m.tests) == 0 {
		v.err = fmt.Errorf("%s is not in the simulator and has no test", m.name)
	}
	return v
}

// seeds looks for a seed that finds a mutant, beginning with the seed that found it last time. It
// returns the first seed that fails again when it is repeated, or else the first that failed once.
// Seeds that also fail without a mutant are skipped.
func (j *judge) seeds(x *mutated, kept uint64) (*finding, error) {
	if kept > 0 {
		f, err := x.fails(kept, tries)
		if err != nil {
			return nil, err
		}
		if f.seed > 0 {
			if clean, err := j.clean(kept); clean || err != nil {
				return &f, err
			}
		}
	}
	limit := j.limit
	if x.equivalent != "" {
		limit = min(limit, equivalentSeeds)
	}
	var once *finding
	for next := uint64(1); next <= limit; {
		f, err := x.seeds(next, limit)
		if err != nil || f.seed == 0 {
			return once, err
		}
		next = f.seed + 1
		if clean, err := j.clean(f.seed); err != nil {
			return nil, err
		} else if !clean {
			continue
		}
		again, err := x.fails(f.seed, tries)
		if err != nil {
			return nil, err
		}
		if again.seed > 0 {
			return &f, nil
		}
		if once == nil {
			once = &f
		}
	}
	return once, nil
}

// clean reports whether all runs of a seed pass without a mutant. It records a seed that fails.
func (j *judge) clean(seed uint64) (bool, error) {
	f, err := j.shared.original.fails(seed, tries)
	if f.seed > 0 {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.unclean[seed] = f.oracle
	}
	return f.seed == 0, err
}

// test returns the finding if a test fails with a mutant, and nil if the test passes. It returns an
// error if the test also fails without the mutant.
func (j *judge) test(x *mutated, t packageTest) (*finding, error) {
	f, failed, err := x.test(t)
	if err != nil || !failed {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	clean, known := j.passes[t]
	if !known {
		if _, failed, clean = j.shared.original.test(t); clean == nil && failed {
			clean = fmt.Errorf("go test %s also fails without a mutant", t)
		}
		j.passes[t] = clean
	}
	if clean != nil {
		return nil, clean
	}
	return &f, nil
}

var errSurvived = errors.New("no seed and no test finds the mutant")

// conclude returns an error if the mutant could not be judged, or was found although declared
// equivalent. It also returns an error if the mutant survived, unless it is declared equivalent and
// its lines were run.
func (v verdict) conclude(unexecuted bool) error {
	switch {
	case v.err != nil:
		return v.err
	case v.found != nil && v.equivalent != "":
		return fmt.Errorf("%s is declared equivalent, but was found by %s", v.name, *v.found)
	case v.found == nil && unexecuted:
		return fmt.Errorf("%s: some lines that it changes were never run", v.name)
	case v.found == nil && v.equivalent == "":
		return fmt.Errorf("%s: %w", v.name, errSurvived)
	}
	return nil
}
