package durable_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/durable"
	"atelier/actors/durable/bustest"
	"atelier/persistence/memory"
)

// recordingBus is a bus that records the kinds of messages that owners send to followers.
type recordingBus struct {
	durable.Bus
	mu    *sync.Mutex
	kinds *[]string // guarded by mu
}

func (b recordingBus) Publish(subject string, data []byte) error {
	if kind := durable.MessageKind(subject, false, data); kind != "" {
		b.mu.Lock()
		*b.kinds = append(*b.kinds, kind)
		b.mu.Unlock()
	}
	return b.Bus.Publish(subject, data)
}

// through is a tally whose commands all come from one session.
type through struct{ tally }

const session = 77

func (c *through) Decide(cmd string, env durable.Env) (durable.Decision[string], error) {
	d, err := c.tally.Decide(cmd, env)
	d.Origin = session
	return d, err
}

// origins records the session of each event.
type origins struct {
	mu sync.Mutex
	of []uint64 // guarded by mu
}

func (o *origins) Recovered(uint64, string) {}
func (o *origins) Live(*sumView, uint64)    {}
func (o *origins) Commit(_ *sumView, _ uint64, events []durable.Committed[string]) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range events {
		o.of = append(o.of, e.Origin)
	}
}

// Followers receive a commit if it fits into a message. Of a larger commit they receive the
// position and read the records from the log. In both cases followers receive the session that sent
// the command, so that this session does not get its own frames.
func TestAnOwnerSendsItsCommitsToFollowers(t *testing.T) {
	const most = 100
	for _, tc := range []struct {
		name, cmd, kind string
	}{
		{"a small commit", "1", "tell batch"},
		{"a commit of the maximum size", recordOf(most), "tell batch"},
		{"a larger commit", recordOf(most + 1), "tell news"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var mu sync.Mutex
				var kinds []string
				var hosts []*host
				var seen []*origins
				net := bustest.NewNet()
				db, nodes := memory.Share(2)
				t.Cleanup(func() { _ = db.Close() })
				for i, n := range nodes {
					bus, stop := net.Node(n.Node())
					t.Cleanup(stop)
					seen = append(seen, &origins{})
					k := kind()
					k.New = func(string) durable.Core[string, string, sumView] { return &through{} }
					k.Codec = &durable.Codec[string]{}
					k.Observe = func(string, *handle) durable.Observer[string, sumView] { return seen[i] }
					hosts = append(hosts, start(t, n, k, durable.Options{IdleAfter: -1, Cluster: &durable.Cluster{
						Store: n, Bus: recordingBus{bus, &mu, &kinds}, Beat: time.Hour, OwnerTimeout: time.Hour, MaxReplicated: most,
					}}))
				}
				get(t, hosts[0], "a")
				get(t, hosts[1], "a")
				ask(t, get(t, hosts[0], "a"), tc.cmd)
				synctest.Wait()
				if _, seq := hosts[1].Peek("a").ViewAt(); seq != 1 {
					t.Errorf("the follower is at seq %d, want 1", seq)
				}
				mu.Lock()
				defer mu.Unlock()
				if !slices.Equal(kinds, []string{tc.kind}) {
					t.Errorf("the owner sent %q, want %q", kinds, tc.kind)
				}
				for i, o := range seen {
					if !slices.Equal(o.of, []uint64{session}) {
						t.Errorf("at node %d, the sessions are %v", i, o.of)
					}
				}
			})
		})
	}
}

// An owner announces that it stops, and its release is committed a little later. A follower then
// takes over the actor immediately, instead of after a period of silence.
func TestAFollowerTakesOverFromAStoppingOwner(t *testing.T) {
	for _, late := range []time.Duration{0, 10 * time.Millisecond, time.Minute} {
		inBubble(t, func(t *testing.T) {
			c := newClanWith(t, 2, func(o *durable.Options) { o.Cluster.Beat, o.Cluster.OwnerTimeout = time.Hour, time.Hour })
			if err := c.hosts[0].Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			c.journal = func(n *memory.Node) durable.Journal { return heldRelease{n, late} }
			c.boot(0)
			ask(t, get(t, c.hosts[0], "a"), "1")
			c.sum(1)
			if err := c.hosts[0].Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(late + time.Second)
			synctest.Wait()
			hd := c.hosts[1].Peek("a")
			if !hd.Owns() || hd.View().sum != 1 {
				t.Errorf("released %v after the shutdown: a second later the follower owns the actor: %v", late, hd.Owns())
			}
			ask(t, hd, "1")
		})
	}
}

// heldRelease is a journal that releases its logs late.
type heldRelease struct {
	durable.Journal
	late time.Duration
}

func (j heldRelease) Open(actor string) (durable.Log, error) {
	l, err := j.Journal.Open(actor)
	if err != nil {
		return nil, err
	}
	return &heldLog{l, j.late}, nil
}

type heldLog struct {
	durable.Log
	late time.Duration
}

func (l *heldLog) Close() { time.AfterFunc(l.late, l.Log.Close) }

// The backoff of an actor that keeps failing doubles up to a bound, so that the actor does not take
// time from others. After a while without a failure the backoff starts again at the minimum.
func TestTheBackoffDoubles(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := start(t, store(t), kind(), durable.Options{
			BackoffMin: time.Second, BackoffMax: 5 * time.Second, MaxFailures: 100, FailureWindow: time.Minute,
		})
		hd := get(t, h, "a")
		var waits []time.Duration
		fails := func() {
			t.Helper()
			if err := hd.Submit("poison", nil); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			began := time.Now()
			for hd.Condition() != durable.Running {
				time.Sleep(100 * time.Millisecond)
				synctest.Wait()
			}
			waits = append(waits, time.Since(began).Round(time.Second))
		}
		for range 5 {
			fails()
		}
		time.Sleep(2 * time.Minute)
		fails()
		if want := []time.Duration{1, 2, 4, 5, 5, 1}; !slices.EqualFunc(waits, want, func(a, b time.Duration) bool { return a == b*time.Second }) {
			t.Errorf("the backoffs are %v", waits)
		}
	})
}
