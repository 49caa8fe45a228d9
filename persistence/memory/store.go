package memory

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"atelier/actors/durable"
)

// Store is a durable.Store in memory. One goroutine, the writer, commits batch by batch and calls
// Done, as in a real journal; Close ends it. The writer waits on a sync.Cond, so the store can be
// used in a testing/synctest bubble. Rows then expire by the bubble's clock.
type Store struct {
	mu      *sync.Mutex // guards the content, and all stores that share it
	changed *sync.Cond  // signals changes of the fields below
	content *content    // guarded by mu; Reopen passes it to the new store
	node    *Node       // the node that uses this store; nil for an unshared store

	queue   []entry
	working *entry             // the entry that was taken from the queue and is not applied yet
	bytes   int                // bytes of the entries that are queued or being applied
	limit   int                // bound of bytes
	limits  durable.Limits     // limits of one append
	current map[string]*handle // the newest handle of each actor

	closed   bool
	readOnly bool
	full     bool      // see SetFull
	held     int       // number of Holds that were not released
	failures []failure // for the next commits

	stats durable.StoreStats // counters of commits

	done chan struct{} // closed when the writer ends
}

// entry is an item of the writer's queue. apply runs with mu held, done without.
type entry struct {
	commit bool // a commit, which a test can make fail
	urgent bool // accepted even while the store is read-only
	bytes  int
	// records is the number of records, for a batch of a log.
	records int
	log     *handle // if the entry fails, later batches of this log also fail; can be nil
	apply   func() error
	done    func(error)
}

var _ durable.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store { return open(newContent(), new(sync.Mutex), nil) }

func open(c *content, mu *sync.Mutex, n *Node) *Store {
	m := &Store{
		mu: mu, content: c, node: n,
		limit:   64 << 20,
		limits:  durable.Limits{RecordBytes: maxBatch / 2, Rows: 1 << 16, RowBytes: maxBatch / 2},
		current: make(map[string]*handle),
		done:    make(chan struct{}),
	}
	m.changed = sync.NewCond(mu)
	go m.run()
	return m
}

// run is the writer.
func (m *Store) run() {
	defer close(m.done)
	for {
		e, ok := m.take()
		if !ok {
			return
		}
		if m.node != nil && e.commit && m.node.opts.Latency != nil {
			time.Sleep(m.node.opts.Latency())
		}
		m.mu.Lock()
		err := m.apply(e)
		m.working = nil
		if m.node != nil {
			if wait := m.node.opts.Answer; wait != nil && e.commit {
				m.mu.Unlock()
				time.Sleep(wait())
				m.mu.Lock()
			}
			err = m.node.answered(err)
		}
		m.bytes -= e.bytes // freed first, because a notified caller can append again immediately
		m.mu.Unlock()
		if e.done != nil {
			e.done(err)
		}
	}
}

func (m *Store) take() (entry, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.queue) == 0 || m.held > 0 && !m.closed || m.node != nil && m.node.away() {
		if m.closed && len(m.queue) == 0 {
			return entry{}, false
		}
		m.changed.Wait()
	}
	e := m.queue[0]
	m.queue, m.working = m.queue[1:], &e
	return e, true
}

func (m *Store) apply(e entry) error {
	if e.log != nil && e.log.failed != nil {
		return e.log.failed
	}
	var err error
	if m.node != nil {
		err = m.node.reach()
	}
	done := false
	if err == nil {
		done, err = m.injected(e)
	}
	if err == nil || done {
		if failed := e.apply(); failed != nil || err == nil {
			err = failed
		}
	}
	if e.commit {
		m.counted(e, err)
	}
	if err != nil && e.commit && e.log != nil && e.log.failed == nil {
		e.log.failed = fmt.Errorf("%w: after a batch that failed: %w", durable.ErrGap, err)
	}
	return err
}

func (m *Store) counted(e entry, err error) {
	if err != nil {
		m.stats.FailedCommits++
		return
	}
	m.stats.Commits++
	m.stats.Batches++
	m.stats.Records += uint64(e.records)
	m.stats.Bytes += uint64(e.bytes)
}

// injected returns the injected error of a commit, and whether the commit is applied nevertheless.
func (m *Store) injected(e entry) (done bool, err error) {
	if !e.commit || len(m.failures) == 0 {
		return false, nil
	}
	f := m.failures[0]
	m.failures = m.failures[1:]
	return f.done, f.err
}

// push queues an entry. The caller holds mu.
func (m *Store) push(e entry) error {
	switch {
	case m.closed:
		return durable.ErrClosed
	case m.node != nil && !m.node.holds():
		return durable.ErrFenced
	case e.commit && m.readOnly && !e.urgent:
		return durable.ErrReadOnly
	case e.commit && e.bytes > maxBatch:
		return durable.ErrTooLarge
	case e.commit && (m.full || m.bytes > 0 && m.bytes+e.bytes > m.limit):
		return durable.ErrBusy
	}
	m.bytes += e.bytes
	m.queue = append(m.queue, e)
	m.changed.Broadcast()
	return nil
}

