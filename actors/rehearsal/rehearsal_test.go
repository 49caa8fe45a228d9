package rehearsal_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/catalog"
	"atelier/actors/clock"
	"atelier/actors/clock/clocktest"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/actors/rehearsal"
	"atelier/actors/room"
	"atelier/persistence/memory"
)

type noFrames struct{}

func (noFrames) Encode(uint64, *pb.Event) (room.Frame, bool) { return room.Frame{}, false }

type noBlobs struct{ files.Blobs }

var leader = &codelab.Caller{Role: codelab.RoleAdmin, ID: codelab.FacilitatorID, Name: "Ada", Person: "login"}

// plays creates a codelab with everything that simulated attendees use, starts a rehearsal, and
// calls check with the codelab. It must run in a bubble.
func plays(t *testing.T, seed uint64, people, minutes int32, check func(ws codelab.Codelab, comings *atomic.Int64), changes ...func(*codelab.Config, *memory.Store)) {
	store := memory.New()
	defer func() { _ = store.Close() }()
	list, err := catalog.LoadList(store)
	if err != nil {
		t.Fatal(err)
	}
	var comings atomic.Int64
	cfg := codelab.Config{
		System: durable.NewSystem(), Journal: store, List: list, Frames: noFrames{},
		Files:   files.NewRegister(store, noBlobs{}, time.Hour, clock.System.Now),
		Durable: durable.Options{IdleAfter: time.Minute}, Logger: slog.New(slog.DiscardHandler),
		Rehearse: func(ctx context.Context, ws codelab.Codelab) { rehearsal.Play(ctx, ws, seed) },
		Announce: func(codelab.Codelab, string, bool) { comings.Add(1) },
	}
	for _, change := range changes {
		change(&cfg, store)
	}
	labs, err := codelab.NewCodelabs(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = labs.Close(t.Context())
		// After a message to a stopped actor, the actor library has a goroutine for a millisecond,
		// which must end before the bubble does.
		time.Sleep(2 * time.Millisecond)
	}()
	step := func(title string) *pb.Step {
		return &pb.Step{Title: title, ContentMarkdown: "- [ ] one of " + title + "\n- [ ] two of " + title + "\n", DurationMinutes: 5}
	}
	m, err := labs.Create(leader, &codelab.Create{
		Codelab: &pb.Codelab{Title: "one", QuizEnabled: true, Questions: pb.Asking_ASKING_OPEN, RegistrationClosed: true},
		Steps:   []*pb.Step{step("a"), step("b"), step("c")},
		Quizzes: []*pb.Quiz{{Question: "Which?", QuizType: codelab.MultipleChoice, Options: []string{"a", "b"}, Correct: []int32{0, 1}, Several: true}, {Question: "Why?", QuizType: codelab.Descriptive}},
		Polls: []*pb.Poll{
			{Kind: codelab.PollKind("choice"), Question: "Which?", Options: []string{"a", "b"}, Right: []int32{1}},
			{Kind: codelab.PollKind("several"), Question: "Which?", Options: []string{"a", "b"}},
			{Kind: codelab.PollKind("scale"), Question: "How?"}, {Kind: codelab.PollKind("words"), Question: "One word?"}, {Kind: codelab.PollKind("text"), Question: "What?"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ws, err := labs.Get(m.Id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ws.StartRehearsal(leader, codelab.StartRehearsal{People: people, Minutes: minutes}); err != nil {
		t.Fatal(err)
	}
	check(ws, &comings)
}

// results returns the results of a rehearsal as text, so that two rehearsals can be compared.
func results(v *codelab.View) string {
	var b strings.Builder
	for _, a := range v.Attendees.All() {
		fmt.Fprintln(&b, a.Name, a.Place, a.CurrentStep, codelab.Ticks(a), a.CompletedAt != 0, a.Pulse.GetState())
	}
	for _, m := range v.Chat.All() {
		fmt.Fprintln(&b, m.SenderName, m.Message)
	}
	return b.String()
}

// In ten minutes, forty simulated people use all functions for attendees, each at their own pace.
func TestSimulatedPeopleWorkThroughACodelab(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		plays(t, 1, 40, 10, func(ws codelab.Codelab, comings *atomic.Int64) {
			time.Sleep(time.Second)
			synctest.Wait()
			if n := ws.OnlineAttendees(); n == 0 || n > 5 {
				t.Errorf("after a second, %d attendees are connected", n)
			}
			time.Sleep(90 * time.Second)
			for _, p := range ws.View().Polls {
				if _, err := ws.OpenPoll(leader, p.Id, nil); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if n := ws.View().Poll(p.Id).Votes; n < 25 {
					t.Errorf("%d attendees have voted in a poll of kind %v, want at least 25", n, p.Kind)
				}
			}
			time.Sleep(3*time.Minute + 27*time.Second)
			synctest.Wait()
			v := ws.View()
			spread, ticks, named := map[int32]bool{}, 0, map[string]bool{}
			for _, a := range v.Attendees.All() {
				spread[a.CurrentStep], named[a.Name] = true, true
				ticks += codelab.Ticks(a)
				if !a.Simulated {
					t.Error(a.Name, "is not simulated")
				}
			}
			for what, got := range map[string][3]int{
				"attendees": {len(named), 40, 40}, "steps with attendees": {len(spread), 1, 3}, "ticks": {ticks, 100, 240},
				"completed": {v.Completed, 5, 38}, "chat messages": {v.Chat.Len(), 20, 200}, "requests for help": {v.Help.Len(), 3, 60},
				"feedbacks": {v.Feedback.Len(), 5, 38}, "quiz answers": {v.Answers.Len(), 10, 80}, "questions": {len(v.Questions), 2, 60},
				"arrivals and departures": {int(comings.Load()), 50, 200},
			} {
				if got[0] < got[1] || got[0] > got[2] {
					t.Errorf("%s: %d, want %d to %d", what, got[0], got[1], got[2])
				}
			}
			time.Sleep(3 * time.Second)
			synctest.Wait()
			if v := ws.View(); v.Attendees.Len() != 0 || ws.Room.Online() != 0 {
				t.Errorf("after the end, there are %d attendees, %d connected", v.Attendees.Len(), ws.Room.Online())
			}
		})
	})
}

func TestARehearsalDependsOnlyOnItsSeed(t *testing.T) {
	var runs []string
	for _, seed := range []uint64{7, 7, 8} {
		clocktest.Bubble(t, func(t *testing.T) {
			plays(t, seed, 12, 5, func(ws codelab.Codelab, _ *atomic.Int64) {
				time.Sleep(4*time.Minute + 100*time.Millisecond)
				synctest.Wait()
				runs = append(runs, results(ws.View()))
			})
		})
	}
	if runs[0] != runs[1] || runs[0] == runs[2] || len(runs[0]) < 100 {
		t.Errorf("two runs with the same seed, and one with another:\n%s\n%s\n%s", runs[0], runs[1], runs[2])
	}
}

// All sixty people find a free name, and an attendee whom a facilitator removes does not return.
func TestSimulatedPeopleRespectNamesAndRemovals(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		plays(t, 3, 60, 2, func(ws codelab.Codelab, _ *atomic.Int64) {
			time.Sleep(20 * time.Second)
			synctest.Wait()
			gone := ws.View().Attendees.At(0)
			if _, _, err := ws.Ask(codelab.Command{Caller: leader, Body: codelab.Remove{AttendeeID: gone.Id}}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			v := ws.View()
			if v.Attendees.Len() != 59 || ws.Room.IsPresent(gone.Id) {
				t.Errorf("there are %d attendees, want 59; the removed one is connected: %v", v.Attendees.Len(), ws.Room.IsPresent(gone.Id))
			}
		})
	})
}

// If the end of a rehearsal cannot be recorded on a full disk, the rehearsal ends once there is
// space again. It ends even if the clock was set back by an hour.
func TestARehearsalEndsDespiteAFullDiskAndAClockSetBack(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		c := clocktest.New()
		var disk *memory.Store
		plays(t, 4, 5, 2, func(ws codelab.Codelab, _ *atomic.Int64) {
			time.Sleep(time.Minute)
			c.SetOffset(-time.Hour)
			time.Sleep(50 * time.Second)
			synctest.Wait()
			if v := ws.View(); v.Attendees.Len() != 5 {
				t.Errorf("shortly before the end there are %d attendees, want 5", v.Attendees.Len())
			}
			disk.FailCommits(1_000_000, durable.ErrReadOnly)
			time.Sleep(time.Minute)
			if ws.View().Meta.GetRehearsal() == nil {
				t.Error("the rehearsal ended although its end could not be recorded")
			}
			disk.FailCommits(0, nil)
			time.Sleep(time.Minute) // after many failures, the codelab waits before it tries again
			synctest.Wait()
			if v := ws.View(); v.Meta.GetRehearsal() != nil || v.Attendees.Len() != 0 || ws.Room.Online() != 0 {
				t.Errorf("the rehearsal still runs: %v, with %d attendees, %d connected", v.Meta.GetRehearsal(), v.Attendees.Len(), ws.Room.Online())
			}
		}, func(cfg *codelab.Config, store *memory.Store) { cfg.Durable.Clock, disk = c, store })
	})
}
