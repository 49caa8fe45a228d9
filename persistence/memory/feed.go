package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"atelier/actors/durable"
)

// feedEvery is the polling interval of a feed.
const feedEvery = 100 * time.Millisecond

// feed reports changes to one watcher, on a separate goroutine. It polls the tables, like the feed
// of a real database. If a row changes several times between two polls, the feed delivers only the
// newest change. Guarded by the database's mu.
type feed struct {
	node     *Node
	tables   []string
	fn       func(table string, key, value []byte)
	existing map[place]struct{} // the rows that existed at the last poll
	seen     uint64             // content.changes at the last poll
	looked   time.Duration      // beginning of that poll, by the node's clock

	due          bool // a poll was requested
	begun, ended uint64
	failed       error // error of the last poll
	closed       bool
	done         chan struct{}
}

type change struct {
	place
	value []byte // nil if it was removed
}

// Watch implements durable.Shared.
func (n *Node) Watch(tables []string, fn func(table string, key, value []byte)) (durable.Feed, error) {
	f := &feed{node: n, tables: tables, fn: fn, existing: map[place]struct{}{}, done: make(chan struct{})}
	n.mu.Lock()
	n.feeds = append(n.feeds, f)
	n.mu.Unlock()
	go f.run()
	return f, f.Sync(context.Background())
}

func (f *feed) run() {
	n := f.node
	defer close(f.done)
	n.mu.Lock()
	defer n.mu.Unlock()
	for {
		stop := n.opts.AfterFunc(feedEvery, func() {
			n.mu.Lock()
			defer n.mu.Unlock()
			f.due = true
			n.changed.Broadcast()
		})
		for !f.due && !f.closed {
			n.changed.Wait()
		}
		stop()
		if f.closed {
			return
		}
		f.due = false
		f.begun++
		looking := n.opts.Uptime()
		f.failed = n.reach()
		if f.failed == nil {
			changes := f.changes()
			n.mu.Unlock()
			for _, c := range changes {
				f.fn(c.table, []byte(c.key), c.value)
			}
			n.mu.Lock()
			f.looked = looking
		}
		f.ended = f.begun
		n.changed.Broadcast()
	}
}

// changes returns the rows that were written, removed or expired since the last poll.
func (f *feed) changes() (out []change) {
	c := f.node.content
	for p, n := range c.changed {
		if n > f.seen && slices.Contains(f.tables, p.table) {
			out = append(out, change{p, nil})
		}
	}
	f.seen = c.changes
	slices.SortFunc(out, func(a, b change) int { return cmp.Compare(c.changed[a.place], c.changed[b.place]) })
	for p := range f.existing {
		if r, there := c.rows[p.table][p.key]; !there || !r.live() {
			out = append(out, change{p, nil})
		}
	}
	for i, p := range out {
		if value, err := c.get(p.table, p.key); err == nil {
			out[i].value, f.existing[p.place] = value, struct{}{}
		} else {
			delete(f.existing, p.place)
		}
	}
	return out
}

// Sync implements durable.Feed.
func (f *feed) Sync(ctx context.Context) error {
	n := f.node
	n.mu.Lock()
	defer n.mu.Unlock()
	defer context.AfterFunc(ctx, func() {
		n.mu.Lock()
		n.changed.Broadcast()
		n.mu.Unlock()
	})()
	f.due = true
	n.changed.Broadcast()
	for want := f.begun + 1; f.ended < want; {
		switch {
		case f.closed || n.gone:
			return durable.ErrClosed
		case ctx.Err() != nil:
			return ctx.Err()
		}
		n.changed.Wait()
	}
	return f.failed
}

// Age implements durable.Feed.
func (f *feed) Age() time.Duration {
	f.node.mu.Lock()
	defer f.node.mu.Unlock()
	return f.node.opts.Uptime() - f.looked
}

// Close implements durable.Feed.
func (f *feed) Close() {
	n := f.node
	n.mu.Lock()
	f.closed = true
	n.feeds = slices.DeleteFunc(n.feeds, func(o *feed) bool { return o == f })
	n.changed.Broadcast()
	n.mu.Unlock()
	<-f.done
}
