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

// hooks is the receiver of a webhook. Each event to which the webhook subscribes arrives at least
// once, despite all faults of the nodes.
type hooks struct {
	w     *world
	id    string
	since uint64      // the webhook is active on all nodes for events after this position
	kind  atomic.Bool // if set, the receiver accepts every delivery

	mu    sync.Mutex
	tries int            // guarded by mu
	got   map[string]int // guarded by mu; how often each event arrived
	// outage describes when the receiver refuses every delivery. Guarded by mu.
	outage outage
}

// outage is a period in which the receiver refuses every delivery, until its webhook is stopped and
// resumed. A position of 0 has not been reached yet.
type outage struct {
	refuses bool
	// row is the number of consecutive refused attempts.
	row int
	// The webhook is active up to from, stopped on all nodes from silent to asked, and active again
	// from back on. In between, delivering and not delivering are both correct.
	from, silent, asked, back uint64
}

// wants reports whether the event at a position must be delivered. known is false while delivering
// and not delivering are both correct.
func (o *outage) wants(seq uint64) (wants, known bool) {
	switch {
	case o.from == 0 || seq <= o.from || o.back > 0 && seq > o.back:
		return true, true
	case o.silent > 0 && seq > o.silent && (o.asked == 0 || seq <= o.asked):
		return false, true
	}
	return false, false
}

// hooked reports whether a plan has a webhook.
func (p Plan) hooked() bool { return p.Seed%5 == 1 }

// refusing reports whether the receiver refuses deliveries until its webhook is stopped. This
// happens after all faults have ended.
func (p Plan) refusing() bool { return p.Seed%10 == 1 }

// formatDelivery formats a delivery.
func formatDelivery(kind, attendee, more string) string { return kind + " " + attendee + " " + more }

