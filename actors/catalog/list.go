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
//
// A change costs the same among a hundred codelabs and a hundred thousand. The sorted list
// is made when somebody reads it, and shared by all readers until the next change.
type List struct {
	journal durable.Journal
	feed    durable.Feed // changes of other nodes; nil on a single server
	clock   clock.Clock  // with feed

	byID sync.Map // id to *pb.Codelab

	mu sync.RWMutex
	// Guarded by mu.
	oldest []*pb.Codelab // in the order of their ids, which is by time
	byCode map[string]*pb.Codelab
	byTag  map[uint32][]string // ids, see naming.IDTag
	// listing is nil once something has changed. Written with mu held.
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

// Listed returns the record of a codelab as it is in the list, or nil.
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

// read decodes a row. Its texts are parts of one string, since a hundred thousand records
// stay in memory. That makes 5.4 heap objects per codelab instead of 7.9, and the list of
// all takes 0.8 of the time (BenchmarkList of the service, four alternating runs).
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

// FollowList is the list of a store that several nodes use. failed is called for records
// that cannot be read.
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

// Close ends what FollowList began.
func (l *List) Close() {
	if l.feed != nil {
		l.feed.Close()
	}
}

// syncTime is the timeout for reading the changes of other nodes.
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

// find is called with mu held.
func (l *List) find(id string) (int, bool) {
	return slices.BinarySearchFunc(l.oldest, id, func(m *pb.Codelab, id string) int { return strings.Compare(m.Id, id) })
}

// uncode forgets the code of a codelab. It is called with mu held.
func (l *List) uncode(m *pb.Codelab) {
	if l.byCode[m.JoinCode] == m {
		delete(l.byCode, m.JoinCode)
	}
}

// Remove takes a codelab out.
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
	if s == nil { // nobody was faster
		s = &listing{newest: slices.Clone(l.oldest)}
		slices.Reverse(s.newest)
		l.listing.Store(s)
	}
	return s.newest, &s.encoded
}

// Get returns a codelab, or nil when no node has made it. It fails with
// durable.ErrUnavailable when this node does not have it and cannot ask the
// store whether another node made it: that is not the same as nil.
func (l *List) Get(id string) (*pb.Codelab, error) {
	if err := l.seek(func() bool { return l.Known(id) != nil }); err != nil {
		return nil, err
	}
	return l.Known(id), nil
}

// Known returns a codelab from this node's memory. It waits for nothing, and lacks a
// codelab that another node has just made.
func (l *List) Known(id string) *pb.Codelab {
	m, _ := l.byID.Load(id)
	out, _ := m.(*pb.Codelab)
	return out
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

func (l *List) tagged(tag uint32) []string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.byTag[tag]
}
