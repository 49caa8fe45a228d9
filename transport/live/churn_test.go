package live

import (
	"crypto/tls"
	"fmt"
	mrand "math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fasthttp/websocket"

	"atelier/actors/room"
)

// TestChurn publishes from one goroutine while many clients read, write, disconnect and reconnect
// with their last position. Each client verifies that it receives every frame addressed to it, once
// and in order. It also verifies that every response arrives after the frame to which the response
// refers.
func TestChurn(t *testing.T) {
	for _, c := range []struct {
		name         string
		wire         wireKind
		betweenPolls int
		padding      int
	}{
		{"plain", bare, 0, 0},
		{"TLS", secured, 0, 0},
		{"TLS on goroutines", piped, 0, 0},
		{"polling after every write", bare, 1, 0},
		{"falling behind", bare, 1, 3000},
		{"falling behind with TLS", secured, 1, 3000},
	} {
		t.Run(c.name, func(t *testing.T) { churn(t, c.wire, c.betweenPolls, c.padding) })
	}
}

func churn(t *testing.T, kind wireKind, betweenPolls, padding int) {
	const people, last = 40, 3000
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)

	scheme, dialer := "ws", &websocket.Dialer{}
	if padding > 0 {
		dialer.NetDial = dialNarrow
	}
	var wrap []func(net.Listener) net.Listener
	if kind != bare {
		scheme, dialer.TLSClientConfig = "wss", &tls.Config{InsecureSkipVerify: true}
		wrap = append(wrap, withTLS(t, kind))
	}
	h := newTestServer(t, Options{
		Loops: 3, Tick: 10 * time.Millisecond, MaxBehind: 1 << 40, writesBetweenPolls: betweenPolls,
	}, wrap...)
	// Every third frame is for everyone. Each of the others is for one person.
	forPerson := func(seq uint64) (person int, only bool) { return int(seq) % people, seq%3 != 0 }
	r := h.room("a")
	// The clients set the pace: the publisher sends roughly one batch per message that a client
	// reads. A client that waits for a message requests it with a value in pulse.
	pulse := make(chan struct{}, 16)
	publisher := make(chan struct{})
	go func() {
		defer close(publisher)
		rng := mrand.New(mrand.NewPCG(seed, 0))
		for seq := uint64(1); seq <= last; {
			var batch []room.Frame
			for range 1 + rng.IntN(20) {
				f := frames(seq, seq)[0]
				f.Payload = append(f.Payload, strings.Repeat(" ", padding)...)
				if person, only := forPerson(seq); only {
					f.Audience, f.People[0] = room.People, fmt.Sprint("p", person)
				}
				if batch = append(batch, f); seq == last {
					seq++
					break
				}
				seq++
			}
			r.Publish(batch...)
			r.Transient(room.Frame{Payload: []byte(`"transient"`)})
			<-pulse
		}
	}()
	var reconnects atomic.Int64
	var wg sync.WaitGroup
	for person := range people {
		wg.Go(func() {
			rng := mrand.New(mrand.NewPCG(seed, uint64(person)+1))
			seen := uint64(0)
			for seen < last {
				url := fmt.Sprintf("%s://%s/ws?room=a&person=p%d&since=%d", scheme, h.addr, person, seen)
				conn, _, err := dialer.Dial(url, nil)
				if err != nil {
					t.Errorf("a client could not connect: %v", err)
					return
				}
				reconnects.Add(1)
				seen, err = follow(conn, pulse, person, seen, last, rng.IntN(400), forPerson)
				conn.Close()
				if err != nil {
					t.Errorf("person %d failed: %v", person, err)
					return
				}
			}
		})
	}
	wg.Wait()
	<-publisher
	if n := reconnects.Load(); n < 2*people {
		t.Errorf("there were only %d connections, want reconnects", n)
	}
	if stats := h.hub.Stats(); padding > 0 && stats.ShortWrites == 0 {
		t.Error("no client fell behind")
	}
	eventually(t, "everybody has left", func() bool { return h.hub.Stats().Sessions == 0 })
}

// follow reads the welcome and then at most a number of messages (some). It returns the position of
// the last frame that it read, or last if this was the person's final frame.
func follow(conn *websocket.Conn, pulse chan<- struct{}, person int, seen, last uint64, some int, forPerson func(uint64) (int, bool)) (uint64, error) {
	mine := func(seq uint64) bool {
		p, only := forPerson(seq)
		return !only || p == person
	}
	end := last
	for end > 0 && !mine(end) {
		end--
	}
	read := func() ([]byte, error) {
		select {
		case pulse <- struct{}{}:
		default:
		}
		_ = conn.SetReadDeadline(time.Now().Add(testTimeout))
		_, p, err := conn.ReadMessage()
		return p, err
	}
	p, err := read()
	if err != nil {
		return seen, err
	}
	if want := fmt.Sprintf(`{"type":"welcome","seq":%d`, seen); !strings.HasPrefix(string(p), want) {
		return seen, fmt.Errorf("got %s, want %s", p, want)
	}
	echoes, echoed := 0, 0
	for range some {
		if seen >= end {
			return last, nil
		}
		if echoes == echoed {
			echoes++
			if err := conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, "echo \"%d\"", echoes)); err != nil {
				return seen, err
			}
		}
		p, err := read()
		if err != nil {
			return seen, err
		}
		var n uint64
		switch {
		case string(p) == `"transient"`:
		case p[0] == '"':
			if echoed++; string(p) != fmt.Sprintf("\"%d\"", echoed) {
				return seen, fmt.Errorf("got the echo %s, want %d", p, echoed)
			}
		default:
			if _, err := fmt.Sscanf(string(p), `{"seq":%d}`, &n); err != nil {
				return seen, fmt.Errorf("got %.100q: %w", p, err)
			}
			want := seen + 1
			for !mine(want) {
				want++
			}
			if n != want {
				return seen, fmt.Errorf("got frame %d after %d, want %d", n, seen, want)
			}
			seen = n
		}
	}
	if seen >= end {
		return last, nil
	}
	return seen, nil
}
