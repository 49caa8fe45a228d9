//go:build linux

package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Planned is a fault with its time since the beginning of the measured time.
type Planned struct {
	At    time.Duration
	Fault Fault
}

// Every plans faults at an interval, cycling through turns. The first fault is after one interval,
// and the last before until.
func Every(interval, until time.Duration, turns ...Fault) []Planned {
	var out []Planned
	if interval <= 0 || len(turns) == 0 {
		return nil
	}
	for at := interval; at < until; at += interval {
		out = append(out, Planned{at, turns[len(out)%len(turns)]})
	}
	return out
}

// Merge merges plans, sorted by time.
func Merge(plans ...[]Planned) []Planned {
	all := slices.Concat(plans...)
	slices.SortStableFunc(all, func(a, b Planned) int { return int(a.At - b.At) })
	return all
}

// Stages parses DURATION@FAULT,… Each fault is injected at the beginning of its stage. Stages also
// returns the total duration.
func Stages(text string, count int) (plan []Planned, all time.Duration, err error) {
	for one := range strings.SplitSeq(text, ",") {
		during, fault, ok := strings.Cut(strings.TrimSpace(one), "@")
		d, err := time.ParseDuration(during)
		if !ok || err != nil || d <= 0 {
			return nil, 0, fmt.Errorf("stage %q: want DURATION@FAULT, such as 20s@kill:1", one)
		}
		f, err := Parse(fault, count)
		if err != nil {
			return nil, 0, err
		}
		plan = append(plan, Planned{all, f})
		all += d
	}
	return plan, all, nil
}
