package room

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// model is a log without optimizations. The room must behave like the model.
type model struct {
	all         []Frame
	floor, head uint64
}

func (m *model) trim(l Limits) {
	size := func() (n int) {
		for _, f := range m.all {
			n += len(f.Payload)
		}
		return n
	}
	for len(m.all) > 1 && (len(m.all) > l.Frames || size() > l.Bytes) {
		m.floor = m.all[0].Seq
		m.all = m.all[1:]
	}
}

func (m *model) after(seq uint64) []Frame {
	i := slices.IndexFunc(m.all, func(f Frame) bool { return f.Seq > seq })
	if i < 0 {
		return nil
	}
	return m.all[i:]
}

func same(a, b Frame) bool {
	return a.Seq == b.Seq && a.Audience == b.Audience && a.People == b.People &&
		a.Origin == b.Origin && string(a.Payload) == string(b.Payload)
}

func TestARoomEqualsItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := Limits{
			Frames: rapid.IntRange(1, 20).Draw(t, "frames"),
			Bytes:  rapid.IntRange(1, 200).Draw(t, "bytes"),
		}
		r, m := New("e", limits), &model{}
		payload := rapid.SliceOfN(rapid.Byte(), 0, 30)
		draw := func(seq uint64) Frame {
			return Frame{
				Seq:      seq,
				Audience: Audience(rapid.IntRange(0, 4).Draw(t, "audience")),
				Origin:   rapid.Uint64Range(0, 2).Draw(t, "origin"),
				Payload:  payload.Draw(t, "payload"),
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"publish": func(t *rapid.T) {
				var batch []Frame
				for range rapid.IntRange(0, 5).Draw(t, "n") {
					m.head += rapid.Uint64Range(1, 3).Draw(t, "gap")
					f := draw(m.head)
					batch = append(batch, f)
					m.all = append(m.all, f)
					m.trim(limits)
				}
				r.Publish(batch...)
			},
			"publish again": func(t *rapid.T) {
				r.Publish(draw(rapid.Uint64Range(0, m.head).Draw(t, "old")))
			},
			"advance": func(t *rapid.T) {
				seq := rapid.Uint64Range(0, m.head+3).Draw(t, "seq")
				r.Advance(seq)
				m.head = max(m.head, seq)
			},
			"rewrite": func(t *rapid.T) {
				drop := rapid.Uint64Range(0, m.head).Draw(t, "drop")
				edit := func(f Frame) (Frame, bool) {
					f.Payload = []byte("x")
					return f, f.Seq != drop
				}
				r.Rewrite(edit)
				var kept []Frame
				for _, f := range m.all {
					if f, ok := edit(f); ok {
						kept = append(kept, f)
					}
				}
				m.all = kept
				m.trim(limits)
			},
			"restore": func(*rapid.T) {
				r.Restore(slices.Clone(m.all), m.floor, m.head)
				for i := range m.all {
					m.all[i].Origin = 0
				}
			},
			"": func(t *rapid.T) {
				if r.Head() != m.head || r.Floor() != m.floor {
					t.Fatalf("head %d floor %d, want %d and %d", r.Head(), r.Floor(), m.head, m.floor)
				}
				since := rapid.Uint64Range(0, m.head+2).Draw(t, "since")
				got, ok := readAll(r, since, rapid.IntRange(1, 100).Draw(t, "chunk"))
				if want := since >= m.floor && since <= m.head; ok != want {
					t.Fatalf("a replay from %d is possible: %v, want %v", since, ok, want)
				}
				if !ok {
					return
				}
				want := m.after(since)
				if !slices.EqualFunc(got, want, same) {
					t.Fatalf("since %d: got %v, want %v", since, got, want)
				}
				size := 0
				for _, f := range want {
					size += len(f.Payload)
				}
				if behind := r.Behind(since); behind != uint64(size) {
					t.Fatalf("Behind is %d, want %d", behind, size)
				}
			},
		})
	})
}

// readAll reads in chunks until the head, as a slow listener does.
func readAll(r *Room, since uint64, chunk int) (all []Frame, ok bool) {
	for {
		frames, to, ok := r.After(since, nil, chunk)
		if !ok {
			return nil, false
		}
		all = append(all, frames...)
		if since = to; to == r.Head() {
			return all, true
		}
	}
}

func TestLateListenersMissTransients(t *testing.T) {
	r := New("e", Limits{Transients: 3})
	for i := range 5 {
		r.Transient(Frame{Seq: 77, Payload: []byte{byte('a' + i)}})
	}
	frames, to, missed := r.TransientsAfter(0, nil, 1<<20)
	if len(frames) != 3 || string(frames[0].Payload) != "c" || to != 5 || missed != 2 {
		t.Errorf("the frames are %v up to %d, %d missed", frames, to, missed)
	}
	if frames[0].Seq != 0 {
		t.Errorf("a transient frame has the seq %d", frames[0].Seq)
	}
	if r.Head() != 0 {
		t.Errorf("transient frames moved the head to %d", r.Head())
	}
	frames, to, missed = r.TransientsAfter(to, nil, 1<<20)
	if len(frames) != 0 || to != 5 || missed != 0 {
		t.Errorf("the next frames are %v up to %d, %d missed", frames, to, missed)
	}
}

