package durable_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/durable"
	"atelier/actors/durable/bustest"
	"atelier/persistence/memory"
)

// An actor that is read but gets no commands stays in memory. Otherwise each reader would have to
// wait until the actor is loaded.
func TestReadsKeepAnActorFromResting(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := start(t, store(t), kind(), durable.Options{IdleAfter: 20 * time.Second})
		first := get(t, h, "a")
		for range 6 {
			time.Sleep(15 * time.Second)
			if hd := get(t, h, "a"); hd != first {
				t.Fatal("an actor that is read went to rest")
			}
		}
		time.Sleep(time.Minute)
		if h.Peek("a") != nil {
			t.Error("the actor does not rest although nobody reads it")
		}
	})
}

// A reader of an actor that is about to rest waits at most for the timeout of a command, even if the
// store does not respond.
func TestAReaderDoesNotWaitForAnActorThatCannotRest(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		j := store(t)
		h := start(t, j, kind(), durable.Options{AskTimeout: 3 * time.Second})
		hd := get(t, h, "a")
		ask(t, hd, recordOf(64<<10)) // so that a snapshot is due
		release := j.Hold()
		var rest sync.WaitGroup
		rest.Go(func() { h.Rest(context.Background(), hd, true) })
		synctest.Wait()
		if _, err := h.Get("a"); !errors.Is(err, durable.ErrTimeout) {
			t.Errorf("while the actor cannot stop, Get returned %v, want a timeout", err)
		}
		release()
		rest.Wait()
		get(t, h, "a")
	})
}

// recordOf returns an event whose record takes this number of bytes in a batch.
func recordOf(bytes int) string {
	for n := bytes; ; n-- {
		if event := strings.Repeat("x", n); len(durable.Records(nil).Add([]byte(event))) == bytes {
			return event
		}
	}
}

// A large state is written once half of its size has been appended, and a small state after a
// number of events. The cost of snapshots is therefore proportional to the cost of the log.
func TestALargeStateIsStoredLessOften(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		k := kind()
		k.EncodeState = func(v *sumView) ([]byte, error) {
			return []byte(strings.Repeat("0", 992-len(strconv.Itoa(v.sum))) + strconv.Itoa(v.sum)), nil // 1000 bytes together with the chain hash
		}
		h := start(t, store(t), k, durable.Options{SnapshotEvents: 2, SnapshotBytes: 1 << 20})
		hd := get(t, h, "a")
		for i, want := range []int64{0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3} {
			ask(t, hd, recordOf(100))
			synctest.Wait()
			if n := h.Stats().Snapshots.Load(); n != want {
				t.Errorf("after %d events there were %d snapshots, want %d", i+1, n, want)
			}
		}
	})
}

// Shutdown writes a snapshot only if the snapshot saves the next start enough time, because a
// server with many codelabs could not write a snapshot of each.
func TestShutdownStoresASnapshotOnlyIfItSavesEnough(t *testing.T) {
	for name, tc := range map[string]struct {
		events []string
		want   int64
	}{
		"few events":                         {numbers(1, 63), 0},
		"many events":                        {numbers(1, 64), 1},
		"a nearly large event":               {[]string{recordOf(64<<10 - 1)}, 0},
		"a large event":                      {[]string{recordOf(64 << 10)}, 1},
		"two events that are large together": {[]string{recordOf(32 << 10), recordOf(32 << 10)}, 1},
		"no events":                          {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h := start(t, store(t), kind(), durable.Options{})
				hd := get(t, h, "a")
				for _, e := range tc.events {
					ask(t, hd, e)
				}
				if err := h.Close(context.Background()); err != nil {
					t.Fatal(err)
				}
				if n := h.Stats().Snapshots.Load(); n != tc.want {
					t.Errorf("shutdown wrote %d snapshots, want %d", n, tc.want)
				}
			})
		})
	}
}

func TestGivingAnActorToItsOwnerChangesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClanWith(t, 2, func(o *durable.Options) { o.Cluster.Beat, o.Cluster.OwnerTimeout = time.Hour, time.Hour })
		hd := get(t, c.hosts[0], "a")
		ask(t, hd, "1")
		c.hosts[0].GiveTo(hd, c.nodes[0].Node())
		synctest.Wait()
		if n := c.hosts[0].Stats().Takeovers.Load(); n != 0 || !hd.Owns() {
			t.Errorf("the actor was taken over %d times, or lost its owner", n)
		}
		ask(t, hd, "1")
	})
}

