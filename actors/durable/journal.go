package durable

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Errors that every Journal implementation returns, wrapped or not.
var (
	// ErrBusy means that the append queue is full. Nothing was queued; the
	// caller may try again a little later.
	ErrBusy = errors.New("journal: queue is full")
	// ErrReadOnly means that the store refuses writes, for example because the
	// disk is nearly full. Reads go on, and while there is a reserve of space, so do urgent
	// appends, which free space.
	ErrReadOnly = errors.New("journal: store is read-only")
	// ErrFenced means that a newer handle of the same actor was opened; this
	// one can never write again.
	ErrFenced = errors.New("journal: handle is fenced by a newer incarnation")
	// ErrGap means that a batch does not start at the end of the log.
	ErrGap = errors.New("journal: batch does not follow the tail of the log")
	// ErrTooLarge means that one batch is more than a transaction can carry.
	ErrTooLarge = errors.New("journal: batch is too large")
	// ErrCorrupt means that stored bytes do not match their checksum or form.
	ErrCorrupt = errors.New("journal: stored record is damaged")
	// ErrNotFound means that a row does not exist.
	ErrNotFound = errors.New("journal: not found")
	// ErrConflict means that a precondition failed, and the append wrote nothing. The
	// caller reads and decides again.
	ErrConflict = errors.New("journal: a row is not what it was")
	// ErrCompacted means that the log cannot be read from a position: it was rewritten or
	// truncated there, or it ends before. Call Load.
	ErrCompacted = errors.New("journal: the log was rewritten behind this position; load the snapshot")
	// ErrClosed means that the store is closing or closed.
	ErrClosed = errors.New("journal: closed")
)

// Journal is what the actors need from durable storage. The interface belongs
// to the actors; implementations live under persistence and must pass the
// conformance suite in package journaltest.
//
// An actor is named by its own stable identity ("codelab/<id>"), never by a
// PID. Beside the logs of actors a journal keeps rows: small keyed records
// that are committed atomically with the events they belong to (the audit
// trail, the list of codelabs, sessions).
//
// All methods are safe for concurrent use.
type Journal interface {
	// Open returns the log of an actor and fences every handle opened for it earlier. When
	// Open returns, each append of an earlier handle is either committed and visible to the
	// new handle, or will fail with ErrFenced.
	Open(actor string) (Log, error)

	// Follow opens the log of an actor for reading, even while an owner has it open. Each
	// call reads the log as committed at that time.
	Follow(actor string) (Reader, error)

	// Append commits rows that belong to no actor's log. It never blocks on
	// the disk: done is called exactly once, from the writer's goroutine,
	// after the rows are on disk or have failed. When Append itself returns
	// an error, done is not called.
	//
	// If a row has a precondition that does not hold when its turn comes, nothing of
	// this append is written and done gets ErrConflict; others are not
	// concerned. So of two appends that rest on the same state one wins.
	Append(rows []Row, done func(error)) error

	// Limits returns the maximum of one append; more gives ErrTooLarge.
	Limits() Limits

	// Get returns a copy of one row's value, or ErrNotFound.
	Get(table string, key []byte) ([]byte, error)

	// Scan calls fn for the rows of a table in key order, or in the reverse
	// order, until fn returns false. key and value are valid only during the
	// call. It sees one consistent state of the store.
	Scan(q Scan, fn func(key, value []byte) bool) error

	// Actors calls fn with the identity of every actor that has a record or a
	// snapshot and whose identity starts with prefix, in order, until fn
	// returns false.
	Actors(prefix string, fn func(actor string) bool) error

	// Purge removes log and snapshots of an actor and fences its handles. It is not atomic:
	// after a crash in between it must be called again.
	Purge(actor string) error
}

// Limits bounds one append.
type Limits struct {
	// RecordBytes bounds the run of records.
	RecordBytes int
	// Rows bounds the number of rows, and RowBytes the total size of their tables, keys and
	// values, with RowOverhead for each.
	Rows, RowBytes int
}

// RowOverhead is the overhead of a row in bytes.
const RowOverhead = 32

// LogReader reads the log of one actor. The records of a log are numbered from
// 1 without gaps; the number is the record's seq. Each call sees one consistent
// state of the store.
//
// A log has a base: the seq up to which its records were rewritten or
// truncated. Records up to the base can be replayed to clients, but they must not be
// applied to a state: their effect is only in the snapshot. So Replay never reads below the
// base. Base <= seq of the snapshot <= tail.
type LogReader interface {
	// Load reads the whole state. It calls snapshot once, then record for every record
	// above the snapshot, in order. Before those it calls record for older ones that are
	// among the newest history records of the log, if they are still stored. These may have
	// been rewritten. A record is valid only during the call. An error of either function
	// ends the reading and is returned.
	Load(history uint64, snapshot func(Snapshot) error, record func(seq uint64, record []byte) error) error

	// Replay calls fn for every committed record with a seq above after, in
	// order. A record is valid only during the call. It fails with ErrCompacted,
	// before fn was called, when after is below the base or above the tail.
	Replay(after uint64, fn func(seq uint64, record []byte) error) error
}

// Snapshot is the stored state of an actor.
type Snapshot struct {
	// State is the newest snapshot, nil when there is none. The caller owns it.
	State []byte
	// Seq is the number of the last record that the snapshot contains; 0 without a snapshot.
	Seq uint64
	// Base is the base of the log, see LogReader.
	Base uint64
	// Tail is the seq of the last committed record, truncated or not.
	Tail uint64
}

