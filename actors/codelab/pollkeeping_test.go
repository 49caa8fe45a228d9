package codelab_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/clock/clocktest"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/persistence/memory"
)

// someSecrets records which secrets are made and destroyed.
type someSecrets struct {
	mu                       sync.Mutex
	created, destroyed, aged []string
	away                     atomic.Bool // only other nodes have the secrets
}

func (s *someSecrets) Make(lab string) (string, []string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := fmt.Sprintf("%s.%016d", lab, len(s.created))
	s.created = append(s.created, id)
	return id, []string{"n1"}, nil
}

func (s *someSecrets) Destroy(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.destroyed = append(s.destroyed, id)
}

func (s *someSecrets) Old() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.aged
}

func (s *someSecrets) age(ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aged = ids
}

func (s *someSecrets) made() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.created)
}

func (s *someSecrets) gone() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.destroyed)
}

func (s *someSecrets) key(id string) []byte {
	if !s.away.Load() && slices.Contains(s.made(), id) && !slices.Contains(s.gone(), id) {
		return make([]byte, 32)
	}
	return nil
}

// polling starts a node with a codelab that has two anonymous drafts.
func polling(t *testing.T, secrets *someSecrets, gate *atomic.Bool) (labs *codelab.Codelabs, ws codelab.Codelab, polls []*codelab.PollView) {
	t.Helper()
	store := memory.New()
	labs = oneNode(t, store, func(cfg *codelab.Config) {
		cfg.Ballots, cfg.Rules.BallotKey = secrets, secrets.key
		cfg.Rules.BallotLost = func(string, []string) bool { return !secrets.away.Load() }
		cfg.Durable.Gate = func() error {
			if gate.Load() {
				return durable.ErrUnavailable
			}
			return nil
		}
	})
	t.Cleanup(func() {
		_ = labs.Close(context.Background())
		_ = store.Close()
	})
	draft := &pb.Poll{Kind: codelab.PollKind("words"), Question: "One word?", Anonymous: true}
	m, err := labs.Create(leader, &codelab.Create{
		Codelab: &pb.Codelab{Title: "one"}, Steps: []*pb.Step{{Title: "a"}}, Polls: []*pb.Poll{draft, draft},
	})
	if err == nil {
		ws, err = labs.Get(m.Id)
	}
	if err != nil {
		t.Fatal(err)
	}
	ws.Room.Join("somebody") // so that the codelab stays in memory
	return labs, ws, ws.View().Polls
}

// The secret is destroyed when its poll is closed, deleted or reset, and when opening the poll was
// refused. If the outcome of opening is unknown, the secret stays.
func TestASecretIsDestroyedWithItsPoll(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		secrets, gate := &someSecrets{}, new(atomic.Bool)
		labs, ws, polls := polling(t, secrets, gate)
		ask := func(body codelab.Body) {
			t.Helper()
			if _, _, err := ws.Ask(codelab.Command{Caller: leader, Body: body}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		destroyed := func(when string, n int) {
			t.Helper()
			if made, gone := secrets.made(), secrets.gone(); !slices.Equal(gone, made[:n]) {
				t.Errorf("%s: secrets made %v, destroyed %v", when, made, gone)
			}
		}
		one := int32(1)
		var refused *durable.Rejection
		if _, err := ws.OpenPoll(leader, polls[0].Id, &one); !errors.As(err, &refused) {
			t.Fatalf("opening a poll for one second returned %v, want a rejection", err)
		}
		destroyed("refused", 1)
		open := func(i int) {
			t.Helper()
			if _, err := ws.OpenPoll(leader, polls[i].Id, nil); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		open(0)
		destroyed("open", 1)
		open(0) // open the same poll again, to set its end
		if len(secrets.made()) != 2 {
			t.Error("opening an open poll made another secret")
		}
		open(1)
		destroyed("another poll was opened", 2)
		ask(codelab.ClosePoll{PollID: polls[1].Id})
		destroyed("closed", 3)
		ask(codelab.ResetPoll{PollID: polls[0].Id})
		open(0)
		ask(codelab.ResetPoll{PollID: polls[0].Id})
		destroyed("reset", 4)
		open(0)
		ask(codelab.DeletePoll{PollID: polls[0].Id})
		destroyed("deleted", 5)
		ask(codelab.ResetPoll{PollID: polls[1].Id})
		gate.Store(true)
		if _, err := ws.OpenPoll(leader, polls[1].Id, nil); err == nil {
			t.Fatal("a poll was opened on a node that accepts no writes")
		}
		destroyed("the outcome is unknown", 5)
		gate.Store(false)
		open(1)
		if err := labs.Delete(leader, ws.ID()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if made := secrets.made(); !slices.Contains(secrets.gone(), made[len(made)-1]) {
			t.Error("the secret was not destroyed with its codelab")
		}
	})
}

func TestASweepDestroysOnlySecretsThatNoOpenPollUses(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		secrets, gate := &someSecrets{}, new(atomic.Bool)
		labs, ws, polls := polling(t, secrets, gate)
		if _, err := ws.OpenPoll(leader, polls[0].Id, nil); err != nil {
			t.Fatal(err)
		}
		used := secrets.made()[0]
		unused := []string{ws.ID() + ".00000000000000ff", "0190a000-0000-7000-8000-000000000000.0000000000000001", "nothing"}
		secrets.age(append([]string{used}, unused...)...)
		ctx, stop := context.WithCancel(t.Context())
		go labs.SweepBallots(ctx, time.Minute)
		synctest.Wait()
		if gone := secrets.gone(); !slices.Equal(gone, unused) {
			t.Errorf("destroyed %v, want the unused secrets", gone)
		}
		secrets.age(ws.ID() + ".00000000000000ee")
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(secrets.gone()); n != 4 {
			t.Errorf("a minute later %d secrets are destroyed, want 4", n)
		}
		stop()
	})
}

