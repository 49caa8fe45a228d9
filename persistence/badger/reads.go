package badger

import (
	"sync"
	"sync/atomic"

	badgerdb "github.com/dgraph-io/badger/v4"
)

// reads lets look-ups of single rows share a transaction until the next commit. With one
// transaction per look-up, each look-up took two channel operations to a single Badger goroutine.
// At 30,000 look-ups per second, this goroutine was the bottleneck for all callers, including the
// writer.
//
// A look-up includes everything that was acknowledged before it began, because a commit advances
// the generation before it is acknowledged.
type reads struct {
	db         *badgerdb.DB
	generation atomic.Uint64 // number of commits
	current    atomic.Pointer[view]
	mu         sync.Mutex // held to replace current
}

// view is a transaction that many readers share. They can do so, because Badger's Get changes
// nothing in a read-only transaction.
type view struct {
	txn        *badgerdb.Txn
	generation uint64
	users      atomic.Int64 // readers, plus one while the view is current; at 0 the view is discarded
}

// committed ends the current view for later readers, without waiting for current readers. The next
// reader would replace it anyway, but until then Badger would keep all data that was replaced since
// the view began.
func (r *reads) committed() {
	r.generation.Add(1)
	r.put(nil)
}

// put makes v, which can be nil, the current view. It also releases the use that the old view had
// because it was current.
func (r *reads) put(v *view) {
	if old := r.current.Swap(v); old != nil {
		old.leave()
	}
}

// enter returns a view of everything committed so far. The caller must leave it.
func (r *reads) enter() *view {
	for {
		if v := r.current.Load(); v != nil && v.generation >= r.generation.Load() && v.enter() {
			return v
		}
		r.renew()
	}
}

func (r *reads) renew() {
	r.mu.Lock()
	defer r.mu.Unlock()
	// The generation is read before the transaction begins, so the transaction includes at least
	// this generation.
	generation := r.generation.Load()
	if v := r.current.Load(); v != nil && v.generation >= generation {
		return // another reader was faster
	}
	v := &view{txn: r.db.NewTransaction(false), generation: generation}
	v.users.Store(1)
	r.put(v)
}

func (v *view) enter() bool {
	for {
		n := v.users.Load()
		if n == 0 {
			return false
		}
		if v.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (v *view) leave() {
	if v.users.Add(-1) == 0 {
		v.txn.Discard()
	}
}

// close ends the last view. No reader must be active.
func (r *reads) close() { r.put(nil) }
