//go:build linux

package broadcast

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fasthttp/websocket"
	"go.uber.org/goleak"

	"atelier/bench/pacing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hub is a server that sends every message to all listeners.
type hub struct {
	mu      sync.Mutex
	clients map[string]*listener
	// harm, if set, returns the messages that a client receives instead of the given one.
	harm func(client, message string) []string
	// pause is the time in nanoseconds for which the next call of publish blocks.
	pause atomic.Int64
	// beside contains the additional messages by client; guarded by mu.
	beside map[string][]string
	// after, if set, is called with the outcome while the engine still runs.
	after func(*Outcome)
}

type listener struct{ send func(string) }

func (h *hub) join(id string, send func(string)) (leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	me := &listener{send: send}
	h.clients[id] = me
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.clients[id] == me {
			delete(h.clients, id)
		}
	}
}

func (h *hub) publish(message string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	time.Sleep(time.Duration(h.pause.Swap(0)))
	for id, c := range h.clients {
		out := []string{message}
		if h.harm != nil {
			out = h.harm(id, message)
		}
		for _, m := range out {
			c.send(m)
		}
	}
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/ws":
		upgrader := websocket.Upgrader{}
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer ws.Close()
		leave := h.join(r.URL.Query().Get("id"), func(m string) { _ = ws.WriteMessage(websocket.TextMessage, []byte(m)) })
		defer leave()
		for {
			_, p, err := ws.ReadMessage()
			if err != nil {
				return
			}
			switch id := r.URL.Query().Get("id"); {
			case strings.HasPrefix(string(p), "step"):
				h.mu.Lock()
				h.beside[id] = append(h.beside[id], string(p))
				h.mu.Unlock()
			case string(p) != "hello":
				h.publish(string(p))
			}
		}
	case "/events":
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(200)
		_ = http.NewResponseController(w).Flush()
		messages := make(chan string, 1000)
		leave := h.join(r.URL.Query().Get("id"), func(m string) { messages <- m })
		defer leave()
		for {
			select {
			case <-r.Context().Done():
				return
			case m := <-messages:
				fmt.Fprintf(w, "data: %s\n\n", m)
				_ = http.NewResponseController(w).Flush()
			}
		}
	case "/publish":
		b, _ := io.ReadAll(r.Body)
		h.publish(string(b))
	default:
		w.WriteHeader(404)
	}
}

var words = Dialect{Hello: "hello", Send: "{{stamp}} {{seq}} {{pad}}", Size: 60, Match: `(?P<stamp>\d+) (?P<seq>\d+) `}

// hold runs a job against a hub and returns the outcome.
func hold(t *testing.T, h *hub, change func(*Job, *Load), during func(*Engine)) *Outcome {
	t.Helper()
	return runWith(t, h, change, during, func(Sample) {})
}

func runWith(t *testing.T, h *hub, change func(*Job, *Load), during func(*Engine), emit func(Sample)) *Outcome {
	t.Helper()
	h.clients, h.beside = map[string]*listener{}, map[string][]string{}
	srv := httptest.NewServer(h)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	job := &Job{Address: srv.Listener.Addr().String(), Host: "x", Dialect: words, AllPublishers: 2, Seed: 1}
	for i := range 5 {
		job.Subscribers = append(job.Subscribers, Seat{Path: fmt.Sprint("/ws?id=", i)})
	}
	job.Publishers = []Seat{{Path: "/ws?id=a"}, {Path: "/ws?id=b"}}
	clock := pacing.NewClock()
	l := &Load{Stages: []Stage{{During: time.Minute, Rate: 200}}}
	if change != nil {
		change(job, l)
	}
	e, err := NewEngine(job, clock, time.Hour, emit)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.Connect(0)
	wait(t, func() bool { m := e.Muster(); return m.Ready == m.All })
	// The hub registers a listener shortly after the client is ready.
	wait(t, func() bool { h.mu.Lock(); defer h.mu.Unlock(); return len(h.clients) == len(e.clients) })
	l.Start = e.now()
	l.From, l.Until = l.Start+50*time.Millisecond, l.Start+cmp.Or(l.Until, 400*time.Millisecond)
	if during != nil {
		during(e)
	}
	e.Load(l)
	e.until(l.Until, func() bool { return false })
	sent := e.Sent()
	bound := 10 * time.Second
	if h.harm != nil {
		// The whole time is spent waiting for messages that never arrive.
		bound = 5 * time.Second
	}
	f := &Finish{Until: e.now() + bound, Sent: []int64{sent.Messages[0], sent.Messages[1]}, Refused: sent.Refused}
	if f.Sent[0] < 10 || f.Sent[1] < 10 {
		t.Errorf("the publishers sent %v messages, want at least 10 each", f.Sent)
	}
	o := e.Finish(f)
	if h.after != nil {
		h.after(o)
	}
	return o
}

