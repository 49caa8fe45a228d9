package memory

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier/actors/durable"
)

// Node is one of several that share a Store: a durable.Shared for the tests of
// what stands on it. Leases do not run out by themselves; a test ends them.
type Node struct {
	*Store
	name string
	all  *nodes
}

// nodes is what the nodes of a store share. Guarded by the store's mu.
type nodes struct {
	alive  map[string]*lease
	owners map[string]*nodeLog // by actor
	feeds  []*feed
}

type lease struct {
	incarnation uint64
	lost        chan struct{}
	over        bool
}

var _ durable.Shared = (*Node)(nil)

// Share returns n nodes on one empty store, named n1, n2 and so on. Closing any
// of them gives what it owns back; the store itself is closed by its Close.
func Share(n int) (*Store, []*Node) {
	s := New()
	all := &nodes{alive: map[string]*lease{}, owners: map[string]*nodeLog{}}
	s.content.watched = all.changed
	var out []*Node
	for i := range n {
		node := &Node{s, "n" + string(rune('1'+i)), all}
		all.alive[node.name] = &lease{incarnation: 1, lost: make(chan struct{})}
		out = append(out, node)
	}
	return s, out
}

// nodeLog is a log as a node has it open.
type nodeLog struct {
	durable.Log
	node *Node
	*lease
	actor string
}

// Open implements durable.Journal.
func (n *Node) Open(actor string) (durable.Log, error) {
	n.mu.Lock()
	mine := n.all.alive[n.name]
	if mine.over {
		n.mu.Unlock()
		return nil, durable.ErrFenced
	}
	owner := n.all.owners[actor]
	if owner != nil && !owner.over && owner.node.name != n.name {
		n.mu.Unlock()
		return nil, &durable.Owned{Actor: actor, Node: owner.node.name}
	}
	l := &nodeLog{node: n, lease: mine, actor: actor}
	n.all.owners[actor] = l
	n.mu.Unlock()
	log, err := n.Store.Open(actor)
	l.Log = log
	return l, err
}

// Append implements durable.Log.
func (l *nodeLog) Append(b durable.Batch) error {
	if !l.node.Holds() {
		return durable.ErrFenced
	}
	return l.Log.Append(b)
}

// Close implements durable.Log.
func (l *nodeLog) Close() {
	l.Log.Close()
	l.node.mu.Lock()
	defer l.node.mu.Unlock()
	if l.node.all.owners[l.actor] == l {
		delete(l.node.all.owners, l.actor)
	}
}

// Append implements durable.Journal.
func (n *Node) Append(rows []durable.Row, done func(error)) error {
	if !n.Holds() {
		return durable.ErrFenced
	}
	return n.Store.Append(rows, done)
}

// Node implements durable.Shared.
func (n *Node) Node() string { return n.name }

// Holds implements durable.Shared.
func (n *Node) Holds() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.all.alive[n.name].over
}

// Lost implements durable.Shared.
func (n *Node) Lost() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all.alive[n.name].lost
}

// Lose ends the node's lease. It knows of it at once.
func (n *Node) Lose() {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.all.alive[n.name]
	if !l.over {
		l.over = true
		close(l.lost)
	}
}

// Rejoin implements durable.Shared.
func (n *Node) Rejoin(context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.all.alive[n.name]
	n.all.alive[n.name] = &lease{incarnation: before.incarnation + 1, lost: make(chan struct{})}
	return nil
}

// Owner implements durable.Shared.
func (n *Node) Owner(actor string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if o := n.all.owners[actor]; o != nil && !o.over {
		return o.node.name, nil
	}
	return "", nil
}

// Members implements durable.Shared.
func (n *Node) Members() ([]durable.Member, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []durable.Member
	for name, l := range n.all.alive {
		m := durable.Member{Node: name, Incarnation: l.incarnation, Left: time.Second}
		if l.over {
			m.Left = 0
		}
		for _, o := range n.all.owners {
			if o.lease == l {
				m.Owns++
			}
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b durable.Member) int { return strings.Compare(a.Node, b.Node) })
	return out, nil
}

// feed tells one watcher what has changed, on a goroutine of its own.
type feed struct {
	store  *Store
	all    *nodes
	tables []string
	fn     func(table string, key, value []byte)

	mu      sync.Mutex
	changed *sync.Cond
	queue   []change // guarded by mu
	told    uint64   // guarded by mu
	taken   uint64   // guarded by mu
	closed  bool     // guarded by mu
	done    chan struct{}
}

type change struct {
	table      string
	key, value []byte
}

// Watch implements durable.Shared.
func (n *Node) Watch(tables []string, fn func(table string, key, value []byte)) (durable.Feed, error) {
	f := &feed{store: n.Store, all: n.all, tables: tables, fn: fn, done: make(chan struct{})}
	f.changed = sync.NewCond(&f.mu)
	n.mu.Lock()
	for _, table := range tables {
		for _, r := range n.content.scan(durable.Scan{Table: table}) {
			f.queue = append(f.queue, change{table, []byte(r.key), r.value})
			f.told++
		}
	}
	n.all.feeds = append(n.all.feeds, f)
	n.mu.Unlock()
	go f.run()
	return f, f.Sync(context.Background())
}

// changed is called with the store's mu held.
func (a *nodes) changed(r durable.Row) {
	for _, f := range a.feeds {
		if slices.Contains(f.tables, r.Table) {
			value := r.Value
			if r.Delete {
				value = nil
			}
			f.mu.Lock()
			f.queue = append(f.queue, change{r.Table, slices.Clone(r.Key), slices.Clone(value)})
			f.told++
			f.mu.Unlock()
			f.changed.Broadcast()
		}
	}
}

func (f *feed) run() {
	defer close(f.done)
	for {
		f.mu.Lock()
		for len(f.queue) == 0 && !f.closed {
			f.changed.Wait()
		}
		queue := f.queue
		f.queue = nil
		closed := f.closed
		f.mu.Unlock()
		if closed {
			return
		}
		for _, c := range queue {
			f.fn(c.table, c.key, c.value)
		}
		f.mu.Lock()
		f.taken += uint64(len(queue))
		f.mu.Unlock()
		f.changed.Broadcast()
	}
}

// Sync implements durable.Feed.
func (f *feed) Sync(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for until := f.told; f.taken < until && !f.closed; {
		f.changed.Wait()
	}
	return nil
}

// Age implements durable.Feed.
func (f *feed) Age() time.Duration { return 0 }

// Close implements durable.Feed.
func (f *feed) Close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.changed.Broadcast()
	<-f.done
	f.store.mu.Lock()
	defer f.store.mu.Unlock()
	f.all.feeds = slices.DeleteFunc(f.all.feeds, func(o *feed) bool { return o == f })
}
