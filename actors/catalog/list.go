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

// ListTable is the table of codelab records by id. Each codelab writes its own row in the commit of
// the change.
const ListTable = "codelabs"

// ListRow returns the row that stores a codelab's record in the list.
func ListRow(m *pb.Codelab) durable.Row {
	value := pbwire.Encode(m)
	return durable.Row{Table: ListTable, Key: []byte(m.Id), Value: value}
}

// UnlistRow returns the row that removes a codelab from the list.
func UnlistRow(id string) durable.Row {
	return durable.Row{Table: ListTable, Key: []byte(id), Delete: true}
}

// List is the committed list of codelabs. Safe for concurrent use. Callers must not modify the
// records and slices that it returns.
//
// The list for readers is built at the first read after a change, and all readers share it until
// the next change.
type List struct {
	journal durable.Journal
	feed    durable.Feed // the changes of other nodes, or nil on a single server
	clock   clock.Clock  // set only with feed

	byID sync.Map // id to *pb.Codelab

	mu sync.RWMutex
	// Guarded by mu.
	oldest []*pb.Codelab // sorted by id, which is by time
	byCode map[string]*pb.Codelab
	byTag  map[uint32][]string // ids, see naming.IDTag
	// listing is nil after a change. Written with mu held.
	listing atomic.Pointer[listing]
}

// listing is the list as readers see it. Immutable, except for its cached encodings.
type listing struct {
	newest  []*pb.Codelab
	encoded cow.Encoded
}

func newList(journal durable.Journal, c clock.Clock) *List {
	return &List{journal: journal, clock: c, byCode: map[string]*pb.Codelab{}, byTag: map[uint32][]string{}}
}

// Listed returns a codelab's record in the list, or nil.
func Listed(journal durable.Journal, id string) (*pb.Codelab, error) {
	value, err := journal.Get(ListTable, []byte(id))
	if errors.Is(err, durable.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := read([]byte(id), value)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", durable.ErrCorrupt, err)
	}
	return m, nil
}

// read decodes a row. It stores the texts that most records have as parts of one string, because a
// hundred thousand records stay in memory. A codelab then takes 5.4 heap objects instead of 7.9,
// and building the list takes 0.8 of the time (BenchmarkList of package service, four alternating
// runs).
func read(key, value []byte) (*pb.Codelab, error) {
	m := &pb.Codelab{}
	if err := m.Decode(value); err != nil {
		return nil, fmt.Errorf("codelab %s in the list: %w", key, err)
	}
	texts := []*string{&m.Id, &m.Title, &m.Description, &m.Author, &m.JoinCode, &m.Slug, &m.SourceId}
	var all strings.Builder
	for _, text := range texts {
		all.WriteString(*text)
	}
	one := all.String()
	for _, text := range texts {
		*text, one = one[:len(*text)], one[len(*text):]
	}
	return m, nil
}

