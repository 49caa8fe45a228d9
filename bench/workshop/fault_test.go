//go:build linux

package workshop

import (
	"testing"
	"time"
)

// A pause of the only server affects all clients, but the recovery can still be measured.
func TestTheRecoveryFollowsFromChatMessages(t *testing.T) {
	const ms = time.Millisecond
	type delivery struct{ since, took time.Duration }
	fine, after := delivery{2000 * ms, 5 * ms}, delivery{600 * ms, 5 * ms}
	for name, c := range map[string]struct {
		well, late []delivery
		took       time.Duration
		ok         bool
	}{
		"no chat messages":                       {},
		"no effect":                              {well: []delivery{after, fine}, ok: true},
		"slow for a while":                       {well: []delivery{{1200 * ms, 300 * ms}, {3000 * ms, 5 * ms}}, took: 1300 * ms, ok: true},
		"slow to the end":                        {well: []delivery{{1200 * ms, 300 * ms}}, took: 10 * time.Second},
		"all clients are paused":                 {late: []delivery{{0, 500 * ms}, fine}, ok: true},
		"all paused, slow after the pause":       {late: []delivery{{1200 * ms, 300 * ms}, {3000 * ms, 5 * ms}}, took: 800 * ms, ok: true},
		"all paused, slow to the end":            {late: []delivery{{1200 * ms, 300 * ms}}, took: 9500 * ms},
		"the other clients are slow for longer":  {well: []delivery{{1200 * ms, 300 * ms}, {3000 * ms, 5 * ms}}, late: []delivery{{0, 500 * ms}, fine}, took: 1300 * ms, ok: true},
		"the paused clients are slow for longer": {well: []delivery{after, fine}, late: []delivery{{1200 * ms, 300 * ms}, {3000 * ms, 5 * ms}}, took: 800 * ms, ok: true},
		"nobody on the paused node chats":        {well: []delivery{after, fine}, late: nil, ok: true},
	} {
		h := &harm{began: time.Second, over: 1500 * ms}
		for _, s := range c.well {
			h.well.Add(s.since, s.took)
		}
		for _, s := range c.late {
			h.late.Add(s.since, s.took)
		}
		if took, ok := h.recovery(11 * time.Second); took != c.took || ok != c.ok {
			t.Errorf("%s: the recovery took %v, known: %v", name, took, ok)
		}
	}
}
