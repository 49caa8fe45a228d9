//go:build linux

package server

import (
	"os"
	"testing"
	"time"
)

func TestTicksSurviveAnyProcessName(t *testing.T) {
	const stat = "42 (a) (b 1 2) S 1 42 42 0 -1 4194560 1 2 3 4 150 50 0 0 20 0 8 0 100 1 1"
	if got := ticks([]byte(stat)); got != 2*time.Second {
		t.Errorf("the ticks are %v, want 2 s", got)
	}
	if got := ticks([]byte("nonsense")); got != 0 {
		t.Errorf("the ticks of an invalid line are %v, want 0", got)
	}
}

func TestTheUsageOfThisProcessIsRead(t *testing.T) {
	u, err := usage(os.Getpid())
	if err != nil || u.RSS <= 0 || u.PeakRSS < u.RSS {
		t.Errorf("the usage is %+v, %v", u, err)
	}
}
