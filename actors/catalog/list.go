package catalog

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/cow"
	"atelier/actors/durable"
	"atelier/actors/ids"
	"atelier/actors/internal/pbwire"
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
	mu      sync.Mutex // serialises writers
	state   atomic.Pointer[listState]
}

type listState struct {
	newest  []*pb.Codelab
	encoded cow.Encoded
	byID    map[string]*pb.Codelab
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

// Put adds or replaces a codelab.
func (l *List) Put(m *pb.Codelab) {
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

// Get returns a codelab, or nil.
func (l *List) Get(id string) *pb.Codelab { return l.state.Load().byID[id] }

// ByJoinCode returns the codelab with this code, or nil.
func (l *List) ByJoinCode(code string) *pb.Codelab {
	for _, m := range l.All() {
		if m.JoinCode == code {
			return m
		}
	}
	return nil
}

// Owners returns the codelabs to which an id may belong, by the tag it
// carries.
func (l *List) Owners(id string) []string {
	tag, ok := ids.TagOf(id)
	if !ok {
		return nil
	}
	var out []string
	for _, m := range l.All() {
		if ids.Tag(m.Id) == tag {
			out = append(out, m.Id)
		}
	}
	return out
}
