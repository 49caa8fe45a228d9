package live

import (
	"context"
	"math/rand/v2"
	"time"

	"atelier/transport/rfc6455"
)

const (
	// drainStep is the interval between the batches that Drain closes.
	drainStep = 20 * time.Millisecond
	// drainSteps is the number of batches, so that all sessions begin to close within about a
	// second.
	drainSteps = 50
)

// Drain empties the hub before the process ends or stops serving. Each session is sent the payload
// that reconnect makes for a delay drawn from [0, spread), so that the clients do not all reconnect
// at the same time. The session is then closed with 1012, in one of about fifty batches over a
// second. Drain returns nil when all sessions are closed, and the error of ctx if it ends earlier.
// New sessions are refused from the call of Drain until Reopen.
//
// reconnect is called once per session, concurrently.
func (h *Hub) Drain(ctx context.Context, reconnect func(retryAfterMS int) []byte, spread time.Duration) error {
	h.draining.Store(true)
	announce := func(s *Session) {
		s.announced = true
		s.Send(reconnect(int(jitter(spread) / time.Millisecond)))
	}
	total := 0
	for _, l := range h.loops {
		total += int(l.count.sessions.Load())
		l.post(func() {
			for _, s := range l.sessions {
				announce(s)
			}
		})
	}
	batch := total/(drainSteps*len(h.loops)) + 1
	ticker := time.NewTicker(drainStep)
	defer ticker.Stop()
	for h.Stats().Sessions > 0 {
		for _, l := range h.loops {
			l.post(func() { l.closeSome(batch, announce) })
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
	return nil
}

// Reopen accepts new sessions again after a Drain.
func (h *Hub) Reopen() { h.draining.Store(false) }

// closeSome closes up to n sessions that are not closing yet. It first calls announce for those that
// have joined since the first announcement.
func (l *loop) closeSome(n int, announce func(*Session)) {
	for _, s := range l.sessions {
		if n == 0 {
			return
		}
		if s.state == open && !s.draining {
			s.draining = true
			if !s.announced {
				announce(s)
			}
			s.end(ending{rfc6455.CloseRestart, "server restarts", ReasonDrain})
			n--
		}
	}
}

func jitter(spread time.Duration) time.Duration {
	if spread <= 0 {
		return 0
	}
	return rand.N(spread)
}
