//go:build linux

package workshop

import (
	"slices"

	"atelier/bench/audit"
	"atelier/bench/report"
)

// verify compares the acknowledged writes, the received events, and the final state, if the final
// state is known.
func (c *crowd) verify(t *truth) report.Audit {
	var a report.Audit
	healthy := c.subscribers(&a)
	if t == nil {
		return a
	}
	a.Writes = map[string]audit.Writes{
		"chat":          c.verifyChat(t, &a, healthy),
		"comments":      c.verifyComments(t, &a, healthy),
		"registrations": c.verifyRegistrations(t),
		"progress":      c.verifyProgress(t, &a),
		"help":          c.verifyHelp(t, &a),
	}
	return a
}

// end returns the position up to which everybody should have received the stream. It is the
// position of the run's last message. If nobody received that message, it is the furthest position
// of anybody.
func (c *crowd) end() uint64 {
	if c.chat.last >= 0 {
		if seq := c.chat.messages[c.chat.last].seq; seq > 0 {
			return seq
		}
	}
	furthest := uint64(0)
	for _, p := range c.people {
		furthest = max(furthest, p.subscriber.Position())
	}
	return furthest
}

// subscribers verifies the events that each person received. It returns the number of people who
// joined and always read. For stalled people, only gaps that the server did not report count as
// losses.
func (c *crowd) subscribers(a *report.Audit) int {
	end, healthy := c.end(), 0
	a.Stalled.Closed = c.stalls.closed
	for _, p := range c.people {
		s := &p.subscriber
		a.Duplicated += s.Duplicated
		a.Reordered += s.Reordered
		a.Misdirected += s.Misdirected
		if !p.joined() {
			continue
		}
		missing := c.auditor.Missing(s, end)
		if !p.stalled {
			healthy++
			a.Missed += missing
			a.Resyncs += s.Resyncs
			if !p.finished {
				a.Unfinished++
			}
			continue
		}
		a.Stalled.People++
		switch {
		case s.Resyncs > 0:
			a.Stalled.Resynced++
		case !p.finished:
			a.Stalled.Unfinished++
		case missing > 0:
			a.Stalled.Gaps++
			a.Missed += missing
		default:
			a.Stalled.CaughtUp++
		}
	}
	return healthy
}

func (c *crowd) verifyChat(t *truth, a *report.Audit, healthy int) audit.Writes {
	fates := make([]audit.Fate, len(c.chat.messages))
	for n, m := range c.chat.messages {
		fates[n] = m.fate
		if t.chat[n] > 0 && m.seq == 0 {
			a.Unpublished += healthy
		}
		a.Duplicated += m.again
	}
	return audit.Reconcile(fates, t.chat)
}

func (c *crowd) verifyComments(t *truth, a *report.Audit, healthy int) audit.Writes {
	there := 0
	for _, n := range t.comments {
		there += n
	}
	a.Unpublished += max(0, there-c.comment.events) * healthy
	a.Duplicated += max(0, c.comment.events-there)
	return audit.Reconcile(c.comment.fates, t.comments)
}

func (c *crowd) verifyRegistrations(t *truth) audit.Writes {
	fates, found := make([]audit.Fate, c.cfg.Attendees), make([]int, c.cfg.Attendees)
	for i, p := range c.attendees() {
		fates[i] = audit.Unanswered
		if p.id != "" {
			fates[i] = audit.Acknowledged
		}
		found[i] = len(t.attendees[p.name])
	}
	return audit.Reconcile(fates, found)
}

// verifyProgress expects each attendee's progress to be the last acknowledged step, or a step that
// may have been applied after it.
func (c *crowd) verifyProgress(t *truth, a *report.Audit) audit.Writes {
	var w audit.Writes
	for _, p := range c.attendees() {
		w.Acknowledged += p.progress.acked
		for _, m := range p.unacked {
			if m.op == opProgress {
				w.Unanswered++
			}
		}
		records := t.attendees[p.name]
		if p.progress.acked == 0 || len(records) == 0 {
			continue
		}
		possible := append([]int{p.progress.last}, p.progress.doubtful...)
		for _, m := range p.unacked {
			if m.op == opProgress {
				possible = append(possible, m.number)
			}
		}
		if !slices.Contains(possible, records[0].Current) || records[0].Furthest < p.progress.furthest {
			w.Lost++
		}
		if len(c.lab.Steps) > 1 {
			a.Unpublished += max(0, p.progress.acked-p.progress.seen) * c.cfg.Facilitators
			w.Doubled += max(0, p.progress.seen-(p.progress.sent-p.progress.refused))
		}
	}
	return w
}

// verifyHelp expects an event for every acknowledged action. It also expects that the queue
// contains the unresolved requests, and no resolved request.
func (c *crowd) verifyHelp(t *truth, a *report.Audit) audit.Writes {
	var w audit.Writes
	for _, p := range c.attendees() {
		w.Acknowledged += p.help.acked
		w.Unanswered += p.help.asked - p.help.acked
		w.Lost += max(0, p.help.acked-p.help.seen)
		w.Doubled += max(0, p.help.seen-p.help.asked)
	}
	for id, h := range c.helping.requests {
		for _, act := range []struct {
			fate audit.Fate
			seen int
		}{{h.claim, h.claimed}, {h.resolve, h.solved}} {
			w.Add(audit.Reconcile([]audit.Fate{act.fate}, []int{act.seen}))
		}
		switch open := t.openHelp[id]; {
		case h.resolve == audit.Acknowledged && open:
			w.Lost++
		case h.resolve == audit.Unsent && !open:
			w.Lost++
		}
	}
	return w
}
