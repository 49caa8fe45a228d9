package audit

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"atelier/actors/clock"
	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
	"atelier/actors/naming"
)

// Tables of the audit trail. auditTable contains the records by id, and therefore ordered by time.
// auditIndex contains the ids by codelab. auditOwn contains, for each participant, the time spans
// with records of that participant. Without it, a page of the log of a participant with few records
// would cost a read of the whole trail of a busy server. If it had an entry for each record instead
// of each span, three of the seven rows that a tokenize and a detokenize write would be such
// entries.
const (
	auditTable = "audit"
	auditIndex = "auditby"
	auditOwn   = "auditown"
)

// Trail writes and reads the audit trail. Safe for concurrent use.
type Trail struct {
	journal   durable.Journal
	clock     clock.Clock
	ids       *naming.SharedIDs
	retention time.Duration
	spans     spans
	// tag ends the keys of this trail's marks (see OwnRows). It never changes. The tag keeps the
	// marks of different nodes in different rows, so that no commit waits for another node's
	// commit.
	tag string
}

// New returns the trail stored in journal; records expire after retention.
func New(journal durable.Journal, c clock.Clock, retention time.Duration) *Trail {
	return &Trail{journal: journal, clock: c, ids: naming.NewSharedIDs(c), retention: retention, tag: "!" + rand.Text()[:6]}
}

// Rows returns the rows of a record, to be committed with the recorded change. If the record has no
// id, Rows sets one. The ids of one trail increase, so that the records of successive requests are
// in order.
func (a *Trail) Rows(r *Record) []durable.Row {
	if r.Id == "" {
		r.Id = a.ids.New()
	}
	r.UserAgent = clip(r.UserAgent, 256)
	// The id is not stored in the value, because it is the key.
	id := r.Id
	r.Id = ""
	value := pbwire.Encode(r)
	r.Id = id
	rows := []durable.Row{{Table: auditTable, Key: []byte(r.Id), Value: value, TTL: a.retention}}
	if r.CodelabId != "" {
		rows = append(rows, durable.Row{Table: auditIndex, Key: indexKey(r.CodelabId, r.Id), TTL: a.retention})
	}
	return rows
}

// OwnRows returns the rows of a record that also appears in the participants' own logs (see Owned),
// where own is its additional data. For each participant, a row in auditOwn marks the span, unless
// the span is already marked. Call Committed after the rows were committed.
func (a *Trail) OwnRows(r *Record, own *Own, participants ...string) []durable.Row {
	var owners []string
	own.OfActor, own.Others = false, nil
	for _, p := range participants {
		if p == "" || slices.Contains(owners, p) {
			continue
		}
		if owners = append(owners, p); p == r.ActorId {
			own.OfActor = true
		} else {
			own.Others = append(own.Others, p)
		}
	}
	if len(owners) > 0 {
		r.Own = own
	}
	rows := a.Rows(r)
	span := spanOf(r.Id)
	for _, p := range owners {
		if !a.spans.known(p, span) {
			rows = append(rows, durable.Row{Table: auditOwn, Key: indexKey(p, span+a.tag), TTL: longer(a.retention)})
		}
	}
	return rows
}

// Committed records that rows were committed, so that later records do not mark the same span
// again.
func (a *Trail) Committed(rows []durable.Row) {
	for _, r := range rows {
		if r.Table == auditOwn {
			participant, span, _ := bytes.Cut(r.Key, []byte{0})
			a.spans.add(string(participant), spanOf(string(span)))
		}
	}
}

// spanLength is the length of the prefix that the ids of one span have in common. A span is 256 ms.
const spanLength = len("0197f3a2-7c")

func spanOf(id string) string { return id[:min(spanLength, len(id))] }

// longer returns the lifetime of a span's mark. The mark must outlive the span's last record.
func longer(retention time.Duration) time.Duration {
	if retention == 0 {
		return 0
	}
	return retention + time.Hour
}

// spans contains the participants' last marked spans.
type spans struct {
	mu     sync.Mutex
	latest map[string]string // guarded by mu; span by participant
}

// maxSpans bounds the participants whose span is kept in memory. When it is reached, all spans are
// forgotten.
const maxSpans = 10_000

func (s *spans) known(participant, span string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest[participant] == span
}

func (s *spans) add(participant, span string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.latest == nil || len(s.latest) >= maxSpans {
		s.latest = map[string]string{}
	}
	if s.latest[participant] < span {
		s.latest[participant] = span
	}
}

// Entry is an entry of a participant's own log.
type Entry struct {
	*Record
	*Own
}

