package simulation

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"atelier/actors/audit"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/webhook"
)

// hooks is somebody who receives what a webhook tells: each event that it wants comes at
// least once, whatever happened to the nodes meanwhile.
type hooks struct {
	w     *world
	id    string
	since uint64      // the webhook is active on all nodes for what comes behind this position
	kind  atomic.Bool // it takes everything from now on

	mu    sync.Mutex
	tries int            // guarded by mu
	got   map[string]int // guarded by mu; how often each came
}

// hooked says that a plan has a webhook.
func (p Plan) hooked() bool { return p.Seed%5 == 1 }

// told names what a delivery is about.
func told(kind, attendee, more string) string { return kind + " " + attendee + " " + more }

// send is a receiver that refuses many first tries.
func (h *hooks) send(ctx context.Context, _ *webhook.Hook, d *webhook.Delivery) webhook.Outcome {
	select {
	case <-time.After(5 * time.Millisecond):
	case <-ctx.Done():
		return webhook.Outcome{Error: webhook.TimedOut}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tries++; d.Tries == 0 && !h.kind.Load() && h.tries%3 == 0 { // 20 in a row would stop it
		return webhook.Outcome{Status: 500}
	}
	h.got[told(d.Type, d.Data.AttendeeId, d.Data.HelpId+d.Data.Check)]++
	return webhook.Outcome{Status: 204}
}

// startHooks runs the webhooks of a node; nil where nobody listens.
func (s *server) startHooks(options durable.Options) (err error) {
	if s.n.w.hooks == nil {
		return nil
	}
	s.hooks, err = webhook.New(webhook.Config{
		System: s.system, Journal: s.shared, Audit: audit.New(s.shared, s.clock, time.Hour), Durable: options, Clock: s.clock,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.hooks.Run(ctx, s.n.w.hooks.send) })
	s.unhook = func() { cancel(); running.Wait() }
	return nil
}

// begin creates the webhook, before anything goes wrong.
func (h *hooks) begin() error {
	id, err := h.w.nodes[0].server.Load().hooks.Create(webhook.Caller{}, webhook.Create{
		URL: "https://example.org/", Secret: []byte("sealed"), Codelabs: []string{h.w.lab},
		Events: []string{webhook.AttendeeRegistered, webhook.HelpRequested, webhook.AttendeeCompleted, webhook.WorkshopEnded, webhook.CheckReported},
	})
	if err != nil {
		return fmt.Errorf("create the webhook: %w", err)
	}
	h.id = id
	time.Sleep(1500 * time.Millisecond) // on several nodes it is active within a second
	h.since = h.w.model.committedTo()
	return nil
}

// check waits for what is tried again, and looks whether everything came.
func (h *hooks) check() {
	if h == nil || h.w.model.failed() != "" {
		return
	}
	h.kind.Store(true)
	time.Sleep(45 * time.Second) // the second try is after 5 s, and 30 s after an outcome that could not be noted
	h.mu.Lock()
	defer h.mu.Unlock()
	for seq, want := range h.w.model.wanted() {
		if seq > h.since && h.got[want] == 0 {
			h.w.model.fail("webhooks", "event %d was never delivered: %s", seq, want)
			return
		}
	}
	if err := h.checkTries(); err != nil {
		h.w.model.fail("webhooks", "%s", err)
	}
}

// checkTries looks at how the last tries went, as a node tells it: each is one that the
// receiver answered so, or had not answered yet; the newest is the last of the webhook.
func (h *hooks) checkTries() error {
	for _, n := range h.w.nodes {
		s := n.server.Load()
		if s == nil || s.hooks == nil {
			continue
		}
		tries, err := s.hooks.Tries(h.id)
		if err != nil {
			continue // it is on its way
		}
		all, err := s.hooks.All()
		if err != nil || len(all) != 1 {
			continue
		}
		if len(tries) > webhook.MaxTries || len(tries) == 0 && all[0].LastAt != 0 {
			return fmt.Errorf("%d tries are told, the last was at %d", len(tries), all[0].LastAt)
		}
		for i, t := range tries {
			answered := t.Error == "" && (t.Status == 204 || t.Status == 500 && t.Number == 1)
			if t.Id == "" || t.Type == "" || t.Number == 0 || !answered && (t.Status != 0 || t.Error != webhook.TimedOut) {
				return fmt.Errorf("try %d is told as %v", i, t)
			}
		}
		return nil
	}
	return nil
}

// committedTo is how many records are committed.
func (m *model) committedTo() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return uint64(len(m.records))
}

// wanted is what the webhook is to be told of, by position: each registration, completion
// and report, a request for help that is new, and the end of the workshop. Of simulated
// attendees nothing.
func (m *model) wanted() map[uint64]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out, asked, ended := map[uint64]string{}, map[string]bool{}, false
	simulated := map[string]bool{}
	for seq := uint64(1); seq <= uint64(len(m.records)); seq++ {
		e, err := m.event(seq)
		if err != nil {
			continue // the reference says so
		}
		switch b := e.Body.(type) {
		case *pb.Event_Registered:
			if a := b.Registered.Attendee; a.Simulated {
				simulated[a.Id] = true
			} else {
				out[seq] = told(webhook.AttendeeRegistered, a.Id, "")
			}
		case *pb.Event_Completed:
			if !simulated[b.Completed.AttendeeId] {
				out[seq] = told(webhook.AttendeeCompleted, b.Completed.AttendeeId, "")
			}
		case *pb.Event_CheckReported:
			if !simulated[b.CheckReported.AttendeeId] {
				out[seq] = told(webhook.CheckReported, b.CheckReported.AttendeeId, b.CheckReported.Name)
			}
		case *pb.Event_HelpAsked:
			if h := b.HelpAsked.Request; !asked[h.Id] && !simulated[h.AttendeeId] {
				asked[h.Id] = true
				out[seq] = told(webhook.HelpRequested, h.AttendeeId, h.Id)
			}
		case *pb.Event_HelpOffered:
			asked[b.HelpOffered.Request.Id] = true
		case *pb.Event_Updated:
			if ends := b.Updated.Codelab.EndedAt != 0; ends != ended {
				if ended = ends; ends {
					out[seq] = told(webhook.WorkshopEnded, "", "")
				}
			}
		}
	}
	return out
}