// A command that reached no node is sent again, even if it must not be repeated, because it was not
// executed.
func TestAnUndeliveredCommandIsSentAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var fail atomic.Int32
		c := newClanWith(t, 2, func(o *durable.Options) {
			o.Cluster.Beat, o.Cluster.OwnerTimeout = 100*time.Millisecond, time.Second
			o.Cluster.Bus = unreachable{o.Cluster.Bus, &fail}
		})
		ask(t, get(t, c.hosts[0], "a"), "1")
		copied := get(t, c.hosts[1], "a")
		fail.Store(2)
		if v := ask(t, copied, "1"); v != "1" {
			t.Errorf("the command returned %v, want 1", v)
		}
		if got := c.sum(0); got != 2 || fail.Load() >= 0 {
			t.Errorf("the sum is %d, want 2; %d more requests were to fail", got, fail.Load())
		}
	})
}

// An actor that cannot erase does not stop the erasing of other actors. FinishErasing waits for
// them, and then returns ErrQuarantined.
func TestAQuarantineDoesNotStopErasingInOtherActors(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		j, k := store(t), eraser(nil)
		k.EncodeState = func(*sumView) ([]byte, error) { return nil, errors.New("no snapshot") }
		first := start(t, j, k, durable.Options{})
		for id, command := range map[string]string{"a": "7", "b": "1"} {
			for _, cmd := range []string{command, "0"} {
				ask(t, get(t, first, id), cmd)
			}
		}
		if err := first.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		k = eraser(nil)
		parse, encode, goOn := k.ParseEvent, k.EncodeState, make(chan struct{})
		k.ParseEvent = func(b []byte) (string, error) {
			if string(b) == "7" {
				return "", errors.New("damaged")
			}
			return parse(b)
		}
		k.EncodeState = func(v *sumView) ([]byte, error) {
			<-goOn
			return encode(v)
		}
		h := start(t, j, k, durable.Options{MaxFailures: -1})
		done := make(chan error, 1)
		go func() { done <- h.FinishErasing(context.Background()) }()
		time.Sleep(time.Second)
		if len(done) > 0 {
			t.Errorf("FinishErasing ended early: %v", <-done)
			close(goOn)
			return
		}
		close(goOn)
		if err := <-done; !errors.Is(err, durable.ErrQuarantined) {
			t.Errorf("FinishErasing returned %v, want ErrQuarantined", err)
		}
		if got := held(t, j, "tally/b"); got != "gone 0" {
			t.Errorf("the log contains %q, want the erased record and 0", got)
		}
	})
}

// If an actor goes to rest just as a command reaches its owner, the next owner executes the
// command. This also holds for a command that must not be repeated, because the first owner did not
// execute it.
func TestACommandDuringARestIsExecutedByTheNextOwner(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var hosts []*host
		rested := false
		net := bustest.NewNet()
		db, nodes := memory.Share(2)
		t.Cleanup(func() { _ = db.Close() })
		for i, n := range nodes {
			bus, stop := net.Node(n.Node())
			t.Cleanup(stop)
			k := kind()
			k.Codec = &durable.Codec[string]{
				Encode: func(s string) ([]byte, error) { return []byte(s), nil },
				Decode: func(b []byte) (string, error) {
					// This runs after the owner has looked up the actor, and before the actor gets
					// the command.
					if i == 0 {
						rested = hosts[0].Rest(context.Background(), hosts[0].Peek("a"), false)
					}
					return string(b), nil
				},
				EncodeReply: func(string, any) ([]byte, error) { return nil, nil }, DecodeReply: func(string, []byte) (any, error) { return nil, nil },
				Repeatable: func(string) bool { return false },
			}
			hosts = append(hosts, start(t, n, k, durable.Options{IdleAfter: -1, Cluster: &durable.Cluster{
				Store: n, Bus: bus, Beat: 100 * time.Millisecond, OwnerTimeout: time.Second,
			}}))
		}
		ask(t, get(t, hosts[0], "a"), "1")
		ask(t, get(t, hosts[1], "a"), "1")
		if hd := get(t, hosts[1], "a"); !rested || !hd.Owns() || hd.View().sum != 2 {
			t.Errorf("the actor went to rest: %v; the next node owns the actor: %v; the sum is %d, want 2", rested, hd.Owns(), hd.View().sum)
		}
	})
}
