package durable

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Errors of every Journal implementation, possibly wrapped.
var (
	// ErrBusy means that the append queue is full. Nothing was queued; the caller can retry a
	// little later.
	ErrBusy = errors.New("journal: queue is full")
	// ErrReadOnly means that the store refuses writes, for example because the disk is nearly full.
	// Reads continue, as do urgent appends, which free space, while there is reserved space.
	ErrReadOnly = errors.New("journal: store is read-only")
	// ErrFenced means that a newer handle of the same actor was opened, or that the actor was
	// purged. The older handle can never write again. For a Shared store it can also mean that this
	// node has lost its lease.
	ErrFenced = errors.New("journal: handle is fenced by a newer incarnation")
	// ErrGap means that a batch does not start at the end of the log.
	ErrGap = errors.New("journal: batch does not follow the tail of the log")
	// ErrTooLarge means that a batch does not fit in a transaction.
	ErrTooLarge = errors.New("journal: batch is too large")
	// ErrCorrupt means that stored bytes do not match their checksum or format.
	ErrCorrupt = errors.New("journal: stored record is damaged")
	// ErrNotFound means that a row does not exist.
	ErrNotFound = errors.New("journal: not found")
	// ErrConflict means that a precondition failed, and the append wrote nothing. The caller must
	// read and decide again.
	ErrConflict = errors.New("journal: a row has changed since it was read")
	// ErrCompacted means that the log cannot be read from a position: it was rewritten or truncated
	// there, or it ends earlier. Call Load.
	ErrCompacted = errors.New("journal: the log was rewritten behind this position; load the snapshot")
	// ErrClosed means that the store is closing or closed.
	ErrClosed = errors.New("journal: closed")
)

// Journal is the durable storage that actors need. The interface belongs to the actors;
// implementations are under persistence and must pass the conformance suite in package journaltest.
//
// An actor has a stable identity ("codelab/<id>"), never a PID. In addition to actors' logs, a
// journal stores rows (the audit trail, the list of codelabs, sessions). These are small keyed
// records that are committed atomically with their events.
//
// All methods are safe for concurrent use.
type Journal interface {
	// Open returns the log of an actor and fences every handle opened for it earlier. When Open
	// returns, each append of an earlier handle is either committed and visible to the new handle,
	// or fails with ErrFenced.
	Open(actor string) (Log, error)

	// Follow opens the log of an actor for reading, even while an owner has it open. Each call
	// reads the log as committed at that time.
	Follow(actor string) (Reader, error)

	// Append commits rows outside any actor's log. It never waits for the commit: done is called
	// exactly once, on the writer's goroutine, after the rows are stored or have failed. If Append
	// itself returns an error, done is not called.
	//
	// If the precondition of a row fails at the time of the commit, nothing of this append is
	// written and done gets ErrConflict; other appends are not affected. As a result, if two
	// appends are based on the same state, only one succeeds.
	Append(rows []Row, done func(error)) error

	// Limits returns the maximum size of one append. A larger append fails with ErrTooLarge.
	Limits() Limits

	// Get returns a copy of one row's value, or ErrNotFound.
	Get(table string, key []byte) ([]byte, error)

	// Scan calls fn for the rows of a table in key order, or in reverse order, until fn returns
	// false. key and value are valid only during the call. Scan sees one consistent state of the
	// store.
	Scan(q Scan, fn func(key, value []byte) bool) error

	// Actors calls fn with every identity that begins with prefix and has a record or snapshot, in
	// order, until fn returns false.
	Actors(prefix string, fn func(actor string) bool) error

	// Purge removes an actor's log and snapshots and fences its handles. It is not atomic: after a
	// crash it must be called again.
	Purge(actor string) error
}

// Limits bounds one append.
type Limits struct {
	// RecordBytes bounds the length of Batch.Records.
	RecordBytes int
	// Rows bounds the number of rows, and RowBytes bounds the total size of their table names, keys
	// and values, plus RowOverhead for each row.
	Rows, RowBytes int
}

// RowOverhead is the number of bytes that each row adds to the total that RowBytes limits.
const RowOverhead = 32