func wait(t *testing.T, holds func() bool) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	for !holds() {
		if time.Now().After(end) {
			t.Fatal("timed out waiting for the condition")
		}
		time.Sleep(time.Millisecond)
	}
}

func clean(t *testing.T, o *Outcome) {
	t.Helper()
	if o.Lost+o.Duplicated+o.Reordered+o.Gaps+o.Unsent+o.Refused != 0 || o.Unfinished != 0 || o.Open != 5 {
		t.Errorf("the outcome is %+v, want no failure and 5 connections", *o)
	}
	if o.Deliveries.Count() != o.Arrived || o.Arrived != 5*o.Messages || o.Messages < 20 {
		t.Errorf("%d messages, %d arrived, %d timed", o.Messages, o.Arrived, o.Deliveries.Count())
	}
}

func TestAHubsMessagesAreReceived(t *testing.T) { clean(t, hold(t, &hub{}, nil, nil)) }

// Each subscriber sends its additional messages in their order, and then begins again with the
// first.
func TestSubscribersSendTheirOwnMessagesInOrder(t *testing.T) {
	h := &hub{}
	sent := 0
	// Earlier messages have arrived once everybody has received the last one.
	h.after = func(*Outcome) {
		h.mu.Lock()
		defer h.mu.Unlock()
		for client, texts := range h.beside {
			sent += len(texts)
			if client == "a" || client == "b" {
				t.Errorf("a publisher sent %q", texts)
			}
			for i, text := range texts {
				if text != fmt.Sprint("step ", i%2+1) {
					t.Errorf("%s sent %q", client, texts)
					break
				}
			}
		}
		if len(h.beside) != 5 {
			t.Errorf("%d of 5 subscribers sent something", len(h.beside))
		}
	}
	o := hold(t, h, func(j *Job, l *Load) {
		j.Dialect.Beside, l.Beside = []string{"step 1", "step 2"}, 20*time.Millisecond
	}, nil)
	clean(t, o)
	if o.Beside == 0 || int(o.Beside) < sent {
		t.Errorf("%d are counted, but %d arrived", o.Beside, sent)
	}
}

func TestUnthrottledPublishersLoseNothing(t *testing.T) {
	clean(t, hold(t, &hub{}, func(_ *Job, l *Load) { l.Stages, l.Window = []Stage{{}}, 4 }, nil))
}

func TestAnEventStreamIsReceived(t *testing.T) {
	o := hold(t, &hub{}, func(j *Job, _ *Load) {
		j.Stream = true
		for i := range j.Publishers {
			j.Publishers[i].Publish = "http://" + j.Address + "/publish"
		}
		for i := range j.Subscribers {
			j.Subscribers[i].Path = fmt.Sprint("/events?id=", i)
		}
	}, nil)
	clean(t, o)
	if o.Acked < 20 || o.Acked <= o.Messages || o.Acks.Count() != o.Messages {
		t.Errorf("%d posts were acknowledged, %d of them measured, for %d measured messages", o.Acked, o.Acks.Count(), o.Messages)
	}
}

