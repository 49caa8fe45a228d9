//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"atelier/bench/compare"
)

func TestAnInterruptedComparisonKeepsItsMeasurements(t *testing.T) {
	for name, c := range map[string]struct {
		after int // completed runs
		lost  int // lost messages in each run of B
		a, b  int // runs that are kept
		code  int
	}{
		"in the first run":   {0, 0, 0, 0, 130},
		"in the second run":  {1, 0, 1, 0, 130},
		"in the third round": {5, 0, 3, 2, 130},
		"after a loss":       {4, 7, 2, 2, 1},
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		dir := t.TempDir()
		p := &pairCommand{A: "a", B: "b", Repeat: 4, JSONA: filepath.Join(dir, "a.json"), JSONB: filepath.Join(dir, "b.json"), Args: []string{"fanout"}}
		p.Alpha = 0.05
		done := 0
		err := p.run(ctx, func(_ context.Context, args []string) ([]byte, error) {
			if done++; done > c.after {
				interrupt()
				return nil, errors.New("exit status 130")
			}
			lost := 0
			if args[len(args)-1] == "b" {
				lost = c.lost
			}
			return fmt.Appendf(nil, `{"format":"atelier-bench/1","scenario":"x","valid":true,"lost":%d}`, lost), nil
		})
		interrupt()
		var code exitCode
		if !errors.As(err, &code) || int(code) != c.code {
			t.Errorf("%s: ended with %v, want the exit code %d", name, err, c.code)
		}
		for path, want := range map[string]int{p.JSONA: c.a, p.JSONB: c.b} {
			set, err := compare.Read(path)
			if got := runs(set); got != want {
				t.Errorf("%s: %s has %d runs, want %d: %v", name, filepath.Base(path), got, want, err)
			}
		}
	}
}

func runs(s *compare.Set) int {
	if s == nil {
		return 0
	}
	return len(s.Runs)
}
