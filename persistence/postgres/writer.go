package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"atelier/actors/durable"
	"atelier/persistence/internal/calls"
)

// writer commits all queued items in one transaction, or in several if they exceed maxGroupBytes.
type writer struct {
	*calls.Writer[*actorLog, item, *item]
	store   *Store
	gone    []*actorLog // logs to release after the current group
	conn    *pgx.Conn   // nil if not open
	session *lease      // the lease under which conn was opened
	number  int64       // number of the last commit, under any lease
	group   group
}

func newWriter(s *Store) *writer {
	return &writer{Writer: calls.NewWriter[*actorLog, item](s.queue, s.snapshots), store: s}
}

// run runs until the queue is closed and drained.
func (w *writer) run() {
	defer w.drop()
	w.Run(w.process)
}

// maxGroupBytes is the maximum size of a group, and therefore of a transaction, unless a single
// item is larger.
const maxGroupBytes = 16 << 20

func (w *writer) process(items []item) {
	start, bytes := 0, 0
	for i := range items {
		it := &items[i]
		if bytes += it.Bytes; bytes > maxGroupBytes && i > start {
			w.commit(items[start:i])
			start, bytes = i, it.Bytes
		}
		w.Admit(it) // after the commit of the full group
		if it.Kind == calls.KindRelease {
			w.gone = append(w.gone, it.Log)
		}
	}
	w.commit(items[start:])
	w.giveBack()
}

// commit writes the content of items and finishes all of them.
func (w *writer) commit(items []item) {
	err := w.commitGroup(items)
	for i := range items {
		if it := &items[i]; err != nil && it.conflict {
			it.Err = err // the group failed, so the write that caused the conflict can be uncommitted
		}
	}
	w.Finish(items, err)
}

// commitGroup sends the items in one transaction, until the transaction was committed, certainly
// failed, or the lease is lost. In the last case, the outcome can be unknown. Items that fail
// individually get their own errors.
func (w *writer) commitGroup(items []item) error {
	began := time.Now()
	s, l := w.store, w.store.lease.Load()
	for i := range items {
		// Items that were queued under an earlier lease fail, because that lease has ended.
		if it := &items[i]; it.Err == nil && it.Commits() && (it.lease != l || !l.holds()) {
			w.refuse(it, durable.ErrFenced)
		}
	}
	rest := pause{}
	for tries := 1; ; tries++ {
		if w.group.build(items); w.group.empty() {
			return nil
		}
		err := w.send(l, items)
		if err == nil {
			took := time.Since(began)
			s.refused.Store(0)
			s.stats.Committed(w.group.batches, w.group.records, w.group.bytes, took)
			if s.opts.OnCommit != nil {
				s.opts.OnCommit(took)
			}
			return nil
		}
		switch code := codeOf(err); {
		case code == codeLogLost && ended(err):
			for _, log := range w.group.lost(detailOf(err)) {
				log.Fence()
			}
			for i := range items {
				if it := &items[i]; it.Err == nil && it.Kind == calls.KindBatch && it.Log.Fenced() {
					it.Err = durable.ErrFenced
				}
			}
			continue
		case code == codeLeaseLost && ended(err):
			l.lose()
			err = durable.ErrFenced
		case tries < maxTries && l.holds() && (again(err) || errors.Is(err, errNotCommitted)):
			if code == pgDeadlock {
				s.circles.Add(1)
			}
			rest.take(l.ctx)
			continue
		case !l.holds():
			err = fmt.Errorf("%w: %w", durable.ErrFenced, translate(err))
		default:
			err = translate(err)
			s.refuses(err)
		}
		s.stats.Failed()
		return err
	}
}

// refuse fails a single item and, if it is a batch, its log.
func (w *writer) refuse(it *item, err error) {
	it.Err = err
	if it.Kind == calls.KindBatch {
		it.Log.Fail(err)
	}
}

// giveBack releases the actors with closed handles. If this fails, it is tried again after the next
// group. Until then, this node continues to own the actors, and other nodes cannot open them.
func (w *writer) giveBack() {
	l := w.store.lease.Load()
	w.gone = slices.DeleteFunc(w.gone, func(log *actorLog) bool { return log.lease != l || log.epoch == 0 })
	if len(w.gone) == 0 {
		return
	}
	var actors [][]byte
	var epochs []int64
	for _, log := range w.gone {
		actors, epochs = append(actors, []byte(log.Actor)), append(epochs, log.epoch)
	}
	rest := pause{}
	for range maxTries {
		_, err := w.connection(l)
		if err == nil {
			_, err = w.conn.Exec(l.ctx, "select give_logs($1, $2, $3, $4)", w.store.node, l.incarnation, actors, epochs)
		}
		if err == nil {
			clear(w.gone)
			w.gone = w.gone[:0]
		}
		if err == nil || ended(err) && !again(err) || !l.holds() {
			return
		}
		if ended(err) {
			rest.take(l.ctx)
		} else {
			w.drop()
		}
	}
}

// connection ensures that a connection with a session of the lease is open. For a new connection it
// returns the number of the last commit, otherwise -1. An earlier connection can then no longer
// commit: connection has waited for its transaction in progress, and a later transaction finds
// another session number.
func (w *writer) connection(l *lease) (committed int64, err error) {
	if w.conn != nil && w.session == l && !w.conn.IsClosed() {
		return -1, nil
	}
	w.drop()
	rest := pause{}
	for {
		w.conn, err = w.store.connect(l.ctx)
		if err == nil {
			_, err = w.conn.Exec(l.ctx, byIndex)
		}
		if err == nil {
			err = w.conn.QueryRow(l.ctx, "update writers set session = session + 1 where node = $1 and incarnation = $2 returning session, committed",
				w.store.node, l.incarnation).Scan(&l.session, &committed)
			if err == nil {
				w.session = l
				return committed, nil
			}
		}
		w.drop()
		if errors.Is(err, pgx.ErrNoRows) {
			l.lose() // another process uses the name
		}
		if !l.holds() {
			return -1, fmt.Errorf("%w: %w", durable.ErrFenced, err)
		}
		rest.take(l.ctx)
	}
}

func (w *writer) drop() {
	if w.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = w.conn.Close(ctx)
	w.conn = nil
}
