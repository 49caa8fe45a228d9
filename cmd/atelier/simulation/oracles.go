package simulation

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"atelier/actors/codelab"
	"atelier/actors/durable"
)

// model knows what was acknowledged and checks what nodes show against it. It
// is no second implementation: it knows of each person and message only since
// when it must be there, and since when it must be gone.
type model struct {
	w *world

	mu       sync.Mutex
	people   map[string]*fact // by id
	messages map[string]*fact // by id
	// views are the hashes of what was seen at a position, and where.
	views map[uint64]seen
	acked uint64 // the highest position that was acknowledged to anybody
	// removed are the names of people who are gone: no byte of them may stay.
	removed []string
	deleted []string // ids of codelabs of which nothing may stay
	failure string   // the first one
}

// fact is something that an acknowledged command made.
type fact struct {
	names []string
	since uint64 // the position of its event
	// ending: a command that removes it was sent; it may be gone since.
	ending bool
	// gone is the position at which it was removed, once that is acknowledged.
	gone uint64
	of   [2]string // whose message it is, and for whom
}

type seen struct {
	sum   [32]byte
	where string
}

func newModel(w *world) *model {
	return &model{w: w, people: map[string]*fact{}, messages: map[string]*fact{}, views: map[uint64]seen{}}
}

// fail notes what an oracle found. The first finding counts.
func (m *model) fail(oracle, format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failLocked(oracle, format, args...)
}

func (m *model) failLocked(oracle, format string, args ...any) {
	text := oracle + ": " + fmt.Sprintf(format, args...)
	m.w.history.add("ORACLE", "%s", text)
	if m.failure == "" {
		m.failure = text
		close(m.w.ended)
	}
}

func (m *model) failed() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failure
}

// position is what a read that begins now must show.
func (m *model) position() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.acked
}

// acknowledged notes that a command was done.
func (m *model) acknowledged(seq uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acked = max(m.acked, seq)
}

func (m *model) registered(id, name string, seq uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := of(m.people, id)
	f.names, f.since = append(f.names, name), seq
	if f.gone > 0 {
		m.removed = append(m.removed, f.names...)
	}
}

// naming notes a name that somebody is about to get.
func (m *model) naming(id, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := of(m.people, id)
	if f.names = append(f.names, name); f.gone > 0 {
		m.removed = append(m.removed, name)
	}
}

// deletedLab notes that a codelab of its own was deleted.
func (m *model) deletedLab(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deleted = append(m.deleted, id)
}

func (m *model) posted(id string, seq uint64, by, to string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := of(m.messages, id)
	f.since, f.of = seq, [2]string{by, to}
	f.ending = f.ending || of(m.people, by).ending || to != "" && of(m.people, to).ending
}

// of returns the fact with this id. Somebody may see and remove what another
// client made before that one hears that it was made.
func of(facts map[string]*fact, id string) *fact {
	f := facts[id]
	if f == nil {
		f = &fact{}
		facts[id] = f
	}
	return f
}

// removing notes that a command is about to remove somebody, and removed that it
// was acknowledged.
func (m *model) removing(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	of(m.people, id).ending = true
	for _, f := range m.messages {
		f.ending = f.ending || f.of[0] == id || f.of[1] == id
	}
}

func (m *model) wasRemoved(id string, seq uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := of(m.people, id); f.gone == 0 {
		f.gone = seq
		m.removed = append(m.removed, f.names...)
	}
}

func (m *model) deleting(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	of(m.messages, id).ending = true
}

func (m *model) wasDeleted(id string, seq uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := of(m.messages, id); f.gone == 0 {
		f.gone = seq
	}
}

// checkRead is oracle 3 in small: a read shows what was acknowledged before it
// began.
func (m *model) checkRead(where string, began, seq uint64) {
	if seq < began {
		m.fail("reads", "%s shows position %d, %d was acknowledged before the read began", where, seq, began)
	}
}

// checkView holds a view to oracles 1, 2 and 5: what was acknowledged up to its
// position is there, once; who was removed is not; and every node shows the same
// at the same position.
func (m *model) checkView(where string, v *codelab.View, seq uint64) {
	if v == nil {
		return
	}
	state, err := codelab.EncodeState(v)
	if err != nil {
		m.fail("view", "%s: %v", where, err)
		return
	}
	sum := sha256.Sum256(state)
	m.mu.Lock()
	defer m.mu.Unlock()
	if before, ok := m.views[seq]; !ok {
		m.views[seq] = seen{sum, where}
	} else {
		if before.sum != sum {
			m.failLocked("same view", "at position %d %s shows another state than %s", seq, where, before.where)
		}
		return // the facts were checked then; newer ones are at the next position
	}
	for id, f := range m.people {
		m.checkFact(where, "attendee "+id, f, v.Attendee(id) != nil, seq)
	}
	for id, f := range m.messages {
		m.checkFact(where, "message "+id, f, v.ChatMessage(id) != nil, seq)
	}
}

func (m *model) checkFact(where, what string, f *fact, there bool, seq uint64) {
	switch {
	case f.gone > 0 && seq >= f.gone && there:
		m.failLocked("removed", "%s at position %d shows %s, which was removed at %d", where, seq, what, f.gone)
	case f.since > 0 && !f.ending && seq >= f.since && !there:
		m.failLocked("acknowledged", "%s at position %d lacks %s, acknowledged at %d", where, seq, what, f.since)
	}
}

// checkStore is oracle 5 for what is stored: no byte of a removed person is left
// in snapshot, log or rows. It is asked when erasing is done.
func (m *model) checkStore(n *node) {
	m.mu.Lock()
	removed, deleted := m.removed, m.deleted
	m.mu.Unlock()
	for _, id := range deleted {
		tail := uint64(0)
		if r, err := n.shared.Follow("codelab/" + id); err == nil {
			tail, _ = r.Tail()
			r.Close()
		}
		if _, err := n.shared.Get("codelabs", []byte(id)); tail > 0 || !errors.Is(err, durable.ErrNotFound) {
			m.fail("deleted", "codelab %s, which was deleted, is still there: %d records, row: %v", id, tail, err)
		}
	}
	look := func(where string, data []byte) {
		for _, name := range removed {
			if bytes.Contains(data, []byte(name)) {
				m.fail("erased", "%s still holds %s, who was removed", where, name)
			}
		}
	}
	r, err := n.shared.Follow("codelab/" + m.w.lab)
	if err != nil {
		m.fail("store", "%v", err)
		return
	}
	defer r.Close()
	err = r.Load(^uint64(0), func(s durable.Snapshot) error {
		look("the snapshot", s.State)
		return nil
	}, func(seq uint64, record []byte) error {
		look(fmt.Sprintf("record %d", seq), record)
		return nil
	})
	if err == nil {
		for _, table := range []string{"codelabs", "erasure"} {
			err = n.shared.Scan(durable.Scan{Table: table}, func(key, value []byte) bool {
				look(fmt.Sprintf("row %q of %s", key, table), value)
				return true
			})
		}
	}
	if err != nil {
		m.fail("store", "%v", err)
	}
}