// Each kind of harm is found as often as it was injected.
func TestInjectedHarmIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		harm  func(*int64) func(string, string) []string
		found func(*Outcome) int64
	}{
		"loss": {func(n *int64) func(string, string) []string {
			return func(client, m string) []string {
				if client == "2" && strings.Contains(m, "7 x") {
					*n++
					return nil
				}
				return []string{m}
			}
		}, func(o *Outcome) int64 { return o.Lost }},
		"doubling": {func(n *int64) func(string, string) []string {
			return func(client, m string) []string {
				if client == "1" && strings.Contains(m, "3 x") {
					*n++
					return []string{m, m}
				}
				return []string{m}
			}
		}, func(o *Outcome) int64 { return o.Duplicated }},
		"swapping": {func(n *int64) func(string, string) []string {
			var held string
			return func(client, m string) []string {
				_, seq, _ := strings.Cut(m, " ")
				switch {
				case client != "0" || !strings.HasPrefix(seq, "20 ") && !strings.HasPrefix(seq, "22 "):
					return []string{m}
				case held == "":
					held = m
					return nil
				}
				*n++
				return []string{m, held}
			}
		}, func(o *Outcome) int64 { return o.Reordered }},
	} {
		t.Run(name, func(t *testing.T) {
			var done int64
			h := &hub{harm: c.harm(&done)}
			o := hold(t, h, nil, nil)
			h.mu.Lock()
			defer h.mu.Unlock()
			if got := c.found(o); got != done || done == 0 {
				t.Errorf("found %d, injected %d: %+v", got, done, *o)
			}
		})
	}
}

// A pause of the server counts in the latency of the messages that were due during it.
func TestAPauseOfTheServerShowsInTheLatency(t *testing.T) {
	h := &hub{}
	o := hold(t, h, nil, func(e *Engine) {
		e.later(t, 100*time.Millisecond, func() { h.pause.Store(int64(150 * time.Millisecond)) })
	})
	clean(t, o)
	if most := o.Deliveries.Max(); most < 100*time.Millisecond {
		t.Errorf("the slowest delivery took %v", most)
	}
}

// A client that loses its connection reconnects. If the server does not replay missed messages, the
// messages in between do not count as lost.
func TestLostConnectionsAreReopened(t *testing.T) {
	o := hold(t, &hub{}, nil, func(e *Engine) { e.Drop(&Drop{At: e.now() + 100*time.Millisecond, Spread: 50 * time.Millisecond}) })
	if o.Resumes.Count() != 5 || o.Lost != 0 || o.Open != 5 || o.Duplicated != 0 || o.Ended != 0 {
		t.Errorf("%d clients reconnected, want 5: %+v", o.Resumes.Count(), *o)
	}
	if o.Away == 0 || o.Unfinished != 0 {
		t.Errorf("%d missed while disconnected, %d unfinished", o.Away, o.Unfinished)
	}
}

// A client that reconnects after the last message has missed that message. The run does not wait
// for a message that can no longer arrive.
func TestAReconnectAfterTheLastMessageDoesNotDelayTheEnd(t *testing.T) {
	o := hold(t, &hub{}, nil, func(e *Engine) { e.Drop(&Drop{At: e.now() + 350*time.Millisecond, Spread: 500 * time.Millisecond}) })
	if o.Open != 5 || o.Lost != 0 || o.Unfinished != 0 {
		t.Errorf("the outcome is %+v", *o)
	}
}

// Clients that stop reading get all messages once they read again. Their latencies are not counted.
func TestStalledClientsCatchUp(t *testing.T) {
	o := hold(t, &hub{}, func(j *Job, l *Load) { j.Stalled, j.ReceiveBuffer = 2, 4<<10 }, func(e *Engine) {
		e.loop.Do(func() { e.sleep(true) })
		e.later(t, 200*time.Millisecond, func() { e.sleep(false) })
	})
	if s := o.Stalled; s.People != 2 || s.CaughtUp != 2 || o.Lost != 0 || o.Duplicated != 0 || o.Deliveries.Count() != 3*o.Messages {
		t.Errorf("%+v, %d timed deliveries of %d messages", o.Stalled, o.Deliveries.Count(), o.Messages)
	}
}

// later runs a function on the loop after the given time.
func (e *Engine) later(t *testing.T, after time.Duration, do func()) {
	t.Helper()
	e.loop.Do(func() { e.at(e.now()+after, do) })
}