// LogReader reads the log of one actor. The records of a log are numbered from 1 without gaps; the
// number is the record's seq. Each call sees one consistent state of the store.
//
// A log has a base: the seq up to which its records were rewritten or truncated. Records up to the
// base can be replayed to clients, but they must not be applied to a state: their effect is only in
// the snapshot. For this reason, Replay never reads below the base. Base <= seq of the snapshot <=
// tail.
type LogReader interface {
	// Load reads the whole state. It calls snapshot once, then record for every record after the
	// snapshot, in order. Before these records it calls record for older ones that are still
	// stored, so that the newest history records of the log are included. These older records can
	// be rewritten ones. A record is valid only during the call. Load stops at an error of either
	// function and returns it.
	Load(history uint64, snapshot func(Snapshot) error, record func(seq uint64, record []byte) error) error

	// Replay calls fn for every committed record with a seq greater than after, in order. A record
	// is valid only during the call. Replay fails with ErrCompacted, before any call of fn, if
	// after is below the base or above the tail.
	Replay(after uint64, fn func(seq uint64, record []byte) error) error
}

// Snapshot is an actor's stored state.
type Snapshot struct {
	// State is the newest snapshot, or nil if there is none. The caller owns it.
	State []byte
	// Seq is the seq of the last record in the snapshot, or 0 if there is none.
	Seq uint64
	// Base is the base of the log, see LogReader.
	Base uint64
	// Tail is the seq of the last committed record, truncated or not.
	Tail uint64
}

// CheckReplay returns ErrCompacted if the log of an actor cannot be replayed after a position.
func (s Snapshot) CheckReplay(actor string, after uint64) error {
	if after < s.Base || after > s.Tail {
		return fmt.Errorf("%w: %s behind %d, from %d to %d", ErrCompacted, actor, after, s.Base, s.Tail)
	}
	return nil
}

// Reader reads the log of an actor without owning it. Safe for concurrent use.
type Reader interface {
	LogReader
	// Tail returns the seq of the last committed record.
	Tail() (uint64, error)
	// Close closes the reader.
	Close()
}

// Log is one incarnation's handle on the log of one actor.
//
// A handle is used by one goroutine at a time, except for Rewrite, which can run concurrently on
// another.
type Log interface {
	LogReader

	// Tail returns the seq of the log's last record when the handle was opened, truncated or not; 0
	// if there never was one.
	Tail() uint64

	// Append queues a batch and returns immediately. Batches of one log are committed in the order
	// of their Append calls, each one atomically with its rows. After a failed batch every later
	// batch of this handle fails.
	Append(b Batch) error

	// Snapshot stores state, which includes every record up to seq, after all batches appended so
	// far are committed. Then it truncates the records up to the lower of seq and keep. If the
	// lower of the two is above the log's base, it becomes the base, so that the base never lags
	// behind the truncation. It also removes older snapshots. done is called once; nil means that a
	// snapshot that includes every record up to seq is stored. A failure costs only recovery time.
	// A newer Snapshot of the same log can replace one that has not started yet. The done function
	// of the replaced snapshot is then called with the result of the newer one.
	Snapshot(seq uint64, state []byte, keep uint64, done func(error)) error

	// Rewrite passes every stored record up to the seq upTo to fn and replaces each one for which
	// fn returns changed; numbering does not change. It is used to erase personal data from a log.
	// It never touches a record above upTo. It fails with ErrGap if upTo is above the stored
	// snapshot, because the state depends on the records above the snapshot. If anything is
	// replaced, upTo becomes the log's base, in the transaction of the first replacement. Rewrite
	// blocks, and is safe to call during appends to the same log.
	Rewrite(upTo uint64, fn func(seq uint64, record []byte) (replacement []byte, changed bool, err error)) error

	// Close releases the handle. Queued batches are still committed.
	Close()
}

// Batch is the content of one append, which is committed atomically.
type Batch struct {
	// First is the seq of the first record; it must continue the log.
	First uint64
	// Records holds one or more records. The journal owns it after Append.
	Records Records
	// Rows are committed in the same transaction. They have no preconditions, because the log's
	// only writer has the current state.
	Rows []Row
	// Urgent permits use of the reserved space of a disk that is nearly full.
	Urgent bool
	// Done, unless it is nil, is called exactly once, on the writer's goroutine, and must not
	// block. A nil error means that the records and rows are stored.
	Done func(error)
}