// A poll closes at its end even if nobody reads it.
func TestAPollClosesAtItsEndWithoutReaders(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		secrets, gate := &someSecrets{}, new(atomic.Bool)
		_, ws, polls := polling(t, secrets, gate)
		seconds := int32(10)
		if _, err := ws.OpenPoll(leader, polls[0].Id, &seconds); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if _, err := ws.OpenPoll(leader, polls[0].Id, &seconds); err != nil { // until ten seconds from now
			t.Fatal(err)
		}
		time.Sleep(9 * time.Second)
		if ws.View().OpenPoll() == nil {
			t.Error("the poll closed at its previous end")
		}
		time.Sleep(2 * time.Second)
		if ws.View().OpenPoll() != nil {
			t.Error("the poll is still open after its end")
		}
	})
}

// Questions are removed after a day, whether or not anybody is connected.
func TestQuestionsAreRemovedAfterADay(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		_, ws, _ := polling(t, &someSecrets{}, new(atomic.Bool))
		open := pb.Asking_ASKING_OPEN
		do := func(who *codelab.Caller, body codelab.Body) any {
			t.Helper()
			v, _, err := ws.Ask(codelab.Command{Caller: who, Body: body})
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		do(leader, codelab.Update{Questions: &open})
		a := do(leader, codelab.Register{Name: "Ann", JoinCode: ws.View().Meta.JoinCode}).(codelab.Registration).Attendee
		who := &codelab.Caller{Role: codelab.RoleAttendee, ID: a.Id, Name: a.Name}
		do(who, codelab.AskQuestion{Text: "Why?", Anonymous: true})
		do(who, codelab.Remove{AttendeeID: a.Id})
		time.Sleep(24*time.Hour - time.Second)
		if n := len(ws.View().Questions); n != 1 {
			t.Errorf("%d questions before a day has passed, want 1", n)
		}
		time.Sleep(2 * time.Second)
		if n := len(ws.View().Questions); n != 0 {
			t.Errorf("%d questions after a day, want 0", n)
		}
	})
}

// While a poll is closed but its votes are not counted yet, neither the sweep nor the next poll
// destroys its secret.
func TestASecretIsKeptUntilItsPollIsCounted(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		secrets := &someSecrets{}
		labs, ws, polls := polling(t, secrets, new(atomic.Bool))
		seconds := int32(5)
		if _, err := ws.OpenPoll(leader, polls[0].Id, &seconds); err != nil {
			t.Fatal(err)
		}
		secret := secrets.made()[0]
		secrets.away.Store(true)
		time.Sleep(6 * time.Second)
		if p := ws.View().Poll(polls[0].Id); !p.Counting || len(secrets.gone()) != 0 {
			t.Fatalf("the poll is %v, destroyed secrets %v", p, secrets.gone())
		}
		if used, err := labs.UsesSecret(secret); err != nil || !used {
			t.Errorf("UsesSecret of a poll that is being counted = %v, %v", used, err)
		}
		secrets.away.Store(false)
		labs.CloseDuePolls(ws.ID())
		synctest.Wait()
		if p := ws.View().Poll(polls[0].Id); p.Counting || p.Void || !slices.Equal(secrets.gone(), []string{secret}) {
			t.Errorf("the poll is %v, destroyed secrets %v", p, secrets.gone())
		}
	})
}
