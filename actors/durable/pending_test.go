package durable

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/clock"
	"atelier/actors/clock/clocktest"
)

// A wait that begins while the host closes, or later, ends immediately. In an earlier version, such a wait
// never ended, because neither a reply nor a timeout could reach it.
func TestAWaitAfterTheCloseEnds(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		s := newPendingReplies(clock.System, time.Second)
		before := s.get()
		go s.close()
		if r := s.await(before); !errors.Is(r.Err, ErrUnavailable) {
			t.Errorf("a wait during the close returned %v, want ErrUnavailable", r.Err)
		}
		synctest.Wait()
		for range 2 {
			if r := s.await(s.get()); !errors.Is(r.Err, ErrUnavailable) {
				t.Errorf("a wait after the close returned %v, want ErrUnavailable", r.Err)
			}
		}
	})
}

// A reply that comes after the timeout of its wait is dropped. Otherwise a reused slot would
// deliver it to the caller of another command.
func TestALateReplyIsDropped(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		s := newPendingReplies(clock.System, time.Second)
		defer s.close()
		late := s.get()
		if r := s.await(late); !errors.Is(r.Err, ErrTimeout) {
			t.Fatalf("a wait without a reply returned %v, want ErrTimeout", r.Err)
		}
		next := s.get()
		late.Reply(Reply{Value: "of another command"})
		next.Reply(Reply{Value: "its own"})
		if r := s.await(next); r.Value != "its own" {
			t.Errorf("the next caller got the reply %q, %v", r.Value, r.Err)
		}
		// A slot that was answered in time is reused.
		if again := s.get(); again != next {
			t.Error("the slot of an answered wait is not reused")
		}
	})
}

// An actor with an open command is closed only for a moment when it is to rest. A reader that
// arrives in this moment does not wait until the actor really rests, which could take hours.
func TestAReaderDoesNotWaitForARestThatWasOnlyTried(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		h := &Host[string, string, int]{opts: Options{AskTimeout: time.Hour, Clock: clock.System}}
		hd := &Handle[string, string, int]{done: make(chan struct{})}
		hd.condition.Store(int32(Running))
		hd.pending.Store(1)
		if hd.tryRest() || hd.Condition() != Running {
			t.Fatal("an actor with an open command rests")
		}
		hd.condition.Store(int32(Resting))
		time.AfterFunc(time.Second, func() { hd.condition.Store(int32(Running)) })
		began := time.Now()
		if err := h.awaitRest(hd, nil); err != nil || time.Since(began) > 2*time.Second {
			t.Errorf("awaitRest returned %v after %v", err, time.Since(began))
		}
	})
}
