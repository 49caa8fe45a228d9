package room

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"atelier/actors/clock"
	"atelier/actors/clock/clocktest"
)

// speaker is a link that records its calls.
type speaker struct {
	calls []string

	mu   sync.Mutex
	gone []string
}

func (s *speaker) Arrived(p string)      { s.calls = append(s.calls, "+"+p) }
func (s *speaker) Left(p string)         { s.calls = append(s.calls, "-"+p) }
func (s *speaker) Passed(frames []Frame) { s.calls = append(s.calls, "frames") }
func (s *speaker) Gone(p string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = append(s.gone, p)
}

// left returns the people who have left all nodes since the last call, after all timers.
func (s *speaker) left() []string {
	time.Sleep(farewell)
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := s.gone
	s.gone = nil
	slices.Sort(gone)
	return gone
}
func (s *speaker) called(want ...string) bool {
	got := s.calls
	s.calls = nil
	return slices.Equal(got, want)
}

// A person who is connected to several nodes arrives once and leaves once.
func TestPresenceOnSeveralNodes(t *testing.T) { synctest.Test(t, presenceOnSeveralNodes) }

func presenceOnSeveralNodes(t *testing.T) {
	s := new(speaker)
	r := New("e", Limits{})
	r.Connect(s, clock.System)
	if !r.Elsewhere("n2", "ann", true) || r.Elsewhere("n2", "ann", true) {
		t.Error("two arrivals on another node do not count as one")
	}
	for range 2 {
		if r.Join("ann") {
			t.Error("a person who is on another node counts as new")
		}
	}
	if !s.called("+ann") {
		t.Error("other nodes were not informed exactly once of the arrival")
	}
	if r.Elsewhere("n2", "ann", false) {
		t.Error("a person who is still here counts as gone")
	}
	if r.Leave("ann") || s.left() != nil || r.Leave("ann") || !s.called("-ann") {
		t.Error("the departure was announced too early, or not sent to other nodes")
	}
	if !slices.Equal(s.left(), []string{"ann"}) || s.left() != nil {
		t.Error("the last departure was not announced exactly once")
	}
	// When a person moves to another node, their departure can arrive before their arrival.
	if !r.Join("ann") || r.Leave("ann") || r.Elsewhere("n2", "ann", true) || s.left() != nil {
		t.Error("a person who moved to another node counts as gone")
	}
	if r.Elsewhere("n2", "ann", false) || r.Join("ann") || s.left() != nil {
		t.Error("a person who came back counts as gone or new")
	}
	r.Leave("ann")
	if !slices.Equal(s.left(), []string{"ann"}) {
		t.Error("the departure was not announced")
	}
	s.calls = nil
	r.Elsewhere("n2", "bob", true)
	r.Elsewhere("n3", "bob", true)
	r.Join("cy")
	if r.Online() != 2 || !r.IsPresent("bob") || !r.IsElsewhere("bob") || r.IsElsewhere("cy") || r.Sessions("bob") != 0 || r.Empty() {
		t.Errorf("%d people are online, want 2, or their sessions are wrong", r.Online())
	}
	present := r.Present()
	slices.Sort(present)
	if !slices.Equal(present, []string{"bob", "cy"}) || !slices.Equal(r.Here(), []string{"cy"}) || r.Connected() != 1 {
		t.Errorf("present: %v, here: %v", present, r.Here())
	}
	if came, gone := r.AllElsewhere("n2", []string{"dan", "cy"}), s.left(); !slices.Equal(came, []string{"dan"}) || gone != nil {
		t.Errorf("arrived %v, left %v; want dan, nobody", came, gone)
	}
	n, sum := r.Count("n2")
	other := New("e", Limits{})
	other.Join("cy")
	if m, same := other.Count(""); m == n || same == sum {
		t.Error("rooms with different people have the same count or sum")
	}
	other.Join("dan")
	if m, same := other.Count(""); m != n || same != sum {
		t.Errorf("rooms with the same people have the counts %d, %d and %d, %d", n, sum, m, same)
	}
	if came, gone := r.AllElsewhere("n3", nil), s.left(); came != nil || !slices.Equal(gone, []string{"bob"}) {
		t.Errorf("arrived %v, left %v; want nobody, bob", came, gone)
	}
	if nodes := r.Nodes(); !slices.Equal(nodes, []string{"n2"}) {
		t.Errorf("the nodes are %v, want n2", nodes)
	}
	s.calls = nil
	r.Broadcast(Frame{Payload: []byte("x")})
	r.Transient(Frame{Payload: []byte("x")})
	if !s.called("frames") {
		t.Errorf("other nodes received %v", s.calls)
	}
}

