package audit

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"atelier/actors/clock"
	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
	"atelier/actors/naming"
)

// Tables of the audit trail: the records by id, which is by time, and an index
// of the ids by codelab. A participant's own log is an index of its own: without it a
// page of a person with few records would read the whole trail of a busy server.
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
}

// New returns the trail kept in journal; records disappear after
// retention.
func New(journal durable.Journal, c clock.Clock, retention time.Duration) *Trail {
	return &Trail{journal, c, naming.NewSharedIDs(c), retention}
}

// Rows returns the rows of a record, to be committed with the recorded change. It fills in
// an empty id. The ids of one trail increase, so the records of successive requests are in
// their order.
func (a *Trail) Rows(r *Record) []durable.Row {
	if r.Id == "" {
		r.Id = a.ids.New()
	}
	r.UserAgent = clip(r.UserAgent, 256)
	// The id is the key.
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

// OwnRows are the rows of a record that belongs to the own logs of participants, with the
// additional data own; see Owned.
func (a *Trail) OwnRows(r *Record, own *Own, participants ...string) []durable.Row {
	rows := a.Rows(r)
	value := pbwire.Encode(own)
	for i, p := range participants {
		if p != "" && !slices.Contains(participants[:i], p) {
			rows = append(rows, durable.Row{Table: auditOwn, Key: indexKey(p, r.Id), Value: value, TTL: a.retention})
		}
	}
	return rows
}

// Entry is a line of a participant's own log.
type Entry struct {
	*Record
	*Own
}

// Owned returns what a participant's own log says, newest first. before is the id of an
// entry, "" to begin with the newest.
func (a *Trail) Owned(participant, before string, limit int) ([]Entry, error) {
	out := []Entry{}
	scan := durable.Scan{Table: auditOwn, Prefix: indexKey(participant, ""), Reverse: true}
	if before != "" {
		scan.From = indexKey(participant, before)
	}
	var failed error
	err := a.scanIndex(scan, func(id, record, own []byte) bool {
		if string(id) == before {
			return true
		}
		e := Entry{&Record{}, &Own{}}
		if failed = errors.Join(e.Record.Decode(record), e.Own.Decode(own)); failed != nil {
			return false
		}
		e.Id = string(id)
		out = append(out, e)
		return len(out) < limit
	})
	if err = errors.Join(err, failed); err != nil {
		return nil, fmt.Errorf("read a participant's log: %w", err)
	}
	return out, nil
}

// scanIndex reads the records that an index names, below the prefix of the scan. visit
// gets what the index holds beside each.
func (a *Trail) scanIndex(scan durable.Scan, visit func(id, record, beside []byte) bool) error {
	var failed error
	err := a.journal.Scan(scan, func(key, beside []byte) bool {
		id := key[len(scan.Prefix):]
		record, err := a.journal.Get(auditTable, id)
		if errors.Is(err, durable.ErrNotFound) {
			return true // expired between the two reads
		}
		if failed = err; failed != nil {
			return false
		}
		return visit(id, record, beside)
	})
	return errors.Join(err, failed)
}

// Record commits a record that belongs to no actor's change and waits for it. It
// is urgent: without it nobody could sign in and delete something.
func (a *Trail) Record(r *Record) error {
	return durable.Commit(a.journal, durable.MakeUrgent(a.Rows(r)))
}

// Query selects records.
type Query struct {
	Limit, Offset     int
	CodelabID, Action string
	// OfCodelabs leaves out what belongs to none.
	OfCodelabs bool
	// Person is the person who did it, or the person affected.
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
		err = a.scanIndex(scan, func(id, record, _ []byte) bool { return take(id, record) })
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

// clip bounds a text that a client chose, in bytes, at a whole rune.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && s[limit]&0xc0 == 0x80 {
		limit--
	}
	return s[:limit]
}