// send receives a delivery. It refuses every third delivery if this is the first attempt.
func (h *hooks) send(ctx context.Context, _ *webhook.Hook, d *webhook.Delivery) webhook.Outcome {
	select {
	case <-time.After(5 * time.Millisecond):
	case <-ctx.Done():
		return webhook.Outcome{Error: webhook.TimedOut}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.outage.refuses {
		h.outage.row++
		return webhook.Outcome{Status: 500}
	}
	if h.tries++; d.Tries == 0 && !h.kind.Load() && h.tries%3 == 0 { // not every attempt, because 20 consecutive failures would stop the webhook
		return webhook.Outcome{Status: 500}
	}
	h.got[formatDelivery(d.Type, d.Data.AttendeeId, d.Data.HelpId+d.Data.Check)]++
	return webhook.Outcome{Status: 204}
}

// startHooks runs the webhooks of a node. Without a receiver it does nothing.
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

// begin creates the webhook before the first fault.
func (h *hooks) begin() error {
	id, err := h.w.nodes[0].server.Load().hooks.Create(webhook.Caller{}, webhook.Create{
		URL: "https://example.org/", Secret: []byte("sealed"), Codelabs: []string{h.w.lab},
		Events: []string{webhook.AttendeeRegistered, webhook.HelpRequested, webhook.AttendeeCompleted, webhook.WorkshopEnded, webhook.CheckReported},
	})
	if err != nil {
		return fmt.Errorf("create the webhook: %w", err)
	}
	h.id = id
	time.Sleep(1500 * time.Millisecond) // on several nodes, the webhook is active within a second
	h.since = h.w.model.committedTo()
	return nil
}

// check waits for retries, and verifies that every event arrived.
func (h *hooks) check() {
	if h == nil || h.w.model.failed() != "" {
		return
	}
	h.kind.Store(true)
	time.Sleep(45 * time.Second) // the second attempt is after 5 s, or after 30 s if the first outcome was not recorded
	if h.w.plan.refusing() {
		if err := h.stop(); err != nil {
			h.w.model.fail("webhooks", "%s", err)
			return
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for seq, want := range h.w.model.wanted() {
		if seq <= h.since {
			continue
		}
		switch wants, known := h.outage.wants(seq); {
		case !known:
		case wants && h.got[want] == 0:
			h.w.model.fail("webhooks", "event %d was never delivered: %s", seq, want)
			return
		case !wants && h.got[want] > 0:
			h.w.model.fail("webhooks", "event %d was delivered, while the webhook was stopped: %s", seq, want)
			return
		}
	}
	if err := h.checkTries(); err != nil {
		h.w.model.fail("webhooks", "%s", err)
	}
}

// refusals is the number of consecutive failed attempts after which a webhook is stopped, as
// defined in RULES.md.
const refusals = 20

// stopHook is the event that is counted each time a webhook was stopped.
const stopHook = "Stop a webhook"

// refuse begins an outage.
func (h *hooks) refuse() {
	at := h.w.model.committedTo()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.outage = outage{refuses: true, from: at}
}

// refused returns the number of consecutive refused attempts.
func (h *hooks) refused() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.outage.row
}

// stop makes the receiver refuse every delivery until the webhook is stopped, and then resumes the
// webhook. It runs while no other fault is active. If registration has closed, stop ends early.
func (h *hooks) stop() error {
	c := newClient(h.w, "c98", h.w.plan.random(ofClients-3))
	register := func(times int) (registered bool) {
		for range times {
			n := h.w.nodes[c.Rand.IntN(len(h.w.nodes))]
			before := h.w.model.committedTo()
			c.only = "Register"
			c.act(n)
			registered = registered || h.w.model.committedTo() > before
		}
		return registered
	}
	h.refuse()
	for range 10 * refusals {
		if stopped, _ := h.stopped(); stopped {
			break
		}
		before := h.refused()
		if !register(1) && before == 0 {
			return h.resume() // registration has closed
		}
		h.mu.Lock()
		if h.outage.row < refusals {
			h.outage.from = h.w.model.committedTo()
		}
		h.mu.Unlock()
		time.Sleep(200 * time.Millisecond)
	}
	if stopped, err := h.stopped(); err != nil || !stopped {
		return fmt.Errorf("the receiver refused %d consecutive attempts, but the webhook was not stopped (%v)", h.refused(), err)
	}
	if row := h.refused(); row != refusals {
		return fmt.Errorf("the webhook was stopped after %d consecutive refused attempts", row)
	}
	h.w.history.count("command", stopHook)
	time.Sleep(2 * time.Second) // by then the webhook is stopped on all nodes
	h.mark(func(o *outage, at uint64) { o.silent = at })
	register(3)
	time.Sleep(10 * time.Second)
	return h.resume()
}

// resume ends an outage, and waits for retries.
func (h *hooks) resume() error {
	h.mark(func(o *outage, at uint64) { o.asked, o.refuses = at, false })
	for tries := 0; ; tries++ {
		err := h.w.nodes[0].server.Load().hooks.Resume(webhook.Caller{}, h.id)
		if err == nil {
			break
		}
		if tries == 5 || durable.Refused(err) {
			return fmt.Errorf("resume the webhook: %w", err)
		}
		time.Sleep(time.Second) // the owner is moving
	}
	time.Sleep(2 * time.Second)
	h.mark(func(o *outage, at uint64) { o.back = at })
	c := newClient(h.w, "c97", h.w.plan.random(ofClients-4))
	c.only = "Register"
	for range 3 {
		c.act(h.w.nodes[c.Rand.IntN(len(h.w.nodes))])
	}
	time.Sleep(6 * time.Minute) // the third attempt is 5 min after the second
	return nil
}

// mark records the position of a change.
func (h *hooks) mark(change func(o *outage, at uint64)) {
	at := h.w.model.committedTo()
	h.mu.Lock()
	defer h.mu.Unlock()
	change(&h.outage, at)
}

// stopped reports whether the first node considers the webhook stopped.
func (h *hooks) stopped() (bool, error) {
	all, err := h.w.nodes[0].server.Load().hooks.All()
	if err != nil || len(all) != 1 {
		return false, fmt.Errorf("%d webhooks, %w", len(all), err)
	}
	return all[0].Stopped, nil
}

// checkTries verifies the latest attempts that the first available node reports. A recorded outcome
// must match the receiver's response, or be a timeout. If the webhook has a last attempt, the list
// must not be empty.
func (h *hooks) checkTries() error {
	for _, n := range h.w.nodes {
		s := n.server.Load()
		if s == nil || s.hooks == nil {
			continue
		}
		tries, err := s.hooks.Tries(h.id)
		if err != nil {
			continue // this node cannot respond now
		}
		all, err := s.hooks.All()
		if err != nil || len(all) != 1 {
			continue
		}
		if len(tries) > webhook.MaxTries || len(tries) == 0 && all[0].LastAt != 0 {
			return fmt.Errorf("%d attempts are listed, the last was at %d", len(tries), all[0].LastAt)
		}
		for i, t := range tries {
			answered := t.Error == "" && (t.Status == 204 || t.Status == 500 && (t.Number == 1 || h.outage.from > 0))
			if t.Id == "" || t.Type == "" || t.Number == 0 || !answered && (t.Status != 0 || t.Error != webhook.TimedOut) {
				return fmt.Errorf("attempt %d is listed as %v", i, t)
			}
		}
		return nil
	}
	return nil
}

// committedTo returns the number of committed records.
func (m *model) committedTo() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return uint64(len(m.records))
}

// wanted returns the events that the webhook must receive, by position. These are registrations,
// completions, reports of checks, new help requests, and the end of the workshop. Events of
// simulated attendees are excluded.
func (m *model) wanted() map[uint64]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out, asked, ended := map[uint64]string{}, map[string]bool{}, false
	simulated := map[string]bool{}
	for seq := uint64(1); seq <= uint64(len(m.records)); seq++ {
		e, err := m.event(seq)
		if err != nil {
			continue // the reference reports it
		}
		switch b := e.Body.(type) {
		case *pb.Event_Registered:
			if a := b.Registered.Attendee; a.Simulated {
				simulated[a.Id] = true
			} else {
				out[seq] = formatDelivery(webhook.AttendeeRegistered, a.Id, "")
			}
		case *pb.Event_Completed:
			if !simulated[b.Completed.AttendeeId] {
				out[seq] = formatDelivery(webhook.AttendeeCompleted, b.Completed.AttendeeId, "")
			}
		case *pb.Event_CheckReported:
			if !simulated[b.CheckReported.AttendeeId] {
				out[seq] = formatDelivery(webhook.CheckReported, b.CheckReported.AttendeeId, b.CheckReported.Name)
			}
		case *pb.Event_HelpAsked:
			if h := b.HelpAsked.Request; !asked[h.Id] && !simulated[h.AttendeeId] {
				asked[h.Id] = true
				out[seq] = formatDelivery(webhook.HelpRequested, h.AttendeeId, h.Id)
			}
		case *pb.Event_HelpOffered:
			asked[b.HelpOffered.Request.Id] = true
		case *pb.Event_Updated:
			if ends := b.Updated.Codelab.EndedAt != 0; ends != ended {
				if ended = ends; ends {
					out[seq] = formatDelivery(webhook.WorkshopEnded, "", "")
				}
			}
		}
	}
	return out
}