func TestRefusedMessagesAreCounted(t *testing.T) {
	o := hold(t, &hub{harm: func(_, m string) []string {
		stamp, rest, _ := strings.Cut(m, " ")
		seq, _, _ := strings.Cut(rest, " ")
		if stamp != "" && strings.HasSuffix(seq, "5") {
			return []string{"no " + seq + ", you of s3same"}
		}
		return []string{m, "yes " + seq}
	}}, func(j *Job, _ *Load) {
		j.Secrets = []string{"s3same"}
		j.Dialect.Ack, j.Dialect.Refusal = `^yes (?P<seq>\d+)`, `^no (?P<seq>\d+)`
	}, nil)
	if !strings.HasPrefix(o.Complaint, "no ") || !strings.HasSuffix(o.Complaint, ", you of ***") {
		t.Errorf("the server's error text is not reported: %q", o.Complaint)
	}
	if o.Refused == 0 || o.Lost != 0 || o.Unfinished != 0 || o.Acked == 0 {
		t.Errorf("the outcome is %+v", *o)
	}
}

// An unthrottled publisher continues after a refusal.
func TestRefusalsDoNotStopAPublisher(t *testing.T) {
	o := hold(t, &hub{harm: func(_, m string) []string {
		_, rest, _ := strings.Cut(m, " ")
		seq, _, _ := strings.Cut(rest, " ")
		if strings.HasSuffix(seq, "5") {
			return []string{"no " + seq}
		}
		return []string{m, "yes " + seq}
	}}, func(j *Job, l *Load) {
		j.Dialect.Ack, j.Dialect.Refusal = `^yes (?P<seq>\d+)`, `^no (?P<seq>\d+)`
		l.Stages, l.Window = []Stage{{}}, 4
	}, nil)
	if o.Refused <= 4 {
		t.Errorf("%d refusals, want more than 4", o.Refused)
	}
}

// An unthrottled publisher continues if a message is lost.
func TestLossDoesNotStopAPublisher(t *testing.T) {
	const all = 8 // the windows of both publishers together
	var lost atomic.Int64
	o := hold(t, &hub{harm: func(client, m string) []string {
		if client == "1" && lost.Add(1) <= all {
			return nil
		}
		return []string{m}
	}}, func(_ *Job, l *Load) {
		l.Stages, l.Window, l.Until = []Stage{{}}, 4, 2*maxSilence
	}, nil)
	if o.Lost != all || o.AllDeliveries < 100 {
		t.Errorf("%d messages were lost, want %d; %d were delivered", o.Lost, all, o.AllDeliveries)
	}
}

// A gap counts only for clients that read, because it is expected for those that stopped reading.
func TestGapsCountOnlyForReadingClients(t *testing.T) {
	e := &Engine{}
	for _, sleeper := range []bool{true, false} {
		c := &client{sleeper: sleeper}
		if e.gap(c); !c.gap {
			t.Error("the gap was forgotten")
		}
	}
	if e.out.Gaps != 1 {
		t.Errorf("%d gaps, want 1", e.out.Gaps)
	}
}

func TestAnUnreachableServerIsReported(t *testing.T) {
	job := &Job{Address: "127.0.0.1:1", Host: "x", Dialect: words, AllPublishers: 1, Subscribers: []Seat{{Path: "/"}}, Seed: 1}
	e, err := NewEngine(job, pacing.NewClock(), 0, func(Sample) {})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.Connect(0)
	wait(t, func() bool {
		refused := 0
		e.loop.Do(func() {
			refused = e.out.Disconnects["connection refused"] + e.out.Disconnects["connect: connection refused"]
		})
		return refused > 1
	})
}

// A server can send messages or close the connection while the outcome is already being sent. The
// outcome must not change any more.
func TestTheOutcomeDoesNotChangeAfterwards(t *testing.T) {
	h := &hub{}
	h.after = func(o *Outcome) {
		for n := range 20 {
			before, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			h.publish(fmt.Sprint("1 ", n%2, " x"))
			time.Sleep(2 * time.Millisecond)
			if after, _ := json.Marshal(o); !bytes.Equal(before, after) {
				t.Fatalf("the outcome changed from %s\nto %s", before, after)
			}
		}
	}
	clean(t, hold(t, h, nil, nil))
}

