package codelab_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/audit"
	"atelier/actors/clock/clocktest"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/persistence/memory"
)

const day = 24 * time.Hour

// retained is a codelab on a node that deletes due codelabs every hour.
type retained struct {
	t       *testing.T
	store   *memory.Store
	labs    *codelab.Codelabs
	id      string
	audited []*audit.Record
	stop    func()
}

// start runs a node that deletes codelabs after this many days.
func (r *retained) start(days int) {
	r.t.Helper()
	r.labs = oneNode(r.t, r.store, func(cfg *codelab.Config) {
		cfg.Rules.AuditRows = func(a *audit.Record) []durable.Row {
			r.audited = append(r.audited, a)
			return nil
		}
	})
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.labs.Retain(ctx, time.Hour, codelab.Expiry{Days: days, Delete: r.labs.DeleteDue})
	}()
	r.stop = func() {
		cancel()
		<-done
		_ = r.labs.Close(context.Background())
	}
	synctest.Wait()
}

// later stops the node and starts it again after d. The node does not run meanwhile, because years
// of simulated time would take too long.
func (r *retained) later(d time.Duration, days int) {
	r.t.Helper()
	r.stop()
	time.Sleep(d)
	r.start(days)
}

// end ends or reopens the workshop, with a retention in days.
func (r *retained) end(ended bool, days int) {
	r.t.Helper()
	ws, err := r.labs.Get(r.id)
	if err == nil {
		_, _, err = ws.Ask(codelab.Command{Caller: leader, Body: codelab.SetEnded{Ended: ended, DeletionDays: days}})
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// in returns the time until the announced deletion, or 0 for never.
func (r *retained) in() time.Duration {
	r.t.Helper()
	synctest.Wait()
	ws, err := r.labs.Get(r.id)
	if err != nil {
		r.t.Fatal(err)
	}
	at, listed := ws.View().Meta.DeletionAt, r.labs.List.Known(r.id).DeletionAt
	if at != listed {
		r.t.Errorf("DeletionAt is %d in the codelab, %d in the list", at, listed)
	}
	if at == 0 {
		return 0
	}
	return time.Until(time.UnixMilli(at)).Round(time.Hour)
}

func (r *retained) is(what string, want time.Duration) {
	r.t.Helper()
	if got := r.in(); got != want {
		r.t.Errorf("%s: the codelab is deleted in %s, want %s", what, got, want)
	}
}

func retaining(t *testing.T, days int, f func(*retained)) {
	clocktest.Bubble(t, func(t *testing.T) {
		r := &retained{t: t, store: memory.New()}
		defer func() { _ = r.store.Close() }()
		r.start(days)
		defer func() { r.stop() }()
		m, err := r.labs.Create(leader, &codelab.Create{Codelab: &pb.Codelab{Title: "one", DeletionAt: 1}, Steps: []*pb.Step{{Title: "a"}}})
		if err != nil {
			t.Fatal(err)
		}
		r.id = m.Id
		f(r)
	})
}

func TestACodelabIsDeletedTheConfiguredTimeAfterItsEnd(t *testing.T) {
	retaining(t, 30, func(r *retained) {
		r.is("before its end", 0)
		r.end(true, 30)
		r.is("at its end", 30*day)
		r.later(20*day, 30)
		r.end(false, 30)
		r.is("opened again", 0)
		r.later(90*day, 30)
		r.is("open", 0)
		r.end(true, 30)
		r.later(30*day-2*time.Hour, 30)
		r.is("shortly before its deletion", 2*time.Hour)
		if err := r.labs.DeleteDue(r.id); !durable.Refused(err) {
			t.Errorf("deleting before the announced time returned %v, want a rejection", err)
		}
		time.Sleep(3*time.Hour + time.Minute)
		if _, err := r.labs.Get(r.id); !durable.IsMissing(err) {
			t.Fatalf("after the announced time, reading the codelab returned %v, want Missing", err)
		}
		last := r.audited[len(r.audited)-1]
		if last.Action != "codelab_delete" || last.ActorType != "system" || last.TargetId != r.id {
			t.Errorf("the last audit record is %v", last)
		}
	})
}

// A deletion is announced at least two weeks ahead, even after a change of the configuration. The
// announcement survives a restart.
func TestADeletionIsAnnouncedTwoWeeksBefore(t *testing.T) {
	retaining(t, 0, func(r *retained) {
		r.end(true, 0)
		r.later(400*day, 0)
		r.is("without a configured deletion", 0)
		r.later(0, 30)
		r.is("an old codelab, deletion configured", 14*day)
		r.later(4*day, 30)
		r.is("after a restart", 10*day)
		r.later(0, 500)
		r.is("with a longer retention", 96*day)
		r.later(0, 410)
		r.is("with a shorter retention", 14*day)
		r.later(3*day, 410)
		r.is("later", 11*day)
		r.later(0, 0)
		r.is("without a configured deletion again", 0)
		r.later(100*day, 0)
		r.is("a long time later", 0)
		r.later(0, 30)
		r.is("announced again", 14*day)
		r.later(14*day, 30)
		if _, err := r.labs.Get(r.id); !durable.IsMissing(err) {
			t.Errorf("after the announced time, reading the codelab returned %v, want Missing", err)
		}
	})
}

func TestACodelabStaysAtLeastTwoWeeks(t *testing.T) {
	retaining(t, 1, func(r *retained) {
		r.end(true, 1)
		r.is("at its end", 14*day)
		r.later(13*day, 1)
		r.is("later", day)
	})
}

// Every hour the node removes data that is older than the retention of its codelab, for both kinds
// of data, e-mail addresses and chat.
func TestANodeAppliesTheRetentionOfItsCodelabs(t *testing.T) {
	for _, of := range []string{"", "e-mail", "chat"} {
		retaining(t, 0, func(r *retained) {
			t := r.t
			ask := func(who *codelab.Caller, body codelab.Body) any {
				t.Helper()
				ws, err := r.labs.Get(r.id)
				if err != nil {
					t.Fatal(err)
				}
				v, _, err := ws.Ask(codelab.Command{Caller: who, Body: body})
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			switch days := new(int32(2)); of {
			case "e-mail":
				ask(leader, codelab.Update{EmailRetentionDays: days})
			case "chat":
				ask(leader, codelab.Update{ChatRetentionDays: days})
			}
			ann := ask(leader, codelab.Register{Name: "Ann", Email: "ann@example.org"}).(codelab.Registration).Attendee
			ask(&codelab.Caller{Role: codelab.RoleAttendee, ID: ann.Id, Person: ann.Id}, codelab.PostChat{Message: "hello"})
			kept := func(what string, email, chat bool) {
				t.Helper()
				synctest.Wait()
				ws, err := r.labs.Get(r.id)
				if err != nil {
					t.Fatal(err)
				}
				if v := ws.View(); (v.Attendee(ann.Id).Email != "") != email || (v.Chat.Len() == 1) != chat {
					t.Errorf("retention of %q, %s: the address is %q, the chat has %d messages", of, what, v.Attendee(ann.Id).Email, v.Chat.Len())
				}
			}
			time.Sleep(2*day - time.Hour)
			kept("before its end", true, true)
			time.Sleep(3 * time.Hour)
			kept("after its end", of != "e-mail", of != "chat")
		})
	}
}

// askAndLeave makes an attendee ask an anonymous question and erase themselves.
func (r *retained) askAndLeave() {
	r.t.Helper()
	ws, err := r.labs.Get(r.id)
	if err != nil {
		r.t.Fatal(err)
	}
	do := func(by *codelab.Caller, body codelab.Body) any {
		r.t.Helper()
		reply, _, err := ws.Ask(codelab.Command{Caller: by, Body: body})
		if err != nil {
			r.t.Fatal(err)
		}
		return reply
	}
	do(leader, codelab.Update{Questions: new(pb.Asking_ASKING_OPEN)})
	register := codelab.Register{Name: "Ann", JoinCode: ws.View().Meta.JoinCode}
	ann := do(&codelab.Caller{Role: codelab.RoleAnyone}, register).(codelab.Registration).Attendee
	by := &codelab.Caller{Role: codelab.RoleAttendee, ID: ann.Id, Name: "Ann"}
	do(by, codelab.AskQuestion{Text: "Why?", Anonymous: true})
	do(by, codelab.Remove{AttendeeID: ann.Id})
}

// questions fails unless the codelab is in memory and has n questions. It activates nothing.
func (r *retained) questions(when string, n int) {
	r.t.Helper()
	synctest.Wait()
	if ws, ok := r.labs.Peek(r.id); !ok {
		r.t.Errorf("%s: the codelab is not in memory", when)
	} else if got := len(ws.View().Questions); got != n {
		r.t.Errorf("%s: the codelab has %d questions, want %d", when, got, n)
	}
}

// Anonymous questions of people who erased themselves are removed a day later, although nobody is
// connected, and although the store fails at that moment.
func TestQuestionsOfErasedPeopleAreRemovedDespiteAFailure(t *testing.T) {
	retaining(t, 0, func(r *retained) {
		r.askAndLeave()
		time.Sleep(day - time.Second)
		r.store.FailCommits(1, errors.New("the disk fails"))
		time.Sleep(90 * time.Second)
		r.questions("after the failure", 0)
	})
}

// The questions are removed by a node that starts later, although nobody reads the codelab: at once
// if they are due, or else at their time.
func TestQuestionsOfErasedPeopleAreRemovedAfterARestart(t *testing.T) {
	retaining(t, 0, func(r *retained) {
		r.askAndLeave()
		r.later(2*day, 0)
		r.questions("after two days", 0)
		r.askAndLeave()
		r.later(day-time.Minute, 0)
		r.questions("just before a day has passed", 1)
		time.Sleep(time.Minute)
		r.questions("after a day", 0)
		r.later(day, 0)
		if _, ok := r.labs.Peek(r.id); ok {
			t.Error("a node activates a codelab without such questions")
		}
	})
}