// Owned returns at most limit entries of a participant's own log, newest first. before is the id of
// an entry, and Owned returns only older entries; "" begins with the newest.
func (a *Trail) Owned(participant, before string, limit int) ([]Entry, error) {
	out := []Entry{}
	scan := durable.Scan{Table: auditOwn, Prefix: indexKey(participant, ""), Reverse: true}
	if before != "" {
		scan.From = indexKey(participant, before)
	}
	for len(out) < limit {
		// All marks are read before the records, because a scan within a scan would need two
		// connections.
		spans, err := a.marked(&scan, limit)
		for _, span := range spans {
			if err == nil && len(out) < limit {
				out, err = a.ownedIn(span, participant, before, limit, out)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("read a participant's log: %w", err)
		}
		if scan.From == nil {
			break
		}
	}
	return out, nil
}

// marked reads the next spans of a scan of auditOwn, until it has read at least count marks or none
// are left. A span can have several marks, one per node. marked sets the scan's From to the first
// unread mark, or to nil if none is left.
func (a *Trail) marked(scan *durable.Scan, count int) (all []string, err error) {
	read := 0
	var next []byte
	err = a.journal.Scan(*scan, func(key, _ []byte) bool {
		span := spanOf(string(key[len(scan.Prefix):]))
		if len(all) == 0 || all[len(all)-1] != span {
			if read >= count {
				next = bytes.Clone(key)
				return false
			}
			all = append(all, span)
		}
		read++
		return true
	})
	scan.From = next
	return all, err
}

// ownedIn appends the entries of a participant's log in one span.
func (a *Trail) ownedIn(span, participant, before string, limit int, out []Entry) ([]Entry, error) {
	var failed error
	err := a.journal.Scan(durable.Scan{Table: auditTable, Prefix: []byte(span), Reverse: true}, func(id, value []byte) bool {
		if before != "" && string(id) >= before {
			return true
		}
		r := &Record{}
		if failed = r.Decode(value); failed != nil {
			return false
		}
		if r.Own.of(participant, r) {
			r.Id = string(id)
			out = append(out, Entry{r, r.Own})
		}
		return len(out) < limit
	})
	return out, errors.Join(err, failed)
}

// of reports whether a record is in a participant's own log.
func (o *Own) of(participant string, r *Record) bool {
	return o.GetOfActor() && r.ActorId == participant || slices.Contains(o.GetOthers(), participant)
}

// scanIndex calls visit for each record that an index lists below the scan's prefix, until visit
// returns false.
func (a *Trail) scanIndex(scan durable.Scan, visit func(id, record []byte) bool) error {
	var failed error
	err := a.journal.Scan(scan, func(key, _ []byte) bool {
		id := key[len(scan.Prefix):]
		record, err := a.journal.Get(auditTable, id)
		if errors.Is(err, durable.ErrNotFound) {
			return true // expired between the two reads
		}
		if failed = err; failed != nil {
			return false
		}
		return visit(id, record)
	})
	return errors.Join(err, failed)
}

// Record commits a record outside an actor's change and waits for it. It can use the reserved space
// of a full disk, because otherwise nobody could sign in to delete something.
func (a *Trail) Record(r *Record) error {
	return durable.Commit(a.journal, durable.MakeUrgent(a.Rows(r)))
}

// Query selects records.
type Query struct {
	Limit, Offset     int
	CodelabID, Action string
	// OfCodelabs omits records without a codelab.
	OfCodelabs bool
	// Person is the id of the person who acted or who was affected.
	Person string
}

// Find returns records, newest first.
func (a *Trail) Find(q Query) ([]*Record, error) {
	out := []*Record{}
	skip := q.Offset
	var failed error
	take := func(id, value []byte) bool {
		r := &Record{}
		if failed = r.Decode(value); failed != nil {
			return false
		}
		r.Id = string(id)
		if q.OfCodelabs && r.CodelabId == "" || q.Action != "" && r.Action != q.Action || q.Person != "" && r.ActorId != q.Person && r.TargetId != q.Person {
			return true
		}
		if skip > 0 {
			skip--
			return true
		}
		out = append(out, r)
		return len(out) < q.Limit
	}
	var err error
	if q.CodelabID == "" {
		err = a.journal.Scan(durable.Scan{Table: auditTable, Reverse: true}, take)
	} else {
		scan := durable.Scan{Table: auditIndex, Prefix: indexKey(q.CodelabID, ""), Reverse: true}
		err = a.scanIndex(scan, take)
	}
	if err != nil {
		return nil, fmt.Errorf("read audit trail: %w", err)
	}
	if failed != nil {
		return nil, fmt.Errorf("read audit trail: %w", failed)
	}
	return out, nil
}

func indexKey(codelab, id string) []byte {
	return append(append([]byte(codelab), 0), id...)
}

// clip truncates a text from a client to limit bytes at a rune boundary.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && s[limit]&0xc0 == 0x80 {
		limit--
	}
	return s[:limit]
}