// A paused node announces no departures. When it resumes, it announces the departure of people who
// have not returned.
func TestNobodyLeavesWhileTheNodeIsPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := new(speaker), clocktest.New()
		r := New("e", Limits{})
		r.Connect(s, c)
		for _, person := range []string{"ann", "bob"} {
			r.Join(person)
			r.Leave(person)
		}
		c.Stop()
		if gone := s.left(); gone != nil {
			t.Errorf("%v left while the clock was stopped, want nobody", gone)
		}
		r.Join("ann")
		c.Continue()
		if gone := s.left(); !slices.Equal(gone, []string{"bob"}) {
			t.Errorf("%v left, want bob", gone)
		}
	})
}

// Everybody who is present at the beginning or arrives later is counted once. The result remains
// after the recording has ended.
func TestGatheredPeopleAreCounted(t *testing.T) {
	r := New("e", Limits{})
	r.Join("lead")
	r.Join("a")
	r.Join("gone before")
	r.Leave("gone before")
	r.Gather("poll")
	r.Leave("a")
	r.Join("b")
	r.Join("b")
	r.Elsewhere("node", "c", true)
	r.Gather("poll") // the same purpose again
	if n := r.Gathered("poll", "lead"); n != 3 {
		t.Errorf("%d people were counted, want a, b and c", n)
	}
	r.Gather("")
	r.Join("too late")
	if n, other := r.Gathered("poll", "lead"), r.Gathered("another", ""); n != 3 || other != 0 {
		t.Errorf("after the end %d people are counted, for another poll %d", n, other)
	}
	r.Gather("another")
	if n := r.Gathered("another", "lead"); n != 3 { // b, c, too late
		t.Errorf("for the next poll %d people are counted, want 3", n)
	}
}

// silent is a link without receivers.
type silent struct{}

func (silent) Arrived(string) {}
func (silent) Left(string)    {}
func (silent) Passed([]Frame) {}
func (silent) Gone(string)    {}

// A person counts once, with any number of nodes and connections.
func TestOnlineCountsEachPersonOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := New("epoch", Limits{})
		if rapid.Bool().Draw(t, "nodes") {
			r.Connect(silent{}, clocktest.New())
		}
		person := rapid.SampledFrom([]string{"ann", "bob", "cid"})
		node := rapid.SampledFrom([]string{"n2", "n3"})
		t.Repeat(map[string]func(*rapid.T){
			"join":  func(t *rapid.T) { r.Join(person.Draw(t, "person")) },
			"leave": func(t *rapid.T) { r.Leave(person.Draw(t, "person")) },
			"elsewhere": func(t *rapid.T) {
				r.Elsewhere(node.Draw(t, "node"), person.Draw(t, "person"), rapid.Bool().Draw(t, "there"))
			},
			"all elsewhere": func(t *rapid.T) {
				r.AllElsewhere(node.Draw(t, "node"), rapid.SliceOfDistinct(person, func(p string) string { return p }).Draw(t, "people"))
			},
			"": func(t *rapid.T) {
				if got, want := r.Online(), len(r.Present()); got != want {
					t.Fatalf("Online is %d, but %d people are present", got, want)
				}
			},
		})
	})
}