// The seconds of a run, including the one in which it ended, add up to the whole.
func TestTheSecondsAddUpToTheRun(t *testing.T) {
	var samples []Sample
	o := runWith(t, &hub{}, nil, func(e *Engine) {
		e.later(t, 300*time.Millisecond, func() { e.tick() })
	}, func(s Sample) { samples = append(samples, s) })
	clean(t, o)
	var sent, delivered, timed int64
	for _, s := range append(samples, o.Rest) {
		sent, delivered = sent+s.Sent, delivered+s.Deliveries
		if s.Latencies != nil {
			timed += s.Latencies.Count()
		}
	}
	if delivered != o.AllDeliveries || delivered != 5*sent || timed != o.Arrived || o.Rest.Deliveries == 0 {
		t.Errorf("%d sent, %d delivered, %d timed in seconds; %+v", sent, delivered, timed, *o)
	}
}

// A server that accepts posts and never responds does not delay the end of a run.
func TestPostsWithoutResponsesAreAbandoned(t *testing.T) {
	over := make(chan struct{})
	mute := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}))
	defer mute.Close()
	defer close(over)
	job := &Job{Stream: true, Publishers: []Seat{{Publish: mute.URL}}}
	p, err := newPoster(job, mute.Listener.Addr().String(), []*script{job.Dialect.script()})
	if err != nil {
		t.Fatal(err)
	}
	var refused atomic.Int64
	for range 100 {
		p.post(0, []byte("x"), func(err error) {
			if err != nil {
				refused.Add(1)
			}
		})
	}
	p.wait(50 * time.Millisecond)
	p.close()
	if refused.Load() != 100 {
		t.Errorf("%d posts were abandoned, want 100", refused.Load())
	}
}

// A message that was never sent is reported even if nothing else is wrong.
func TestAForeignMessageIsReported(t *testing.T) {
	h := &hub{harm: func(client, m string) []string {
		if stamp, _, _ := strings.Cut(m, " "); client == "3" && strings.Contains(m, " 20 x") {
			return []string{m, stamp + " 77777777 x"}
		}
		return []string{m}
	}}
	if o := hold(t, h, nil, nil); o.Foreign != 1 || o.Lost+o.Duplicated+o.Reordered+o.Forged != 0 {
		t.Errorf("the outcome is %+v, want one foreign message", *o)
	}
}

// A failed post is reported without its address, and with masked secrets. A redirected post is not
// sent to the other server.
func TestErrorsOfFailedPostsContainNoSecret(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a post went to another server") }))
	defer elsewhere.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
			return
		}
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		fmt.Fprintf(c, "%s\r\n\r\n", r.URL.Query().Get("t"))
	}))
	defer srv.Close()
	post := func(path string) string {
		job := &Job{
			Address: srv.Listener.Addr().String(), Stream: true, Dialect: Dialect{Send: words.Send}, AllPublishers: 1, Secrets: []string{"s3same"},
			Publishers: []Seat{{Publish: srv.URL + path + "?t=s3same"}},
		}
		e, err := NewEngine(job, pacing.NewClock(), 0, func(Sample) {})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		e.loop.Do(func() {
			e.load = &Load{Until: time.Hour, Stages: []Stage{{Rate: 1}}}
			e.send(0, 0)
		})
		complaint := ""
		wait(t, func() bool {
			e.loop.Do(func() { complaint = e.out.Complaint })
			return complaint != ""
		})
		return complaint
	}
	if got := post("/"); !strings.Contains(got, `malformed HTTP response "***"`) || strings.Contains(got, srv.URL) {
		t.Errorf("the error is %q, want the masked response without the address", got)
	}
	if got := post("/moved"); got != "status 307" {
		t.Errorf("after a redirection, the error is %q, want status 307", got)
	}
}
