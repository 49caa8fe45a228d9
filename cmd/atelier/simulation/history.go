package simulation

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// history is what happened in a run, in order.
type history struct {
	mu    sync.Mutex
	began time.Time
	steps []step         // guarded by mu
	drawn map[string]int // guarded by mu; how often each command was sent
}

type step struct {
	at   time.Duration // since the beginning of the run
	who  string        // a client, a node, or "fault"
	what string
}

func newHistory() *history { return &history{began: time.Now(), drawn: map[string]int{}} }

func (h *history) add(who, format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.steps = append(h.steps, step{time.Since(h.began), who, fmt.Sprintf(format, args...)})
}

func (h *history) drew(word string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drawn[word]++
}

// print writes the last n steps; all of them for a negative n.
func (h *history) print(to io.Writer, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	steps := h.steps
	if n >= 0 && len(steps) > n {
		steps = steps[len(steps)-n:]
		_, _ = fmt.Fprintf(to, "  … %d earlier steps\n", len(h.steps)-n)
	}
	for _, s := range steps {
		_, _ = fmt.Fprintf(to, "%9.3fs  %-9s  %s\n", s.at.Seconds(), s.who, s.what)
	}
}
