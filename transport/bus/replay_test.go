package bus

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"atelier/actors/durable"
)

// elsewhere starts an external NATS server without authentication and returns its address.
func elsewhere(t testing.TB) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(testTimeout) {
		t.Fatal("NATS did not start")
	}
	return s.ClientURL()
}

// attacker records all messages on a NATS server, and sends them again.
type attacker struct {
	*testing.T
	conn     *nats.Conn
	came     chan *nats.Msg
	recorded []*nats.Msg
}

func newAttacker(t *testing.T, url string) *attacker {
	t.Helper()
	a := &attacker{T: t, came: make(chan *nats.Msg, 1<<16)}
	var err error
	if a.conn, err = nats.Connect(url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.conn.Close)
	_, err = a.conn.ChanSubscribe(">", a.came)
	if err == nil {
		err = a.conn.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// all returns the messages so far.
func (a *attacker) all() []*nats.Msg {
	a.Helper()
	if err := a.conn.Flush(); err != nil {
		a.Fatal(err)
	}
	for len(a.came) > 0 {
		a.recorded = append(a.recorded, <-a.came)
	}
	return a.recorded[:len(a.recorded):len(a.recorded)]
}

// publish publishes messages. When it returns, they precede all later messages to a node.
func (a *attacker) publish(all []*nats.Msg, edit func(m *nats.Msg)) {
	a.Helper()
	for _, m := range all {
		m = &nats.Msg{Subject: m.Subject, Reply: m.Reply, Data: bytes.Clone(m.Data)}
		edit(m)
		if err := a.conn.PublishMsg(m); err != nil {
			a.Fatal(err)
		}
	}
	if err := a.conn.Flush(); err != nil {
		a.Fatal(err)
	}
}

func as(*nats.Msg) {}

// ears records the messages that a node receives.
type ears struct {
	mu       sync.Mutex
	received []string // guarded by mu
}

func (e *ears) listen(t *testing.T, b *Bus) {
	t.Helper()
	note := func(how string) func(string, []byte) {
		return func(from string, data []byte) {
			e.mu.Lock()
			defer e.mu.Unlock()
			if len(data) > 40 {
				data = data[:40]
			}
			e.received = append(e.received, how+" "+from+" "+string(data))
		}
	}
	for _, subject := range []string{"x", "y"} {
		asked, broadcast := note("asked "+subject), note("told "+subject)
		if _, err := b.Serve(subject, func(from string, data []byte, answer func([]byte)) {
			if len(data) > 0 {
				asked(from, data)
			}
			answer(data)
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Listen(subject, func(from string, data []byte) {
			if len(data) > 0 {
				broadcast(from, data)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	// An attacker subscribes to everything, so NATS never reports that a request has no responder.
	// The subscriptions must therefore be complete before the first request.
	if err := b.conn.Flush(); err != nil {
		t.Fatal(err)
	}
}

func (e *ears) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.received)
}

// ask sends a request and waits for the response.
func ask(t *testing.T, b *Bus, node, subject, data string) string {
	t.Helper()
	type result struct {
		data []byte
		err  error
	}
	for until := time.Now().Add(testTimeout); ; {
		got := make(chan result, 1)
		b.Request(node, subject, []byte(data), testTimeout, func(data []byte, err error) { got <- result{data, err} })
		r := <-got
		if errors.Is(r.err, durable.ErrNobody) && time.Now().Before(until) {
			continue // the message was lost, because the two nodes do not have each other's session yet
		}
		if r.err != nil {
			t.Fatal(r.err)
		}
		return string(r.data)
	}
}

// publishUntilReceived publishes until the other node has received a message. Messages are lost if
// the node does not have the sender's session yet.
func (e *ears) publishUntilReceived(t *testing.T, b *Bus, data string) {
	t.Helper()
	for until, n := time.Now().Add(testTimeout), e.count(); e.count() == n; {
		if time.Now().After(until) {
			t.Fatal("no message was received")
		}
		if err := b.Publish("x", []byte(data)); err != nil {
			t.Fatal(err)
		}
		ask(t, b, "b", "y", "") // answered after the messages were handled
	}
}

const plain = "PLAIN-TEXT-OF-A-COMMAND"

// An attacker on the nodes' NATS cannot read messages. Replayed messages are rejected: by the
// same process, by a restarted receiver, from a restarted sender, on another subject, and if
// changed.
func TestReplayedMessagesAreRejected(t *testing.T) {
	url := elsewhere(t)
	attacker := newAttacker(t, url)
	node := func(name string) *Bus { return open(t, Options{Node: name, Secret: "the secret", URL: url}) }
	a, b := node("a"), node("b")
	ears := &ears{}
	ears.listen(t, b)
	if got := ask(t, a, "b", "x", plain); got != plain {
		t.Fatalf("the response is %q", got)
	}
	ears.publishUntilReceived(t, a, plain)
	large := string(bytes.Repeat([]byte(plain), 3*partBytes/len(plain)))
	if got := ask(t, a, "b", "x", large); got != large {
		t.Fatal("a large response was changed")
	}
	received := ears.count()
	recorded := attacker.all()
	for _, m := range recorded {
		if bytes.Contains(m.Data, []byte("PLAIN")) || bytes.Contains(m.Data, []byte("COMMAND")) {
			t.Fatalf("a message on %s can be read", m.Subject)
		}
	}
	if len(recorded) < 10 {
		t.Fatalf("only %d messages were recorded", len(recorded))
	}
	nothing := func(when string, to *Bus, before Rejected, reasons ...Rejection) {
		t.Helper()
		ask(t, a, "b", "y", "") // handled after the attacker's messages
		if n := ears.count(); n != received {
			t.Fatalf("%s: %d messages were received again: %q", when, n-received, ears.received[received:])
		}
		after, more := to.Stats().Rejected, uint64(0)
		for _, r := range reasons {
			more += after[r] - before[r]
		}
		if more == 0 {
			t.Errorf("%s: no rejection for the reasons %v was counted: %v", when, reasons, after)
		}
	}

	before := b.Stats().Rejected
	attacker.publish(recorded, as)
	nothing("the same process", b, before, Replayed)

	before = b.Stats().Rejected
	attacker.publish(recorded, func(m *nats.Msg) { m.Data[len(m.Data)/2] ^= 4 })
	nothing("changed", b, before, Forged)

	before = b.Stats().Rejected
	attacker.publish(recorded, func(m *nats.Msg) {
		switch m.Subject {
		case subjectOf("b", "x"):
			m.Subject = subjectOf("b", "y")
		case broadcastSubject("x"):
			m.Subject = broadcastSubject("y")
		}
	})
	nothing("on other subjects", b, before, Forged)

	b.Close()
	b = node("b")
	ears.listen(t, b)
	ears.publishUntilReceived(t, a, "new")
	received = ears.count()
	before = b.Stats().Rejected
	attacker.publish(recorded, as)
	nothing("the receiver was restarted", b, before, StaleReceiver)
	if after := b.Stats().Rejected; after[Late] == before[Late] {
		t.Error("messages from before the restart were not rejected as late")
	}

	recorded = attacker.all()
	a.Close()
	a = node("a")
	ears.publishUntilReceived(t, a, "newer")
	received = ears.count()
	before = b.Stats().Rejected
	attacker.publish(recorded, as)
	nothing("the sender was restarted", b, before, UnknownSender)
	if ears.publishUntilReceived(t, a, "still heard"); ears.count() == received {
		t.Error("the replay replaced the current session by an earlier one")
	}

	b.Close()
	b = node("b")
	ears.listen(t, b)
	before = b.Stats().Rejected
	attacker.publish(recorded, as) // before the node has the session of any other node
	received = ears.count()
	nothing("a receiver without sessions of others", b, before, StaleReceiver, UnknownSender)
}

// A request that an attacker held back is rejected after its sender has returned with a new
// session. Parts of two messages are never combined into one message.
func TestDelayedMessagesAreRejected(t *testing.T) {
	url := elsewhere(t)
	attacker := newAttacker(t, url)
	a := open(t, Options{Node: "a", Secret: "the secret", URL: url})
	b := open(t, Options{Node: "b", Secret: "the secret", URL: url})
	ears := &ears{}
	ears.listen(t, b)
	ask(t, a, "b", "y", "")
	to := address{subjectOf("b", "x"), "reply", b.seal.session}
	publish := func(p part) {
		t.Helper()
		attacker.publish([]*nats.Msg{{Subject: to.subject, Reply: to.reply, Data: a.seal.sealed(t, to, p)}}, as)
	}
	kept := a.seal.sealed(t, to, part{count: 1, data: []byte("kept back")})
	for first := range uint64(2) {
		publish(part{first: first, number: int(first), count: 2, data: fmt.Append(nil, "part ", first)})
	}
	ask(t, a, "b", "y", "")
	if ears.count() > 0 {
		t.Fatalf("parts of two messages were combined: %q", ears.received)
	}
	publish(part{first: 0, number: 1, count: 2, data: []byte(" and its end")})
	ask(t, a, "b", "y", "")
	if len(ears.received) != 1 || ears.received[0] != "asked x a part 0 and its end" {
		t.Fatalf("the receiver got %q, want one request", ears.received)
	}
	a.Close()
	a = open(t, Options{Node: "a", Secret: "the secret", URL: url})
	ask(t, a, "b", "y", "")
	attacker.publish([]*nats.Msg{{Subject: to.subject, Reply: to.reply, Data: kept}}, as)
	ask(t, a, "b", "y", "")
	if ears.count() != 1 {
		t.Errorf("after the sender's restart, a delayed part was delivered: %q", ears.received)
	}
}

// A restarted receiver refuses requests to its earlier session. The sender can repeat them
// immediately, because the refusal shows that they were not executed.
func TestARestartedReceiverRefusesEarlierRequests(t *testing.T) {
	url := elsewhere(t)
	a := open(t, Options{Node: "a", Secret: "the secret", URL: url})
	b := open(t, Options{Node: "b", Secret: "the secret", URL: url})
	earlier := b.seal.session
	ears := &ears{}
	ears.listen(t, b)
	ask(t, a, "b", "x", "first")
	b.Close()
	b = open(t, Options{Node: "b", Secret: "the secret", URL: url})
	ears.listen(t, b)
	got := make(chan error, 1)
	a.ask("b", "x", earlier, []byte("late"), testTimeout, func(_ opened, err error) { got <- err })
	if err := <-got; !errors.Is(err, durable.ErrNobody) {
		t.Errorf("the late request returned %v, want ErrNobody", err)
	}
	if ask(t, a, "b", "x", "second"); ears.count() != 2 {
		t.Errorf("the receiver got %q, want the first and the second request", ears.received)
	}
	// This also holds after the handshake between the two sessions.
	a.ask("b", "x", earlier, []byte("later"), testTimeout, func(_ opened, err error) { got <- err })
	if err := <-got; !errors.Is(err, durable.ErrNobody) || ears.count() != 2 {
		t.Errorf("the later request returned %v, received %q", err, ears.received)
	}
}

// Requests during the handshake of two nodes are limited in number, and none is lost.
func TestRequestsDuringAHandshakeAreBoundedAndKept(t *testing.T) {
	p := newPeers()
	for i := range maxWaiting {
		_, ready, greet, err := p.hold("b", waiting{number: uint64(i), data: []byte("x")})
		if ready || greet != (i == 0) || err != nil {
			t.Fatalf("request %d: ready %v, greet %v, %v", i, ready, greet, err)
		}
	}
	if _, _, _, err := p.hold("b", waiting{}); !errors.Is(err, durable.ErrNobody) {
		t.Errorf("one request too many: %v, want ErrNobody", err)
	}
	if _, _, _, err := p.hold("c", waiting{data: make([]byte, maxWaitingBytes+1)}); !errors.Is(err, durable.ErrNobody) {
		t.Errorf("a request that is too large: %v, want ErrNobody", err)
	}
	p.admit("b", session{1}, nil, 0)
	if all := p.ready("b", session{2}); len(all) != 0 {
		t.Error("requests for another session are released")
	}
	if all := p.ready("b", session{1}); len(all) != maxWaiting || all[1].number != 1 {
		t.Errorf("%d requests are released", len(all))
	}
	if s, ready, _, _ := p.hold("b", waiting{}); !ready || s != (session{1}) {
		t.Error("the session is not ready")
	}
	for i := range 2 * maxCandidates {
		p.offer("b", session{byte(i), byte(i >> 8)})
	}
	if len(p.candidates) != maxCandidates {
		t.Errorf("there are %d candidates", len(p.candidates))
	}
}

// Only the session that received a request can respond, and only to the session that sent it.
// Each part of the response counts once.
func TestOnlyTheRequestedSessionCanRespond(t *testing.T) {
	url := elsewhere(t)
	attacker := newAttacker(t, url)
	node := func(name string) *Bus { return open(t, Options{Node: name, Secret: "the secret", URL: url}) }
	a, b, c := node("a"), node("b"), node("c")
	replies := make(chan func([]byte), 1)
	if _, err := b.Serve("silent", func(_ string, _ []byte, answer func([]byte)) { replies <- answer }); err != nil {
		t.Fatal(err)
	}
	(&ears{}).listen(t, a)
	(&ears{}).listen(t, b)
	(&ears{}).listen(t, c)
	for _, other := range []string{"b", "c"} {
		ask(t, a, other, "y", "")
	}
	got := make(chan string, 1)
	a.Request("b", "silent", nil, testTimeout, func(data []byte, err error) { got <- fmt.Sprint(string(data), err) })
	answer := <-replies
	reply := ""
	for _, m := range attacker.all() {
		if m.Subject == subjectOf("b", "silent") {
			reply = m.Reply
		}
	}
	_, another := testSealer(t, "the secret", "", "b")
	respond := func(s *sealer, to session, p part) []byte {
		m := s.sealed(t, address{reply, "", to}, p)
		attacker.publish([]*nats.Msg{{Subject: reply, Data: m}}, as)
		return m
	}
	wrong := part{count: 1, data: []byte("wrong")}
	for what, try := range map[string]func() Rejection{
		"from another node":    func() Rejection { respond(c.seal, a.seal.session, wrong); return Unasked },
		"from another session": func() Rejection { respond(another, a.seal.session, wrong); return UnknownSender },
		"to another session":   func() Rejection { respond(b.seal, session{1}, wrong); return StaleReceiver },
		"a part sent twice": func() Rejection {
			m := respond(b.seal, a.seal.session, part{first: 9, count: 2})
			attacker.publish([]*nats.Msg{{Subject: reply, Data: m}}, as)
			return Replayed
		},
	} {
		before := a.Stats().Rejected
		why := try()
		ask(t, c, "a", "y", "")
		if after := a.Stats().Rejected; after[why] != before[why]+1 || len(got) > 0 {
			t.Errorf("%s: rejections %v, then %v; answered: %v", what, before, after, len(got) > 0)
		}
	}
	answer([]byte("right"))
	if s := <-got; s != "right<nil>" {
		t.Errorf("the request returned %s", s)
	}
}

// Messages that a session sent before its handshake are rejected, because they can be recordings
// that an earlier session of this node received.
func TestMessagesFromBeforeAGreetingAreRejected(t *testing.T) {
	url := elsewhere(t)
	a := open(t, Options{Node: "a", Secret: "the secret", URL: url})
	b := open(t, Options{Node: "b", Secret: "the secret", URL: url})
	(&ears{}).listen(t, a)
	ask(t, b, "a", "y", "") // a has the session of b, and sends no greeting
	for range 10 {
		if err := a.Publish("x", []byte("earlier")); err != nil {
			t.Fatal(err)
		}
	}
	before := a.seal.serial.Load()
	b.peers.mu.Lock()
	delete(b.peers.known, "a")
	b.peers.mu.Unlock()
	ask(t, b, "a", "y", "")
	known := b.peers.session([]byte("a"), a.seal.session)
	if known == nil {
		t.Fatal("the node has no session of the other")
	}
	floor := known.window.floor
	b.greet("a") // b already has the session of a, so the greeting changes nothing
	ask(t, b, "a", "y", "")
	if again := b.peers.session([]byte("a"), a.seal.session); again != known {
		t.Error("a second greeting forgets received messages")
	}
	if floor < before {
		t.Errorf("messages above %d are accepted, but %d were sent before the greeting", floor, before)
	}
}

// A token proves only once that a session is alive. Otherwise an attacker could record the proof of
// a node's earlier session, and replay the proof after a newer session has replaced that session.
func TestATokenIsAcceptedOnce(t *testing.T) {
	p := newPeers()
	s := session{1}
	token := p.offer("b", s)
	if !p.redeem("b", s, token[:]) || p.redeem("b", s, token[:]) {
		t.Error("a token is accepted twice, or never")
	}
}
