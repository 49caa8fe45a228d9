package memory

import (
	"sync"

	"atelier/actors/durable"
)

// FailCommits lets the next n commits fail with err. Each batch, and each
// Append of rows alone, is one commit of Store.
func (m *Store) FailCommits(n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures, m.failWith = n, err
}

// Hold lets nothing be committed until release is called, which may be called
// more than once. What was taken from the queue before still ends. Open, Purge
// and Rewrite wait too: they come after what is queued.
func (m *Store) Hold() (release func()) {
	m.mu.Lock()
	m.held++
	m.mu.Unlock()
	return sync.OnceFunc(func() {
		m.mu.Lock()
		m.held--
		m.changed.Broadcast()
		m.mu.Unlock()
	})
}

// SetReadOnly lets appends that are not urgent and snapshots fail with
// durable.ErrReadOnly, or ends that.
func (m *Store) SetReadOnly(readOnly bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readOnly = readOnly
}

// SetQueueBytes sets the bound beyond which Append gives durable.ErrBusy.
func (m *Store) SetQueueBytes(limit int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit = limit
}

// SetLimits sets what Limits says.
func (m *Store) SetLimits(l durable.Limits) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limits = l
}

// Queued says how many batches wait, which is exact during a Hold.
func (m *Store) Queued() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.queue)
}

// Reopen closes the journal and returns a new one with the same content, as
// after an orderly restart.
func (m *Store) Reopen() *Store {
	_ = m.Close()
	return open(m.content)
}

// Crash loses what is queued, without calling its Done, and returns a new
// journal with what was committed, as after kill -9.
func (m *Store) Crash() *Store {
	m.mu.Lock()
	m.queue = nil
	m.held = 0
	m.mu.Unlock()
	return m.Reopen()
}
