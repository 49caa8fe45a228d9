//go:build linux

package beside

import (
	"testing"
	"time"

	"atelier/bench/report"
	"atelier/bench/workshop"
)

func TestUploadsAlternateWithPauses(t *testing.T) {
	l := &uploads{cfg: &Uploads{Phase: 10 * time.Second, Settle: time.Second}}
	for since, want := range map[time.Duration]int{
		-time.Second: -1, 0: -1, time.Second: without, 10*time.Second - 1: without, 10 * time.Second: -1,
		11 * time.Second: with, 20*time.Second - 1: with, 21 * time.Second: without,
	} {
		if got := l.partOf(since); got != want {
			t.Errorf("%v is in part %d, want %d", since, got, want)
		}
	}
}

// A round of clones lasts until its last clone has ended. Then the server settles.
func TestRoundsOfClonesHaveAnEnd(t *testing.T) {
	l := &clones{site: &site{}, cfg: &Clones{Settle: time.Second}, times: []span{{5 * time.Second, 7 * time.Second}, {15 * time.Second, 0}}}
	for since, want := range map[time.Duration]int{
		-time.Second: -1, 0: without, 5 * time.Second: with, 7 * time.Second: -1, 8 * time.Second: without,
		15 * time.Second: with, time.Minute: with,
	} {
		if got := l.partOf(since); got != want {
			t.Errorf("%v is in part %d, want %d", since, got, want)
		}
	}
}

func TestMemoryIsSummarizedByPart(t *testing.T) {
	r := &report.Result{Parts: make([]report.Part, parts), Memory: []report.Weight{{RSS: 5, Part: with}, {RSS: 1, Part: with}, {RSS: 9, Part: with}}}
	weigh(r)
	if p := r.Parts[with]; p.Lowest != 1 || p.Mean != 5 || p.Highest != 9 {
		t.Errorf("the part with the load is %+v", p)
	}
	if p := r.Parts[without]; p != (report.Part{}) {
		t.Errorf("the part without a measurement is %+v", p)
	}
}

// The clones replace the codelab of the workshop, so another one cannot be chosen.
func TestClonesHaveTheirOwnCodelab(t *testing.T) {
	w := workshop.Config{Attendees: 1, Facilitators: 1, Duration: time.Minute, Drain: time.Second}
	c := Clones{Config: w, People: 1, Every: 10 * time.Second, Settle: time.Second, Steps: 1, Files: 1, FileBytes: 1}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	for _, set := range []func(*Clones){func(c *Clones) { c.Codelab = "x" }, func(c *Clones) { c.CodelabID = "x" }} {
		c := c
		if set(&c); c.Check() == nil {
			t.Errorf("a codelab is accepted: %+v", c.Config)
		}
	}
}
