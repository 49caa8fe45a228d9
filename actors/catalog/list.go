package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"atelier/actors/clock"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/cow"
	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
	"atelier/actors/naming"
)

// ListTable is the table of the codelabs: their records by id. Each codelab
// writes its own row in the commit of the change.
const ListTable = "codelabs"

// ListRow is a codelab's row in the list.
func ListRow(m *pb.Codelab) durable.Row {
	value := pbwire.Encode(m)
	return durable.Row{Table: ListTable, Key: []byte(m.Id), Value: value}
}

// UnlistRow removes a codelab's row.
func UnlistRow(id string) durable.Row {
	return durable.Row{Table: ListTable, Key: []byte(id), Delete: true}
}

// List is the committed list of codelabs. Safe for concurrent use; records
// and slices it returns are immutable.
type List struct {
	journal durable.Journal
	feed    durable.Feed // what other nodes change; nil where there is one
	clock   clock.Clock  // with feed
	mu      sync.Mutex   // serialises writers
	state   atomic.Pointer[listState]
}

type listState struct {
	newest  []*pb.Codelab
	encoded cow.Encoded
	byID    map[string]*pb.Codelab
}

// Listed returns the record of a codelab as it is in the list, or nil.
func Listed(journal durable.Journal, id string) (*pb.Codelab, error) {
	value, err := journal.Get(ListTable, []byte(id))
	if errors.Is(err, durable.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := &pb.Codelab{}
	if err := m.Decode(value); err != nil {
		return nil, fmt.Errorf("%w: codelab %s in the list: %w", durable.ErrCorrupt, id, err)
	}
	return m, nil
}

// LoadList reads the list.
func LoadList(journal durable.Journal) (*List, error) {
	l := &List{journal: journal}
	s := &listState{byID: map[string]*pb.Codelab{}}
	var failed error
	err := journal.Scan(durable.Scan{Table: ListTable, Reverse: true}, func(key, value []byte) bool {
		m := &pb.Codelab{}
		if failed = m.Decode(value); failed != nil {
			failed = fmt.Errorf("codelab %s: %w", key, failed)
			return false
		}
		s.newest = append(s.newest, m)
		s.byID[m.Id] = m
		return true
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, fmt.Errorf("read the list of codelabs: %w", err)
	}
	l.state.Store(s)
	return l, nil
}

// FollowList is the list of a store that several nodes use. failed is told of
// records that cannot be read.
func FollowList(store durable.Shared, c clock.Clock, failed func(error)) (*List, error) {
	l := &List{journal: store, clock: c}
	l.state.Store(&listState{byID: map[string]*pb.Codelab{}})
	feed, err := store.Watch([]string{ListTable}, func(_ string, key, value []byte) {
		if value == nil {
			l.remove(string(key))
			return
		}
		m := &pb.Codelab{}
		if err := m.Decode(value); err != nil {
			failed(fmt.Errorf("codelab %s: %w", key, err))
			return
		}
		l.put(m)
	})
	if err != nil {
		return nil, fmt.Errorf("read the list of codelabs: %w", err)
	}
	l.feed = feed
	return l, nil
}

// Close ends what FollowList began.
func (l *List) Close() {
	if l.feed != nil {
		l.feed.Close()
	}
}

// syncTime bounds how long a look at what other nodes have changed may take.
const syncTime = 3 * time.Second

// Sync returns when the list shows everything that was committed before, on any
// node.
func (l *List) Sync() error {
	if l.feed == nil {
		return nil
	}
	ctx, cancel := clock.WithTimeout(context.Background(), l.clock, syncTime)
	defer cancel()
	if err := l.feed.Sync(ctx); err != nil {
		return fmt.Errorf("%w: %w", durable.ErrUnavailable, err)
	}
	return nil
}

// Put adds or replaces a codelab. Where several nodes use the store, what they
// commit comes by itself, in its order.
func (l *List) Put(m *pb.Codelab) {
	if l.feed == nil {
		l.put(m)
	}
}

func (l *List) put(m *pb.Codelab) {
	l.change(func(s *listState) {
		i, found := slices.BinarySearchFunc(s.newest, m.Id, func(a *pb.Codelab, id string) int { return strings.Compare(id, a.Id) })
		if found {
			s.newest[i] = m
		} else {
			s.newest = slices.Insert(s.newest, i, m)
		}
		s.byID[m.Id] = m
	})
}

// Remove takes a codelab out.
func (l *List) Remove(id string) {
	if l.feed == nil {
		l.remove(id)
	}
}

func (l *List) remove(id string) {
	l.change(func(s *listState) {
		s.newest = slices.DeleteFunc(s.newest, func(m *pb.Codelab) bool { return m.Id == id })
		delete(s.byID, id)
	})
}

// change replaces the state by a changed copy: codelabs are few and change
// rarely, reads are many.
func (l *List) change(fn func(*listState)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.state.Load()
	s := &listState{newest: slices.Clone(old.newest), byID: make(map[string]*pb.Codelab, len(old.byID)+1)}
	for id, m := range old.byID {
		s.byID[id] = m
	}
	fn(s)
	l.state.Store(s)
}

// All returns the codelabs, newest first.
func (l *List) All() []*pb.Codelab { return l.state.Load().newest }

// Listing returns the codelabs, newest first, and what keeps encodings of
// exactly these.
func (l *List) Listing() ([]*pb.Codelab, *cow.Encoded) {
	s := l.state.Load()
	return s.newest, &s.encoded
}

// Get returns a codelab, or nil when no node has made it. It fails with
// durable.ErrUnavailable when this node does not have it and cannot ask the
// store whether another node made it: that is not the same as nil.
func (l *List) Get(id string) (*pb.Codelab, error) {
	if err := l.seek(func() bool { return l.state.Load().byID[id] != nil }); err != nil {
		return nil, err
	}
	return l.state.Load().byID[id], nil
}

// seek syncs the list unless it already shows what the caller looks for.
func (l *List) seek(shown func() bool) error {
	if l.feed == nil || shown() {
		return nil
	}
	return l.Sync()
}

// ByJoinCode returns the codelab with this code, or nil. It fails as Get does.
func (l *List) ByJoinCode(code string) (*pb.Codelab, error) {
	if err := l.seek(func() bool { return l.byJoinCode(code) != nil }); err != nil {
		return nil, err
	}
	return l.byJoinCode(code), nil
}

func (l *List) byJoinCode(code string) *pb.Codelab {
	for _, m := range l.All() {
		if m.JoinCode == code {
			return m
		}
	}
	return nil
}

// Owners returns the codelabs to which an id may belong, by the tag it
// carries. It fails as Get does.
func (l *List) Owners(id string) ([]string, error) {
	tag, ok := naming.IDTagOf(id)
	if !ok {
		return nil, nil
	}
	if err := l.seek(func() bool { return len(l.tagged(tag)) > 0 }); err != nil {
		return nil, err
	}
	return l.tagged(tag), nil
}

func (l *List) tagged(tag uint32) (out []string) {
	for _, m := range l.All() {
		if naming.IDTag(m.Id) == tag {
			out = append(out, m.Id)
		}
	}
	return out
}