// A deferred frame is sent with the next frame for everyone, once, or when it is flushed.
func TestADeferredFrameIsSentWithTheNext(t *testing.T) {
	r := New("e", Limits{})
	var w countingWaker
	r.Subscribe(&w)
	defer r.Unsubscribe(&w)
	sent := func() (texts string) {
		frames, _, _ := r.TransientsAfter(0, nil, 1<<20)
		for _, f := range frames {
			texts += string(f.Payload)
		}
		return texts
	}
	later := func(a Audience, text string) { r.Later(Frame{Audience: a, Payload: []byte(text)}) }
	later(Attendees, "a")
	later(Attendees, "b")
	later(Facilitators, "f")
	r.Publish(Frame{Seq: 1, Audience: FacilitatorsAndPeople})
	if sent() != "" || w.n.Load() != 1 {
		t.Errorf("without a frame for everyone, %q was sent, with %d wakes", sent(), w.n.Load())
	}
	r.Publish(Frame{Seq: 2, Audience: Everyone})
	r.Publish(Frame{Seq: 3, Audience: Everyone})
	if sent() != "bf" || w.n.Load() != 3 {
		t.Errorf("after frames for everyone, %q was sent, with %d wakes", sent(), w.n.Load())
	}
	later(Attendees, "c")
	r.Flush()
	r.Flush()
	if sent() != "bfc" || w.n.Load() != 4 {
		t.Errorf("after two flushes, %q was sent, with %d wakes", sent(), w.n.Load())
	}
	later(Attendees, "erased")
	r.Rewrite(func(f Frame) (Frame, bool) { return f, true })
	r.Flush()
	if sent() != "" || w.n.Load() != 4 {
		t.Errorf("after an erasure, %q was sent", sent())
	}
}

func TestReaches(t *testing.T) {
	for _, c := range []struct {
		audience         Audience
		people           [2]string
		person           string
		facilitator, hit bool
	}{
		{Everyone, [2]string{}, "a", false, true},
		{Facilitators, [2]string{}, "a", false, false},
		{Facilitators, [2]string{}, "f", true, true},
		{Attendees, [2]string{}, "a", false, true},
		{Attendees, [2]string{}, "f", true, false},
		{People, [2]string{"a", "b"}, "b", false, true},
		{People, [2]string{"a", "b"}, "c", false, false},
		{People, [2]string{"a", "b"}, "f", true, false},
		{People, [2]string{"a", Facilitator}, "f", true, true},
		{People, [2]string{"a", ""}, "", false, false},
		{FacilitatorsAndPeople, [2]string{"a", ""}, "a", false, true},
		{FacilitatorsAndPeople, [2]string{"a", ""}, "f", true, true},
		{FacilitatorsAndPeople, [2]string{"a", ""}, "b", false, false},
	} {
		f := Frame{Audience: c.audience, People: c.people}
		if got := f.Reaches(c.person, c.facilitator); got != c.hit {
			t.Errorf("audience %d %v, person %q, facilitator %v: Reaches = %v", c.audience, c.people, c.person, c.facilitator, got)
		}
	}
}

func TestJoinAndLeaveReportTheFirstAndLastSession(t *testing.T) {
	r := New("e", Limits{})
	if !r.Join("a") || r.Join("a") || !r.Join("b") {
		t.Error("Join does not return whether the person is new")
	}
	if r.Online() != 2 || r.Sessions("a") != 2 || len(r.Present()) != 2 {
		t.Errorf("%d people are online, a has %d sessions; want 2 and 2", r.Online(), r.Sessions("a"))
	}
	if r.Leave("a") || !r.Leave("a") || r.Leave("a") || !r.Leave("b") {
		t.Error("Leave does not return whether it was the last session")
	}
	if r.Online() != 0 {
		t.Errorf("%d people are online, want 0", r.Online())
	}
}

type countingWaker struct{ n atomic.Int64 }

func (w *countingWaker) Wake() { w.n.Add(1) }

func TestOnlySubscribersAreWoken(t *testing.T) {
	r := New("e", Limits{})
	var a, b countingWaker
	r.Subscribe(&a)
	r.Subscribe(&b)
	r.Publish(Frame{Seq: 1})
	r.Unsubscribe(&a)
	r.Transient(Frame{})
	r.Unsubscribe(&b)
	r.Publish(Frame{Seq: 2})
	if a.n.Load() != 1 || b.n.Load() != 2 {
		t.Errorf("the subscribers were woken %d and %d times, want 1 and 2", a.n.Load(), b.n.Load())
	}
}

// TestReadersGetEveryFrame reads while the publisher writes. It is also for the race detector.
func TestReadersGetEveryFrame(t *testing.T) {
	const last = 20_000
	r := New("e", Limits{Frames: last})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			at := uint64(0)
			for at < last {
				frames, to, ok := r.After(at, nil, 1000)
				if !ok {
					t.Errorf("a replay from %d is not possible", at)
					return
				}
				for _, f := range frames {
					if f.Seq != at+1 {
						t.Errorf("frame %d follows %d", f.Seq, at)
						return
					}
					at = f.Seq
				}
				if at != to {
					t.Errorf("the last frame is %d, but After returned %d", at, to)
					return
				}
				runtime.Gosched()
			}
		})
	}
	for seq := uint64(1); seq <= last; seq++ {
		r.Publish(Frame{Seq: seq, Payload: fmt.Append(nil, seq)})
	}
	readers.Wait()
}

func TestAnEmptyRoomIsSmall(t *testing.T) {
	const n = 10_000
	rooms := make([]*Room, n)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // the second one frees what the first one found
	runtime.ReadMemStats(&before)
	for i := range rooms {
		rooms[i] = New("epoch", Limits{})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / n; each > 512 {
		t.Errorf("an empty room takes %d bytes, want at most 512", each)
	}
	runtime.KeepAlive(rooms)
}

func BenchmarkPublish(b *testing.B) {
	r := New("e", Limits{})
	payload := make([]byte, 200)
	b.ReportAllocs()
	for i := range b.N {
		r.Publish(Frame{Seq: uint64(i + 1), Payload: payload})
	}
}
