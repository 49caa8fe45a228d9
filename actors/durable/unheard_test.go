package durable_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/durable"
)

// unreachableClan returns two nodes with a slow beat. The first owns an actor with one record, and
// the second follows it.
func unreachableClan(t *testing.T, fromLog bool) *clan {
	t.Helper()
	c := newClanOf(t, 2, func() durable.Kind[string, string, sumView] {
		k := kind()
		k.FromLog = fromLog
		return k
	}, func(o *durable.Options) { o.Cluster.Beat, o.Cluster.OwnerTimeout = 100*time.Millisecond, time.Second })
	ask(t, get(t, c.hosts[0], "a"), "1")
	if got := c.sum(1); got != 1 {
		t.Fatalf("the follower shows %d, want 1", got)
	}
	return c
}

func (c *clan) cut() {
	c.net.Cut("n1", "n2")
	c.net.Cut("n2", "n1")
}

// shows verifies that, at this time after began, the replica's sum and the number of records that
// its listeners have received are both want.
func (c *clan) shows(began time.Time, after time.Duration, want int) {
	c.Helper()
	time.Sleep(time.Until(began.Add(after)))
	synctest.Wait()
	view, seq := c.hosts[1].Peek("a").ViewAt()
	received := 0
	for at := range seq + 5 {
		if _, ok := c.seen[1].Load(at); ok {
			received++
		}
	}
	if view.sum != want || received != want {
		c.Errorf("after %v, the replica shows %d, and listeners received %d records; want %d", after, view.sum, received, want)
	}
}

// A follower cut off from its owner shows listeners a record of the log once the record is older
// than a lease. A younger record may be unacknowledged, and then the owner shows a state without
// it. The age counts for each record separately.
func TestACutOffFollowerShowsRecordsOlderThanALease(t *testing.T) {
	const lease = 3 * time.Second
	inBubble(t, func(t *testing.T) {
		c := unreachableClan(t, false)
		c.cut()
		began := time.Now()
		ask(t, get(t, c.hosts[0], "a"), "1")
		c.shows(began, time.Second/2, 1)
		// After one second the follower notices the silence and reads the record.
		time.Sleep(time.Until(began.Add(2 * time.Second)))
		ask(t, get(t, c.hosts[0], "a"), "1")
		c.shows(began, lease-time.Second/2, 1)
		c.shows(began, lease+time.Second/2, 1)
		c.shows(began, lease+3*time.Second/2, 2)
		c.shows(began, 2*time.Second+lease-time.Second/4, 2)
		c.shows(began, 2*time.Second+lease+time.Second/2, 3)
		// Once reconnected, the follower shows all records immediately. Then the next silence
		// begins.
		c.net.Repair("n1", "n2")
		c.net.Repair("n2", "n1")
		ask(t, get(t, c.hosts[0], "a"), "1")
		c.shows(began, 7*time.Second, 4)
		c.cut()
		ask(t, get(t, c.hosts[0], "a"), "1")
		c.shows(began, 7*time.Second+lease, 4)
		c.shows(began, 8*time.Second+lease+time.Second/2, 5)
	})
}

// Readers of a kind with FromLog accept a slightly older state. A follower of such a kind that is
// cut off from its owner reads the log after two beats and reports the age of its state. For a kind
// without FromLog, Near then fails.
func TestACutOffFollowerReadsNearFromTheLog(t *testing.T) {
	for _, fromLog := range []bool{true, false} {
		t.Run(fmt.Sprint("from the log: ", fromLog), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				c := unreachableClan(t, fromLog)
				c.cut()
				began := time.Now()
				ask(t, get(t, c.hosts[0], "a"), "1")
				want := 1
				if fromLog {
					want = 2
				}
				c.shows(began, time.Second/2, want)
				hd := c.hosts[1].Peek("a")
				if got := hd.Fresh(250 * time.Millisecond); got != fromLog {
					t.Errorf("the replica is fresh: %v", got)
				}
				if near, err := c.hosts[1].Near("a", 250*time.Millisecond); fromLog && (err != nil || near.View().sum != 2) || !fromLog && err == nil {
					t.Errorf("Near returned %v, %v", near, err)
				}
			})
		})
	}
}
