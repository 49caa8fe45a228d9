package memory

import (
	"slices"
	"sync"
	"time"

	"atelier/actors/durable"
)

// FailCommits makes the next n commits fail with err. It replaces failures injected earlier. In
// this store, each batch of a log, and each append of rows without a batch, is a separate commit.
func (m *Store) FailCommits(n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures = slices.Repeat([]failure{{err: err}}, n)
}

// failure describes how one commit fails: its error, and whether the commit is applied
// nevertheless.
type failure struct {
	err  error
	done bool
}

// LoseAnswer makes the next commit without an injected failure fail with err. done determines
// whether the commit is applied nevertheless. The caller of the commit cannot distinguish the two
// cases.
func (m *Store) LoseAnswer(err error, done bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures = append(m.failures, failure{err, done})
}

// Hold blocks commits until release is called. release can be called repeatedly. Items taken from
// the queue earlier still finish. Open, Purge and Rewrite also wait, because they follow the queued
// items.
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

// SetFull makes appends fail with durable.ErrBusy, as with a full queue.
func (m *Store) SetFull(full bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.full = full
}

// SetReadOnly makes snapshots, rewrites and non-urgent appends fail with durable.ErrReadOnly, or
// lets them succeed again.
func (m *Store) SetReadOnly(readOnly bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readOnly = readOnly
}

// SetQueueBytes sets the bound beyond which Append fails with durable.ErrBusy.
func (m *Store) SetQueueBytes(limit int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit = limit
}

// SetLimits sets the result of Limits.
func (m *Store) SetLimits(l durable.Limits) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limits = l
}

// Queued returns the number of waiting items, which is exact during a Hold.
func (m *Store) Queued() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.queue)
}

// Reopen closes the store and returns a new one with the same content, as after an orderly restart.
func (m *Store) Reopen() *Store {
	_ = m.Close()
	return open(m.content, new(sync.Mutex), nil)
}

// Crash drops the queued items without calling their Done. It returns a new store with the
// committed data, as after kill -9.
func (m *Store) Crash() *Store {
	m.mu.Lock()
	m.queue = nil
	m.held = 0
	m.mu.Unlock()
	return m.Reopen()
}

// The following are operations and faults of a node.

// Lose ends the node's lease. The node notices immediately.
func (n *Node) Lose() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.content.members[n.name].until = time.Now()
	n.lose()
}

// Expire ends the node's lease. Other nodes treat it as expired, but the node itself notices only
// when it next reaches the database.
func (n *Node) Expire() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.content.members[n.name].until = time.Now()
}

// Cut blocks all calls of this node until repair is called, or its lease expires. A commit that the
// database has already received is applied, and its answer waits.
func (n *Node) Cut() (repair func()) { return n.during(&n.cut) }

// Stop pauses the process: until goOn is called, it makes no call and checks no lease. Stop does
// not affect timers, because they use the node's clock.
func (n *Node) Stop() (goOn func()) { return n.during(&n.stopped) }

func (n *Node) during(count *int) (end func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	*count++
	return sync.OnceFunc(func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		*count--
		n.changed.Broadcast()
	})
}

// Kill kills the process. keep returns how many items of the process's queue the database still
// applies. Callers that wait receive durable.ErrClosed instead of the result. The lease stays valid
// until it expires.
func (n *Node) Kill(keep func(queued int) int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.gone {
		return
	}
	queue := n.queue
	if n.working != nil {
		queue = append([]entry{*n.working}, queue...)
	}
	counted := n.counted()
	for _, e := range queue[:keep(len(queue))] {
		if counted {
			_ = e.apply()
		}
	}
	n.leave()
}
