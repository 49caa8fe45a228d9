package simulation

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"

	"atelier/actors/codelab"
	"atelier/actors/durable"
)

// watchLease makes the check "out". It reads a node's lease in the database before a request. The
// caller calls answered when the node has answered. If the lease had already expired before the
// request, and the node has not rejoined since, answered reports a finding.
func (w *world) watchLease(n *node) (answered func(what string)) {
	before, held := w.store.Lease(n.name)
	return func(what string) {
		if now, _ := w.store.Lease(n.name); !held && now == before {
			w.model.fail("out", "%s answered %s although its lease had ended before the request", n.name, what)
		}
	}
}

// marks matches the texts that package draw generates.
var marks = regexp.MustCompile(`[a-z]+-[0-9]+-of-[a-z0-9-]*[a-z0-9]`)

// found returns the texts of a set that occur in data. It also tries shorter matches, because a
// match can include adjacent bytes that look like a part of the text.
func found(data []byte, of map[string]bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, m := range marks.FindAllString(string(data), -1) {
			for from := 0; from < len(m) && m[from] != '-'; from++ {
				for to := len(m); to > from && m[to-1] != '-'; to-- {
					if of[m[from:to]] && !yield(m[from:to]) {
						return
					}
				}
			}
		}
	}
}

// checkStore makes the checks "erased" and "anonymous" for stored data, after erasing has completed.
// No text of a removed person remains in a snapshot, log or row.
func (m *model) checkStore(j durable.Journal) {
	gone := map[string]bool{}
	m.mu.Lock()
	for _, text := range m.removed {
		gone[text] = m.names[text] < 2
	}
	m.mu.Unlock()
	counted := m.counted()
	check := func(where string, data []byte) {
		for text := range found(data, gone) {
			m.fail("erased", "%s still contains %s, which was removed", where, text)
		}
	}
	r, err := j.Follow(m.log)
	if err != nil {
		m.fail("store", "%v", err)
		return
	}
	defer r.Close()
	err = r.Load(^uint64(0), func(s durable.Snapshot) error {
		check("the snapshot", s.State)
		return nil
	}, func(seq uint64, record []byte) error {
		check(fmt.Sprintf("record %d", seq), record)
		if e, err := codelab.ParseEvent(record); err == nil && len(e.GetPollVoted().GetBallot()) > 0 && seq < counted[e.GetPollVoted().PollId] {
			m.fail("anonymous", "record %d still contains the ballot of %s after the poll was counted", seq, e.GetPollVoted().AttendeeId)
		}
		return nil
	})
	if err == nil {
		for _, table := range []string{"codelabs", "erasure"} {
			err = j.Scan(durable.Scan{Table: table}, func(key, value []byte) bool {
				check(fmt.Sprintf("row %q of %s", key, table), value)
				return true
			})
		}
	}
	if err != nil {
		m.fail("store", "%v", err)
	}
}

// counted returns the last position at which each poll's ballots were removed. After erasing, no
// record before this position contains a ballot.
func (m *model) counted() map[string]uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := map[string]uint64{}
	for seq := uint64(1); seq <= uint64(len(m.records)); seq++ {
		e, err := m.event(seq)
		if err != nil {
			continue // checkReference reports an unreadable record
		}
		if b := e.GetPollChanged(); b.GetBallotsGone() {
			last[b.Poll.Id] = seq
		}
		if b := e.GetPollDeleted(); b != nil {
			last[b.PollId] = seq
		}
	}
	return last
}

// checkDeleted makes the check "deleted". Nothing of a deleted codelab remains.
func (m *model) checkDeleted(j durable.Journal) {
	m.mu.Lock()
	deleted := m.deleted
	m.mu.Unlock()
	for _, id := range deleted {
		m.checkGone(j, id)
	}
}

func (m *model) checkGone(j durable.Journal, id string) {
	tail := uint64(0)
	if r, err := j.Follow("codelab/" + id); err == nil {
		tail, _ = r.Tail()
		r.Close()
	}
	if _, err := j.Get("codelabs", []byte(id)); tail > 0 || !errors.Is(err, durable.ErrNotFound) {
		m.fail("deleted", "the deleted codelab %s still exists: %d records, row: %v", id, tail, err)
	}
}

// checkRest makes the check "rest". Everything unused is removed.
func (w *world) checkRest() {
	for actor, node := range w.store.Owners() {
		if strings.HasPrefix(actor, "participants/") { // participants stay active
			continue
		}
		w.model.fail("rest", "%s still owns the unused actor %s", node, actor)
	}
	for _, n := range w.nodes {
		if s := n.server.Load(); s != nil && len(s.labs.Active()) > 0 {
			w.model.fail("rest", "%s still has %d unused codelabs in memory", n.name, len(s.labs.Active()))
		}
		for _, subject := range w.net.Listens(n.name) {
			if strings.HasPrefix(subject, "actor.codelab.") {
				w.model.fail("rest", "%s still subscribes to the unused subject %s", n.name, subject)
			}
		}
	}
	w.store.View(w.checkErasure)
}

func (w *world) checkErasure(j durable.Journal) {
	err := j.Scan(durable.Scan{Table: "erasure"}, func(key, _ []byte) bool {
		w.model.fail("rest", "the row that requests an erasure of %s still exists", key)
		return false
	})
	if err != nil {
		w.model.fail("store", "%v", err)
	}
}