// Row is one keyed record of a table.
type Row struct {
	// Table is the table's name: short, in lower-case letters.
	Table string
	// Key is unique in its table and orders the rows bytewise.
	Key []byte
	// Value is the content; ignored when Delete is set.
	Value []byte
	// TTL is the time after which the row expires. With 0 the row never expires.
	TTL time.Duration
	// Delete removes the row instead of writing it.
	Delete bool
	// Precondition is a condition on the value stored under Key at the time of the commit.
	Precondition Precondition
	// CheckOnly leaves the row unchanged and only checks its precondition.
	CheckOnly bool
	// Urgent permits an append that has only rows, all of them urgent, to use the reserved space of
	// a disk that is nearly full.
	Urgent bool
}

// Urgent reports whether rows is not empty and all rows are urgent.
func Urgent(rows []Row) bool {
	return len(rows) > 0 && !slices.ContainsFunc(rows, func(r Row) bool { return !r.Urgent })
}

// MakeUrgent marks rows as urgent, and returns them.
func MakeUrgent(rows []Row) []Row {
	for i := range rows {
		rows[i].Urgent = true
	}
	return rows
}

// Precondition is a condition on the value stored under a row's key. The zero value always holds.
// Only rows of Journal.Append can have a precondition.
type Precondition struct {
	kind  PreconditionKind
	value []byte
}

// PreconditionKind is the kind of a precondition, for implementations of Journal.
type PreconditionKind uint8

// The kinds of preconditions.
const (
	NoPrecondition        PreconditionKind = iota
	PreconditionAbsent                     // the row must not exist
	PreconditionUnchanged                  // the row must have exactly this value
)

// Absent holds if the row does not exist.
func Absent() Precondition { return Precondition{kind: PreconditionAbsent} }

// Unchanged holds if the row's value is exactly value, which must not be modified afterwards.
func Unchanged(value []byte) Precondition { return Precondition{PreconditionUnchanged, value} }

// Kind returns the precondition's kind.
func (p Precondition) Kind() PreconditionKind { return p.kind }

// Holds evaluates the precondition on value and err, the result of a look-up. It returns
// ErrConflict if the precondition does not hold. If the look-up failed, it returns err unless the
// row has no precondition.
func (p Precondition) Holds(value []byte, err error) error {
	missing := errors.Is(err, ErrNotFound)
	switch {
	case p.kind == NoPrecondition:
		return nil
	case err != nil && !missing:
		return err
	case p.kind == PreconditionAbsent && missing, p.kind == PreconditionUnchanged && !missing && bytes.Equal(value, p.value):
		return nil
	}
	return ErrConflict
}

// Guarded reports whether any of rows has a precondition.
func Guarded(rows []Row) bool {
	for i := range rows {
		if rows[i].Precondition.kind != NoPrecondition {
			return true
		}
	}
	return false
}

// Scan selects rows.
type Scan struct {
	Table  string
	Prefix []byte // only keys with this prefix
	From   []byte // first key (inclusive); in a reverse scan, the highest
	// Reverse scans from the highest key to the lowest.
	Reverse bool
}

// Records is a run of records in one buffer. Each record is its length (uvarint), followed by its
// bytes. The zero value is an empty run.
type Records []byte

// Add returns r with one more record.
func (r Records) Add(record []byte) Records {
	r = binary.AppendUvarint(r, uint64(len(record)))
	return append(r, record...)
}

// Each calls fn for every record in order and stops at its first error. A truncated run or trailing
// bytes cause ErrCorrupt.
func (r Records) Each(fn func(record []byte) error) error {
	for len(r) > 0 {
		size, n := binary.Uvarint(r)
		if n <= 0 || size > uint64(len(r)-n) {
			return fmt.Errorf("%w: record length", ErrCorrupt)
		}
		if err := fn(r[n : n+int(size)]); err != nil {
			return err
		}
		r = r[n+int(size):]
	}
	return nil
}

// Len counts the records. In a damaged run it counts only the records before the damage.
func (r Records) Len() int {
	n := 0
	_ = r.Each(func([]byte) error { n++; return nil })
	return n
}

// Commit appends rows outside any actor's log and waits for the commit.
func Commit(j Journal, rows []Row) error {
	done := make(chan error, 1)
	if err := j.Append(rows, func(err error) { done <- err }); err != nil {
		return err
	}
	return <-done
}
