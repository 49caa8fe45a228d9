package simulation

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// history contains the events of a run, in order.
type history struct {
	mu    sync.Mutex
	began time.Time
	steps []step // guarded by mu
	// counts contains the numbers of commands, faults and lost messages, by kind and name.
	counts counts // guarded by mu
}

// step is one event of a run.
type step struct {
	at   time.Duration // since the beginning of the run
	who  string        // a client, or "fault"
	node string        // the node; "" if the step concerns no node or all nodes
	what string
}

// counts contains numbers of events, by kind and name.
type counts map[string]map[string]int

func (c counts) add(kind, name string, n int) {
	if c[kind] == nil {
		c[kind] = map[string]int{}
	}
	c[kind][name] += n
}

func newHistory() *history { return &history{began: time.Now(), counts: counts{}} }

func (h *history) add(who, node, format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.steps = append(h.steps, step{time.Since(h.began), who, node, fmt.Sprintf(format, args...)})
}

func (h *history) count(kind, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts.add(kind, name, 1)
}

// write prints all steps.
func (h *history) write(to io.Writer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	table(to, h.steps)
}

// story prints the newest n steps that concern a finding. These are the steps that concern
// everybody, and the steps of the people and things that the finding names. Such a name is a word
// with a digit. If the finding names only nodes, story prints the steps of those nodes.
func (h *history) story(to io.Writer, finding string, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	names := strings.FieldsFunc(finding, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`,:;"{}()`, r) })
	names = slices.DeleteFunc(names, func(s string) bool { return !strings.ContainsAny(s, "0123456789") })
	about := func(s step, by func(step, string) bool) bool {
		return s.who == reporter || slices.ContainsFunc(names, func(name string) bool { return by(s, name) })
	}
	things := func(s step, name string) bool {
		return s.who == name || len(name) > 3 && strings.Contains(s.what, name)
	}
	places := func(s step, name string) bool { return s.node == name }
	by := things
	if !slices.ContainsFunc(h.steps, func(s step) bool { return s.who != reporter && about(s, things) }) {
		by = places
	}
	var selected []step
	for _, s := range slices.Backward(h.steps) {
		if len(selected) < n && s.what != "reads" && (s.who == "fault" || s.who == "end" || about(s, by)) {
			selected = append(selected, s)
		}
	}
	slices.Reverse(selected)
	table(to, selected)
}

func table(to io.Writer, steps []step) {
	for _, s := range steps {
		_, _ = fmt.Fprintf(to, "%9.3fs  %-8s  %-4s  %s\n", s.at.Seconds(), s.who, s.node, s.what)
	}
}