// CheckReplay returns ErrCompacted if the log of an actor cannot be replayed after a
// position.
func (s Snapshot) CheckReplay(actor string, after uint64) error {
	if after < s.Base || after > s.Tail {
		return fmt.Errorf("%w: %s behind %d, from %d to %d", ErrCompacted, actor, after, s.Base, s.Tail)
	}
	return nil
}

// Reader reads the log of an actor without owning it. Safe for concurrent use.
type Reader interface {
	LogReader
	// Tail returns the seq of the last record that is committed now.
	Tail() (uint64, error)
	// Close closes the reader.
	Close()
}

// Log is one incarnation's handle on the log of one actor.
//
// A handle is used by one goroutine at a time, but for Rewrite, which may run
// on another.
type Log interface {
	LogReader

	// Tail returns the seq of the log's last record when the handle was opened,
	// truncated or not; 0 when there never was one.
	Tail() uint64

	// Append queues a batch and returns at once. Batches of one log are
	// committed in the order of their Append calls, each one atomically with
	// its rows. After a failed batch every later batch of this handle fails.
	Append(b Batch) error

	// Snapshot stores state, which contains every record up to seq, after all batches
	// appended so far are committed. Then it truncates the records up to the lower of seq
	// and keep. That becomes the log's base if it is above it, so the base never lags
	// behind the truncation. It also removes older snapshots. done is called once; nil
	// means that a snapshot that contains every record up to seq is on disk. A failure
	// costs nothing but recovery time. A newer Snapshot of the same log can replace one
	// that has not started yet, whose done is then called with the outcome of the newer.
	Snapshot(seq uint64, state []byte, keep uint64, done func(error)) error

	// Rewrite passes every stored record up to the seq upTo to fn and replaces
	// those for which it returns changed; numbering stays. It is how personal
	// data leaves a log. It never touches a record above upTo, and fails with
	// ErrGap when upTo is above the stored snapshot: the state is made from such records.
	// When anything is replaced, upTo becomes the log's base, in the transaction of the
	// first replacement. It blocks, and is safe to call during appends to the same log.
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
	// Rows are committed in the same transaction. They carry no preconditions: a log
	// has one writer, which knows its state.
	Rows []Row
	// Urgent lets the batch use the reserve of a disk that is nearly full.
	Urgent bool
	// Done is called exactly once, from the writer's goroutine, and must not
	// block. nil means that the records and rows are on disk.
	Done func(error)
}

// Row is one keyed record of a table.
type Row struct {
	// Table names the table: lower-case letters, short.
	Table string
	// Key is unique in its table and orders the rows bytewise.
	Key []byte
	// Value is the content; ignored when Delete is set.
	Value []byte
	// TTL is the time after which the row expires; 0 keeps it.
	TTL time.Duration
	// Delete removes the row instead of writing it.
	Delete bool
	// Precondition is the value that must be stored under Key at the moment of the commit.
	Precondition Precondition
	// CheckOnly leaves the row unchanged: only its precondition is checked.
	CheckOnly bool
	// Urgent lets rows alone, if all of them are urgent, use the reserve of a disk
	// that is nearly full.
	Urgent bool
}

// Urgent reports whether there are rows and all of them are urgent.
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

// Precondition is a condition on the stored value under a row's key. The zero value always
// holds. Rows of Append can have one; see Journal.
type Precondition struct {
	kind  PreconditionKind
	value []byte
}

// PreconditionKind is the kind of a precondition, for implementations of Journal.
type PreconditionKind uint8

// The kinds of preconditions.
const (
	NoPrecondition        PreconditionKind = iota
	PreconditionAbsent                     // no such row
	PreconditionUnchanged                  // a row with exactly this value
)

// Absent holds while there is no such row.
func Absent() Precondition { return Precondition{kind: PreconditionAbsent} }

// Unchanged holds while the row's value is exactly value, which must not be
// written to afterwards.
func Unchanged(value []byte) Precondition { return Precondition{PreconditionUnchanged, value} }

// Kind returns the precondition's kind.
func (p Precondition) Kind() PreconditionKind { return p.kind }

// Holds evaluates the precondition on the result of a look-up: value, or an error that
// wraps ErrNotFound. It returns ErrConflict if the precondition does not hold, and any
// other error unchanged.
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
	Prefix []byte // only keys that start with it
	From   []byte // start at this key (inclusive); in a reverse scan, go down from it
	// Reverse walks from the highest key to the lowest.
	Reverse bool
}

// Records is a run of records in one buffer: each a length (uvarint) and its
// bytes. The zero value is an empty run.
type Records []byte

// Add returns r with one more record.
func (r Records) Add(record []byte) Records {
	r = binary.AppendUvarint(r, uint64(len(record)))
	return append(r, record...)
}

// Each calls fn for every record in order and stops at its first error. A run
// that is cut off or has trailing bytes gives ErrCorrupt.
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

// Len counts the records; a damaged run counts up to the damage.
func (r Records) Len() int {
	n := 0
	_ = r.Each(func([]byte) error { n++; return nil })
	return n
}

// Commit appends rows that belong to no actor's log and waits for them.
func Commit(j Journal, rows []Row) error {
	done := make(chan error, 1)
	if err := j.Append(rows, func(err error) { done <- err }); err != nil {
		return err
	}
	return <-done
}
