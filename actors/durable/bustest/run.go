package bustest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"atelier/actors/durable"
)

// wait is the timeout for everything that must happen.
const wait = 20 * time.Second

// Run tests a bus against its contract. nodes returns the buses of three connected nodes, "a", "b"
// and "c", and a function that stops "c".
func Run(t *testing.T, nodes func(t *testing.T) (buses [3]durable.Bus, stopC func())) {
	for name, test := range map[string]func(*testing.T, [3]durable.Bus, func()){
		"requests":           questions,
		"no listener":        nobody,
		"no reply":           noAnswer,
		"published messages": broadcasts,
		"large messages":     large,
		"stopped node":       ended,
		"stopped subject":    stops,
	} {
		t.Run(name, func(t *testing.T) {
			b, stop := nodes(t)
			test(t, b, stop)
		})
	}
}

type outcome struct {
	data []byte
	err  error
}

// asking sends a request and waits for its outcome.
func asking(b durable.Bus, node, subject string, data []byte, timeout time.Duration) outcome {
	got := make(chan outcome, 2)
	b.Request(node, subject, data, timeout, func(data []byte, err error) { got <- outcome{bytes.Clone(data), err} })
	return <-got
}

// Reached waits until each bus reaches all others.
func Reached(t *testing.T, names []string, buses []durable.Bus) {
	t.Helper()
	for _, b := range buses {
		stop, err := b.Serve("reached", func(_ string, _ []byte, answer func([]byte)) { answer(nil) })
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
	}
	for i, b := range buses {
		for j, to := range names {
			until := time.Now().Add(wait)
			for i != j && asking(b, to, "reached", nil, time.Second).err != nil {
				if time.Now().After(until) {
					t.Fatalf("%s does not reach %s", names[i], to)
				}
			}
		}
	}
}

func questions(t *testing.T, b [3]durable.Bus, _ func()) {
	stop, err := b[1].Serve("ask.x", func(from string, data []byte, answer func([]byte)) {
		data = bytes.Clone(data)
		go answer(append([]byte(from+" asked "), data...))
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for _, from := range []int{0, 2} { // each node detects independently that b serves the subject
		Reachable(t, b[from], "b", "ask.x")
	}
	const n = 200
	got := make(chan string, n)
	for i := range n {
		b[i%2*2].Request("b", "ask.x", fmt.Append(nil, i), wait, func(data []byte, err error) { got <- fmt.Sprint(string(data), err) })
	}
	seen := map[string]int{}
	for range n {
		seen[<-got]++
	}
	for i := range n {
		if who := "ac"[i%2]; seen[fmt.Sprintf("%c asked %d<nil>", who, i)] != 1 {
			t.Fatalf("request %d did not get exactly one reply: %v", i, seen)
		}
	}
}

// Reachable waits until a node serves a subject.
func Reachable(t *testing.T, b durable.Bus, node, subject string) {
	t.Helper()
	until := time.Now().Add(wait)
	for errors.Is(asking(b, node, subject, nil, time.Second).err, durable.ErrNobody) {
		if time.Now().After(until) {
			t.Fatalf("%s does not serve %s", node, subject)
		}
	}
}

func nobody(t *testing.T, b [3]durable.Bus, _ func()) {
	for _, to := range []string{"b", "nobody", "a.b", ""} {
		if o := asking(b[0], to, "unserved", []byte("x"), wait); !errors.Is(o.err, durable.ErrNobody) {
			t.Errorf("a request to %q returned %v, want ErrNobody", to, o)
		}
	}
}

func noAnswer(t *testing.T, b [3]durable.Bus, _ func()) {
	answers := make(chan func([]byte), 1)
	stop, err := b[1].Serve("silent", func(_ string, data []byte, answer func([]byte)) {
		if len(data) > 0 {
			answers <- answer
			return
		}
		answer(nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	Reachable(t, b[0], "b", "silent")
	if o := asking(b[0], "b", "silent", []byte("x"), 10*time.Millisecond); !errors.Is(o.err, durable.ErrTimeout) {
		t.Errorf("an unanswered request returned %v, want ErrTimeout", o)
	}
	(<-answers)([]byte("too late"))
	if o := asking(b[0], "b", "silent", nil, wait); o.err != nil || len(o.data) != 0 {
		t.Errorf("the next request returned %q, %v", o.data, o.err)
	}
}

func broadcasts(t *testing.T, b [3]durable.Bus, _ func()) {
	type message struct{ to, from, data string }
	got := make(chan message, 4096)
	for i, name := range []string{"a", "b", "c"} {
		stop, err := b[i].Listen("news.x", func(from string, data []byte) { got <- message{name, from, string(data)} })
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
	}
	// A subscription takes a moment to reach the other nodes.
	until := time.Now().Add(wait)
	for received := map[string]bool{}; len(received) < 2; {
		if time.Now().After(until) {
			t.Fatalf("only %v received the message", received)
		}
		if err := b[0].Publish("news.x", []byte("hello")); err != nil {
			t.Fatal(err)
		}
		select {
		case s := <-got:
			received[s.to] = true
		case <-time.After(10 * time.Millisecond):
		}
	}
	const n = 500
	for i := range n {
		if err := b[0].Publish("news.x", fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
		if err := b[0].Publish("news.other", []byte("unheard")); err != nil {
			t.Fatal(err)
		}
	}
	next := map[string]int{}
	for next["b"] < n || next["c"] < n {
		s := <-got
		switch {
		case s.from != "a" || s.to == "a" || s.data == "unheard":
			t.Fatalf("unexpected message %+v", s)
		case s.data == "hello":
		case s.data != fmt.Sprint(next[s.to]):
			t.Fatalf("%s received %s, want %d", s.to, s.data, next[s.to])
		default:
			next[s.to]++
		}
	}
}

func large(t *testing.T, b [3]durable.Bus, _ func()) {
	stop, err := b[1].Serve("large", func(_ string, data []byte, answer func([]byte)) {
		answer(append([]byte("got "), data...))
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	Reachable(t, b[0], "b", "large")
	for _, size := range []int{512 << 10, 512<<10 + 1, 5 << 20} {
		data := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		o := asking(b[0], "b", "large", data, wait)
		if o.err != nil || !bytes.Equal(o.data, append([]byte("got "), data...)) {
			t.Fatalf("a message of %d bytes was answered with %d, %v", size, len(o.data), o.err)
		}
	}
	if o := asking(b[0], "b", "large", make([]byte, 100<<20), wait); o.err == nil {
		t.Error("a message of 100 MiB was accepted")
	}
}

func ended(t *testing.T, b [3]durable.Bus, stopC func()) {
	stop, err := b[2].Serve("there", func(_ string, _ []byte, answer func([]byte)) { answer(nil) })
	if err != nil {
		t.Fatal(err)
	}
	Reachable(t, b[0], "c", "there")
	stopC()
	stop()
	until := time.Now().Add(wait)
	for asking(b[0], "c", "there", nil, 50*time.Millisecond).err == nil {
		if time.Now().After(until) {
			t.Fatal("a stopped node still answers")
		}
	}
}

func stops(t *testing.T, b [3]durable.Bus, _ func()) {
	stop, err := b[1].Serve("once", func(_ string, _ []byte, answer func([]byte)) { answer(nil) })
	if err != nil {
		t.Fatal(err)
	}
	Reachable(t, b[0], "b", "once")
	stop()
	stop()
	until := time.Now().Add(wait)
	for !errors.Is(asking(b[0], "b", "once", nil, 50*time.Millisecond).err, durable.ErrNobody) {
		if time.Now().After(until) {
			t.Fatal("the subject is still served")
		}
	}
}
