package webhook

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"atelier/actors/clock"
	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
	"atelier/actors/naming"
)

// The webhook tables: the list of webhooks with their events, the deliveries to send, ordered by
// due time per webhook, and the failed deliveries.
const (
	listTable   = "webhooks"
	queueTable  = "hookqueue"
	failedTable = "hookfailed"
)

// The last attempt of a delivery is due within 18 hours. keepWaiting is longer, so that a stopped
// webhook can still be resumed. It also bounds how long a row remains that a codelab committed
// while its webhook was being deleted.
const (
	keepWaiting = 7 * 24 * time.Hour
	keepFailed  = 30 * 24 * time.Hour
)

// listed returns the row that lists a webhook, without the data that only its actor needs.
func listed(h *Hook) durable.Row {
	h = &Hook{Id: h.Id, Url: h.Url, Events: h.Events, Codelabs: h.Codelabs, Stopped: h.Stopped, CreatedAt: h.CreatedAt}
	return durable.Row{Table: listTable, Key: []byte(h.Id), Value: pbwire.Encode(h)}
}

func waitingKey(hook string, due int64, id string) []byte {
	return append(binary.BigEndian.AppendUint64([]byte(hook+"\x00"), uint64(due)), id...)
}

// dueOf returns the due time in the key of a webhook's waiting delivery.
func dueOf(hook string, key []byte) int64 {
	return int64(binary.BigEndian.Uint64(key[len(hook)+1:]))
}

func waiting(hook string, due int64, d *Delivery) durable.Row {
	return durable.Row{Table: queueTable, Key: waitingKey(hook, due, d.Id), Value: pbwire.Encode(d), TTL: keepWaiting}
}

func failedKey(hook, id string) []byte { return []byte(hook + "\x00" + id) }

func kept(hook string, d *Delivery) durable.Row {
	return durable.Row{Table: failedTable, Key: failedKey(hook, d.Id), Value: pbwire.Encode(d), TTL: keepFailed}
}

func gone(table string, key []byte) durable.Row {
	return durable.Row{Table: table, Key: key, Delete: true}
}

// Occurrence is an event for webhooks.
type Occurrence struct {
	Type string
	// CodelabID is "" for events outside codelabs.
	CodelabID string
	At        int64
	Data      *Data
}

// Outbox contains the webhook subscriptions, and creates the rows that are committed with the
// events. Safe for concurrent use. A change of the list of webhooks takes effect on other nodes
// within a second.
type Outbox struct {
	journal durable.Journal
	ids     *naming.SharedIDs
	log     *slog.Logger
	wanted  atomic.Pointer[map[string][]*target] // by event
	news    chan struct{}                        // signals possible deliveries; capacity 1
	dropped atomic.Int64
}

// target is a webhook that receives an event.
type target struct {
	hook *Hook
	// room is the number of further deliveries that can wait for the webhook, according to this
	// node's count.
	room *atomic.Int64
}

func newOutbox(journal durable.Journal, c clock.Clock, log *slog.Logger) *Outbox {
	o := &Outbox{journal: journal, ids: naming.NewSharedIDs(c), log: log, news: make(chan struct{}, 1)}
	o.wanted.Store(&map[string][]*target{})
	return o
}

// Rows returns the rows of the deliveries of an event, to be committed with the event. There is one
// for each webhook that subscribes to the event and has room for a further delivery. A nil Outbox
// has no webhooks.
func (o *Outbox) Rows(t Occurrence) (rows []durable.Row) {
	if o == nil {
		return nil
	}
	var d *Delivery
	for _, to := range (*o.wanted.Load())[t.Type] {
		if t.CodelabID != "" && len(to.hook.Codelabs) > 0 && !slices.Contains(to.hook.Codelabs, t.CodelabID) {
			continue
		}
		if to.room.Add(-1) < 0 {
			o.dropped.Add(1)
			continue
		}
		if d == nil {
			d = &Delivery{Id: o.ids.New(), Type: t.Type, At: t.At, CodelabId: t.CodelabID, Data: t.Data}
		}
		rows = append(rows, waiting(to.hook.Id, t.At, d))
	}
	if d != nil {
		o.hint()
	}
	return rows
}

// hint signals that there can be new deliveries to send.
func (o *Outbox) hint() {
	select {
	case o.news <- struct{}{}:
	default:
	}
}

// queued is a webhook with its waiting deliveries.
type queued struct {
	*Hook
	waiting int
	due     int64 // when the first is due; 0 if none
}