// LoadList reads the list.
func LoadList(journal durable.Journal) (*List, error) {
	l := newList(journal, nil)
	var failed error
	err := journal.Scan(durable.Scan{Table: ListTable}, func(key, value []byte) bool {
		var m *pb.Codelab
		if m, failed = read(key, value); failed == nil {
			l.put(m)
		}
		return failed == nil
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, fmt.Errorf("read the list of codelabs: %w", err)
	}
	return l, nil
}

// FollowList returns the codelab list of a store that several nodes use. failed is called for
// unreadable records.
func FollowList(store durable.Shared, c clock.Clock, failed func(error)) (*List, error) {
	l := newList(store, c)
	feed, err := store.Watch([]string{ListTable}, func(_ string, key, value []byte) {
		if value == nil {
			l.remove(string(key))
			return
		}
		m, err := read(key, value)
		if err != nil {
			failed(err)
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

// Close stops receiving the changes of other nodes.
func (l *List) Close() {
	if l.feed != nil {
		l.feed.Close()
	}
}

// syncTime is the timeout for reading the changes of other nodes.
const syncTime = 3 * time.Second

// Sync returns when the list includes all earlier commits of any node. After syncTime it fails with
// durable.ErrUnavailable.
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

// Put adds or replaces a codelab. If several nodes share the store, it does nothing, because the
// feed delivers all commits in order.
func (l *List) Put(m *pb.Codelab) {
	if l.feed == nil {
		l.put(m)
	}
}

func (l *List) put(m *pb.Codelab) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, found := l.find(m.Id)
	if found {
		l.uncode(l.oldest[i])
		l.oldest[i] = m
	} else {
		l.oldest = slices.Insert(l.oldest, i, m)
		tag := naming.IDTag(m.Id)
		l.byTag[tag] = append(slices.Clip(l.byTag[tag]), m.Id)
	}
	if m.JoinCode != "" {
		l.byCode[m.JoinCode] = m
	}
	l.byID.Store(m.Id, m)
	l.listing.Store(nil)
}

// find returns a codelab's index in oldest. The caller holds mu.
func (l *List) find(id string) (int, bool) {
	return slices.BinarySearchFunc(l.oldest, id, func(m *pb.Codelab, id string) int { return strings.Compare(m.Id, id) })
}

// uncode removes a codelab's join code. The caller holds mu.
func (l *List) uncode(m *pb.Codelab) {
	if l.byCode[m.JoinCode] == m {
		delete(l.byCode, m.JoinCode)
	}
}

// Remove removes a codelab. Like Put, it does nothing if several nodes share the store.
func (l *List) Remove(id string) {
	if l.feed == nil {
		l.remove(id)
	}
}

func (l *List) remove(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, found := l.find(id)
	if !found {
		return
	}
	l.uncode(l.oldest[i])
	l.oldest = slices.Delete(l.oldest, i, i+1)
	tag := naming.IDTag(id)
	if left := slices.DeleteFunc(slices.Clone(l.byTag[tag]), func(other string) bool { return other == id }); len(left) > 0 {
		l.byTag[tag] = left
	} else {
		delete(l.byTag, tag)
	}
	l.byID.Delete(id)
	l.listing.Store(nil)
}

// All returns the codelabs, newest first.
func (l *List) All() []*pb.Codelab {
	all, _ := l.Listing()
	return all
}

// Listing returns the codelabs, newest first, and the cache of their encodings.
func (l *List) Listing() ([]*pb.Codelab, *cow.Encoded) {
	if s := l.listing.Load(); s != nil {
		return s.newest, &s.encoded
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.listing.Load()
	if s == nil { // no concurrent reader was faster
		s = &listing{newest: slices.Clone(l.oldest)}
		slices.Reverse(s.newest)
		l.listing.Store(s)
	}
	return s.newest, &s.encoded
}

// Get returns a codelab, or nil if it does not exist. If this node does not know the codelab and
// cannot read the changes of other nodes, Get fails with durable.ErrUnavailable.
func (l *List) Get(id string) (*pb.Codelab, error) {
	if err := l.seek(func() bool { return l.Known(id) != nil }); err != nil {
		return nil, err
	}
	return l.Known(id), nil
}

// Known returns a codelab from this node's memory, or nil. It never waits, and can miss the latest
// changes of other nodes.
func (l *List) Known(id string) *pb.Codelab {
	m, _ := l.byID.Load(id)
	out, _ := m.(*pb.Codelab)
	return out
}

// seek syncs the list unless it already shows the wanted codelab.
func (l *List) seek(shown func() bool) error {
	if l.feed == nil || shown() {
		return nil
	}
	return l.Sync()
}

// ByJoinCode returns the codelab with this code, or nil. It fails as Get does.
func (l *List) ByJoinCode(code string) (*pb.Codelab, error) {
	if err := l.seek(func() bool { return l.ofCode(code) != nil }); err != nil {
		return nil, err
	}
	return l.ofCode(code), nil
}

func (l *List) ofCode(code string) *pb.Codelab {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.byCode[code]
}

// Owners returns the ids of the codelabs to which an id can belong, according to its tag. It fails
// as Get does.
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

func (l *List) tagged(tag uint32) []string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.byTag[tag]
}