// maxBatch is the size of a batch that every journal must accept, and the limit of this one.
const maxBatch = 64 << 20

// wait queues apply and waits until it has run.
func (m *Store) wait(apply func() error) error {
	done := make(chan error, 1)
	m.mu.Lock()
	err := m.push(entry{apply: apply, done: func(err error) { done <- err }})
	m.mu.Unlock()
	if err != nil {
		return err
	}
	return <-done
}

// Close commits queued entries, even during a Hold, and ends the writer.
func (m *Store) Close() error {
	m.mu.Lock()
	m.closed = true
	m.changed.Broadcast()
	m.mu.Unlock()
	<-m.done
	return nil
}

// Open implements durable.Journal.
func (m *Store) Open(actor string) (durable.Log, error) {
	if actor == "" || len(actor) > 256 || strings.IndexByte(actor, 0) >= 0 {
		return nil, fmt.Errorf("memory: actor %q", actor)
	}
	l := &handle{store: m, actor: actor}
	err := m.wait(func() (err error) {
		if m.node != nil {
			if l.epoch, err = m.node.takeLog(actor); err != nil {
				return err
			}
		}
		m.fence(actor)
		m.current[actor] = l
		l.tail = m.content.tail(actor)
		l.next = l.tail + 1
		return nil
	})
	if owned, ok := errors.AsType[*durable.Owned](err); ok {
		return nil, owned
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", actor, err)
	}
	return l, nil
}

func (m *Store) fence(actor string) {
	if old := m.current[actor]; old != nil {
		old.failed = durable.ErrFenced
		delete(m.current, actor)
	}
}

// Append implements durable.Journal.
func (m *Store) Append(rows []durable.Row, done func(error)) error {
	if err := checkRows(rows); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.push(entry{
		commit: true,
		urgent: durable.Urgent(rows),
		bytes:  rowBytes(rows),
		apply: func() error {
			if err := m.content.check(rows); err != nil {
				return err
			}
			m.content.put(rows)
			return nil
		},
		done: done,
	})
}

// Purge implements durable.Journal.
func (m *Store) Purge(actor string) error {
	return m.wait(func() error {
		if m.node != nil {
			if _, err := m.node.takeLog(actor); err != nil {
				return err
			}
			delete(m.content.owners, actor)
		}
		m.fence(actor)
		delete(m.content.actors, actor)
		return nil
	})
}

// Limits implements durable.Journal.
func (m *Store) Limits() durable.Limits {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.limits
}

// Get implements durable.Journal.
func (m *Store) Get(table string, key []byte) ([]byte, error) {
	var value []byte
	var found error
	if err := m.withContent(func() { value, found = m.content.get(table, string(key)) }); err != nil {
		return nil, err
	}
	return value, found
}

// withContent calls read, which reads the content. After Close it fails, because the content can
// then belong to another store.
func (m *Store) withContent(read func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.node != nil {
		if err := m.node.reach(); err != nil {
			return err
		}
	}
	if m.closed {
		return durable.ErrClosed
	}
	read()
	return nil
}

// Scan implements durable.Journal.
func (m *Store) Scan(q durable.Scan, fn func(key, value []byte) bool) error {
	var rows []row
	if err := m.withContent(func() { rows = m.content.scan(q) }); err != nil {
		return err
	}
	for _, r := range rows {
		if !fn([]byte(r.key), r.value) {
			return nil
		}
	}
	return nil
}

// Actors implements durable.Journal.
func (m *Store) Actors(prefix string, fn func(actor string) bool) error {
	var names []string
	if err := m.withContent(func() { names = m.content.names(prefix) }); err != nil {
		return err
	}
	for _, name := range names {
		if !fn(name) {
			return nil
		}
	}
	return nil
}

func checkRows(rows []durable.Row) error {
	for _, r := range rows {
		if r.Table == "" || strings.Trim(r.Table, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return fmt.Errorf("memory: table %q", r.Table)
		}
	}
	return nil
}

func rowBytes(rows []durable.Row) int {
	n := 64
	for _, r := range rows {
		n += len(r.Key) + len(r.Value)
	}
	return n
}

var (
	errNoRecords     = errors.New("memory: a batch needs at least one record")
	errPreconditions = errors.New("memory: rows of a log's batch cannot have preconditions")
)

func expires(ttl time.Duration) time.Time {
	if ttl <= 0 {
		return time.Time{}
	}
	return time.Now().Add(ttl)
}