// refresh reads the webhooks, updates wanted, and counts the waiting deliveries of each webhook, up
// to MaxWaiting.
func (o *Outbox) refresh() (all []queued, err error) {
	hooks, err := o.hooks()
	if err != nil {
		return nil, err
	}
	wanted := map[string][]*target{}
	for _, h := range hooks {
		q := queued{Hook: h}
		prefix := []byte(h.Id + "\x00")
		err := o.journal.Scan(durable.Scan{Table: queueTable, Prefix: prefix}, func(key, _ []byte) bool {
			if q.waiting == 0 {
				q.due = dueOf(h.Id, key)
			}
			q.waiting++
			return q.waiting < MaxWaiting
		})
		if err != nil {
			return nil, fmt.Errorf("read the waiting deliveries of webhook %s: %w", h.Id, err)
		}
		all = append(all, q)
		if h.Stopped {
			continue
		}
		to := &target{hook: h, room: &atomic.Int64{}}
		to.room.Store(int64(MaxWaiting - q.waiting))
		for _, e := range h.Events {
			wanted[e] = append(wanted[e], to)
		}
	}
	o.wanted.Store(&wanted)
	return all, nil
}

// scan calls each with the rows of a table whose keys begin with prefix, until each returns false
// or an error.
func (o *Outbox) scan(table, prefix string, each func(key, value []byte) (more bool, err error)) error {
	var failed error
	err := o.journal.Scan(durable.Scan{Table: table, Prefix: []byte(prefix)}, func(key, value []byte) (more bool) {
		more, failed = each(key, value)
		return more && failed == nil
	})
	if err != nil {
		return err
	}
	return failed
}

// hooks reads the list.
func (o *Outbox) hooks() (all []*Hook, err error) {
	err = o.scan(listTable, "", func(_, value []byte) (bool, error) {
		h := &Hook{}
		all = append(all, h)
		return true, h.Decode(value)
	})
	if err != nil {
		return nil, fmt.Errorf("read the list of webhooks: %w", err)
	}
	return all, nil
}

// first returns the first due delivery and the time at which it was due, or nil if none is due yet.
func (o *Outbox) first(hook string, now time.Time) (d *Delivery, due int64, err error) {
	err = o.scan(queueTable, hook+"\x00", func(key, value []byte) (bool, error) {
		if due = dueOf(hook, key); due > now.UnixMilli() {
			return false, nil
		}
		d = &Delivery{}
		return false, d.Decode(value)
	})
	return d, due, err
}

// Delayed is a waiting delivery with the time at which its next attempt is due, in Unix ms.
type Delayed struct {
	*Delivery
	Due int64
}

// Resuming does not move a delivery whose next attempt is due within soon. Such a delivery could be
// sent while it is moved, and then be sent a second time.
const soon = 5 * time.Second

// delayed returns the deliveries whose next attempt is due more than soon after now.
func (o *Outbox) delayed(hook string, now time.Time) (all []Delayed, err error) {
	err = o.scan(queueTable, hook+"\x00", func(key, value []byte) (bool, error) {
		due := dueOf(hook, key)
		if due <= now.Add(soon).UnixMilli() {
			return true, nil
		}
		d := &Delivery{}
		all = append(all, Delayed{d, due})
		return len(all) < MaxWaiting, d.Decode(value)
	})
	return all, err
}

// failed returns the failed deliveries, oldest first.
func (o *Outbox) failed(hook string) (all []*Delivery, err error) {
	err = o.scan(failedTable, hook+"\x00", func(_, value []byte) (bool, error) {
		d := &Delivery{}
		all = append(all, d)
		return len(all) < MaxFailed, d.Decode(value)
	})
	return all, err
}

// forget removes the waiting and failed deliveries of a deleted webhook.
func (o *Outbox) forget(hook string) error {
	for _, table := range []string{queueTable, failedTable} {
		for {
			var rows []durable.Row
			err := o.journal.Scan(durable.Scan{Table: table, Prefix: []byte(hook + "\x00")}, func(key, _ []byte) bool {
				rows = append(rows, gone(table, slices.Clone(key)))
				return len(rows) < 500
			})
			if err == nil && len(rows) > 0 {
				err = durable.Commit(o.journal, durable.MakeUrgent(rows))
			}
			if err != nil {
				return fmt.Errorf("remove the deliveries of webhook %s: %w", hook, err)
			}
			if len(rows) == 0 {
				break
			}
		}
	}
	return nil
}
