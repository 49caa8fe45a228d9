package bus

import (
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"atelier/actors/durable"
)

// Bus implements durable.Bus over NATS.
type Bus struct {
	opts   Options
	server *server.Server // nil with an external NATS
	conn   *nats.Conn
	keys   keys
	seal   *sealer
	peers  peers
	key    string // password with which this process connects to the embedded server
	inbox  string // subject of answers, without the number of the request
	// greetings is the NATS subject for greetings to this node.
	greetings string

	questions    atomic.Uint64 // the number of the last request
	lastListener atomic.Uint64 // the number of the last listener
	rejected     rejected
	missed       atomic.Uint64 // how often messages were lost because incoming was full
	sent         atomic.Uint64
	came         atomic.Uint64
	bytes        atomic.Uint64

	mu        sync.Mutex
	asked     map[uint64]*question                          // guarded by mu; by number
	serves    map[string]func(string, []byte, func([]byte)) // guarded by mu; by subject of NATS
	listeners map[string]map[uint64]func(string, []byte)    // guarded by mu; by subject of NATS
	subs      map[string]*nats.Subscription                 // guarded by mu
	closed    bool                                          // guarded by mu
	incoming  chan *nats.Msg
	stop      chan struct{}
	done      sync.WaitGroup
}

type question struct {
	node     string
	receiver session // guarded by Bus.mu; the session to which the request was sent
	done     func(opened, error)
	timer    *time.Timer
}

var _ durable.Bus = (*Bus)(nil)

// nodeName matches the permitted names of nodes, which are part of subjects.
var nodeName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// CheckNode returns an error if the name of a node is invalid.
func CheckNode(name string) error {
	if !nodeName.MatchString(name) {
		return fmt.Errorf("invalid node name %q: use 1 to 64 letters, digits, - and _", name)
	}
	return nil
}

// incomingMessages bounds the messages that wait to be handled. Further messages are lost.
const incomingMessages = 1 << 15

// Open connects a node to the other nodes. It does not wait for them.
func Open(o Options) (*Bus, error) {
	if err := CheckNode(o.Node); err != nil {
		return nil, err
	}
	b := &Bus{
		opts: o, peers: newPeers(), key: rand.Text(), inbox: "atelier.answer." + o.Node + "." + rand.Text() + ".",
		greetings: subjectOf(o.Node, greetSubject),
		asked:     map[uint64]*question{}, serves: map[string]func(string, []byte, func([]byte)){},
		listeners: map[string]map[uint64]func(string, []byte){}, subs: map[string]*nats.Subscription{},
		incoming: make(chan *nats.Msg, incomingMessages), stop: make(chan struct{}),
	}
	var err error
	if b.keys, err = newKeys(o.Secret, o.Cluster); err == nil {
		b.seal, err = newSealer(b.keys, o.Node)
	}
	if err == nil {
		err = b.connect()
	}
	for _, subject := range []string{b.inbox + "*", b.greetings, broadcastSubject(greetSubject)} {
		if err == nil {
			_, err = b.conn.ChanSubscribe(subject, b.incoming)
		}
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	b.done.Go(b.handle)
	// This message announces the new session to nodes that have an earlier session of this node. If
	// the message is lost, they get the new session with their next request.
	_ = b.Publish(greetSubject, nil)
	return b, nil
}

// Close disconnects. Callers that wait for an answer get durable.ErrNobody.
func (b *Bus) Close() {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return
	}
	b.closed = true
	asked := b.asked
	b.asked = map[uint64]*question{}
	b.mu.Unlock()
	if b.conn != nil {
		b.conn.Close()
	}
	close(b.stop)
	b.done.Wait()
	for _, q := range asked {
		q.timer.Stop()
		q.done(opened{}, durable.ErrNobody)
	}
	if b.server != nil {
		b.server.Shutdown()
		b.server.WaitForShutdown()
	}
}

func subjectOf(node, subject string) string { return "atelier.node." + node + "." + subject }

func broadcastSubject(subject string) string { return broadcastPrefix + subject }

const broadcastPrefix = "atelier.told."

// publish sends a message in as many parts as necessary.
func (b *Bus) publish(to address, k kind, data []byte) error {
	count := max((len(data)+partBytes-1)/partBytes, 1)
	if count > maxParts {
		return fmt.Errorf("a message of %d bytes is too large for other nodes", len(data))
	}
	first := uint64(0)
	for i := range count {
		serial := b.seal.serial.Add(1)
		if i == 0 {
			first = serial
		}
		p := part{kind: k, first: first, number: i, count: count, data: data[i*partBytes : min((i+1)*partBytes, len(data))]}
		err := b.seal.with(to, serial, p, func(message []byte) error {
			b.sent.Add(1)
			b.bytes.Add(uint64(len(message)))
			if to.reply != "" {
				return b.conn.PublishRequest(to.subject, to.reply, message)
			}
			return b.conn.Publish(to.subject, message)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Request implements durable.Bus.
func (b *Bus) Request(node, subject string, data []byte, timeout time.Duration, done func([]byte, error)) {
	if CheckNode(node) != nil || len(data) > durable.MaxMessage {
		go done(nil, durable.ErrNobody)
		return
	}
	number, ok := b.begin(node, timeout, func(o opened, err error) { done(o.data, err) })
	if !ok {
		return
	}
	to, ready, greet, err := b.peers.hold(node, waiting{number, subject, data})
	switch {
	case err != nil:
		go b.end(number, opened{}, err)
	case ready:
		b.send(number, node, subject, to, data)
	case greet:
		b.greet(node)
	}
}

// ask sends a request of the handshake, before the nodes have each other's session.
func (b *Bus) ask(node, subject string, to session, data []byte, timeout time.Duration, done func(opened, error)) {
	if number, ok := b.begin(node, timeout, done); ok {
		b.send(number, node, subject, to, data)
	}
}

// begin registers a request. If the bus is closed, it ends the request with durable.ErrNobody and
// returns false.
func (b *Bus) begin(node string, timeout time.Duration, done func(opened, error)) (number uint64, ok bool) {
	number = b.questions.Add(1)
	q := &question{node: node, done: done}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		go done(opened{}, durable.ErrNobody)
		return 0, false
	}
	b.asked[number] = q
	q.timer = time.AfterFunc(timeout, func() { b.end(number, opened{}, durable.ErrTimeout) })
	return number, true
}

// send sends a request to a session of a node.
func (b *Bus) send(number uint64, node, subject string, to session, data []byte) {
	b.mu.Lock()
	if q := b.asked[number]; q != nil {
		q.receiver = to
	}
	b.mu.Unlock()
	reply := strconv.AppendUint(append(make([]byte, 0, len(b.inbox)+20), b.inbox...), number, 10)
	if err := b.publish(address{subjectOf(node, subject), string(reply), to}, kindData, data); err != nil {
		// The message was not sent, because the connection is down or the message is too large. A
		// new goroutine answers, because the caller can hold a lock that done needs.
		go b.end(number, opened{}, errors.Join(durable.ErrNobody, err))
	}
}

// asks reports whether a request is still open.
func (b *Bus) asks(number uint64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked[number] != nil
}

// end ends a request with its answer or an error. Only the first call has an effect.
func (b *Bus) end(number uint64, o opened, err error) {
	b.mu.Lock()
	q := b.asked[number]
	delete(b.asked, number)
	b.mu.Unlock()
	if q != nil {
		q.timer.Stop()
		q.done(o, err)
	}
}

// Serve implements durable.Bus.
func (b *Bus) Serve(subject string, fn func(string, []byte, func([]byte))) (func(), error) {
	name := subjectOf(b.opts.Node, subject)
	b.mu.Lock()
	b.serves[name] = fn
	b.mu.Unlock()
	return b.subscribe(name, func() { delete(b.serves, name) })
}

// Listen implements durable.Bus.
func (b *Bus) Listen(subject string, fn func(string, []byte)) (func(), error) {
	name, number := broadcastSubject(subject), b.lastListener.Add(1)
	b.mu.Lock()
	if b.listeners[name] == nil {
		b.listeners[name] = map[uint64]func(string, []byte){}
	}
	b.listeners[name][number] = fn
	b.mu.Unlock()
	return b.subscribe(name, func() {
		if delete(b.listeners[name], number); len(b.listeners[name]) == 0 {
			delete(b.listeners, name)
		}
	})
}

// subscribe receives a subject's messages. Calls for the same subject share one subscription, which
// ends when no handler or listener of the subject is left.
func (b *Bus) subscribe(name string, forget func()) (stop func(), err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.subs[name] == nil && !b.closed {
		if b.subs[name], err = b.conn.ChanSubscribe(name, b.incoming); err != nil {
			forget()
			return nil, err
		}
	}
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		forget()
		if sub := b.subs[name]; sub != nil && b.serves[name] == nil && b.listeners[name] == nil {
			delete(b.subs, name)
			_ = sub.Unsubscribe() // fails only on a closed connection
		}
	}), nil
}

// Publish implements durable.Bus.
func (b *Bus) Publish(subject string, data []byte) error {
	return b.publish(address{subject: broadcastSubject(subject)}, kindData, data)
}

// handle handles incoming messages, in order.
func (b *Bus) handle() {
	var parts assembly
	tidy := time.NewTicker(openFor)
	defer tidy.Stop()
	for {
		select {
		case <-b.stop:
			return
		case now := <-tidy.C:
			parts.forget(now)
		case m := <-b.incoming:
			b.came.Add(1)
			b.take(&parts, m)
		}
	}
}

// opened is a decrypted message, whose sender has the secret.
type opened struct {
	envelope
	part
	from string
	aead cipher.AEAD
	peer *peer // the sender's session, or nil if it is not the accepted session of its node
}

// take handles one NATS message.
func (b *Bus) take(parts *assembly, m *nats.Msg) {
	answer := strings.HasPrefix(m.Subject, b.inbox)
	if answer && len(m.Data) == 0 && m.Header.Get("Status") == "503" { // from NATS: no listener
		if number, err := strconv.ParseUint(m.Subject[len(b.inbox):], 10, 64); err == nil {
			b.end(number, opened{}, durable.ErrNobody)
		}
		return
	}
	e, ok := parseEnvelope(m.Data)
	switch {
	case !ok:
		b.reject(Malformed)
		return
	case string(e.node) == b.opts.Node: // NATS returns this node's own broadcasts
		return
	}
	o, ok := b.open(m, e)
	switch {
	case !ok:
		b.reject(Forged)
	case answer:
		b.answered(parts, m.Subject, o)
	case m.Subject == b.greetings:
		b.greeted(m.Reply, o)
	case m.Subject == broadcastSubject(greetSubject):
		b.stranger(o)
	case strings.HasPrefix(m.Subject, broadcastPrefix):
		b.handleBroadcast(parts, m.Subject, o)
	default:
		b.requested(parts, m, o)
	}
}

// open decrypts a message. It returns false for a forged message.
func (b *Bus) open(m *nats.Msg, e envelope) (o opened, ok bool) {
	o.envelope, o.peer = e, b.peers.session(e.node, e.sender)
	if o.peer != nil {
		o.from, o.aead = o.peer.node, o.peer.aead
	} else {
		o.from = string(e.node)
		aead, err := b.keys.of(o.from, e.sender)
		if err != nil || CheckNode(o.from) != nil {
			return o, false
		}
		o.aead = aead
	}
	o.part, ok = b.seal.open(o.aead, m.Subject, m.Reply, e)
	return o, ok
}

func (b *Bus) reject(why Rejection) { b.rejected[why].Add(1) }

// admit reports whether the window of an accepted session admits a message. It counts a rejected
// message by reason.
func (b *Bus) admit(o opened) bool {
	why := o.peer.window.admit(o.serial)
	if why != accepted {
		b.reject(why)
	}
	return why == accepted
}

// stranger greets the sender of a message if the sender's session is not accepted.
func (b *Bus) stranger(o opened) {
	if o.peer == nil && b.peers.stranger(o.from) {
		b.greet(o.from)
	}
}

// answered handles an answer. The answer's subject contains a request number. Only this session
// sends that number, and only once, so that no earlier answer can match.
func (b *Bus) answered(parts *assembly, subject string, o opened) {
	number, err := strconv.ParseUint(subject[len(b.inbox):], 10, 64)
	b.mu.Lock()
	q := b.asked[number]
	b.mu.Unlock()
	switch {
	case o.receiver != b.seal.session:
		b.reject(StaleReceiver)
		return
	case err != nil || q == nil || q.node != o.from:
		b.reject(Unasked)
		return
	case o.kind == kindStale:
		b.peers.unready(o.from, q.receiver)
		b.end(number, opened{}, durable.ErrNobody)
		return
	case q.receiver != session{} && q.receiver != o.sender:
		b.reject(UnknownSender)
		return
	case o.peer != nil && !b.admit(o):
		return
	}
	if data, whole := b.assemble(parts, subject, o); whole {
		o.data = data
		b.end(number, o, nil)
	}
}

// handleBroadcast handles a node's broadcast.
func (b *Bus) handleBroadcast(parts *assembly, subject string, o opened) {
	if o.peer == nil {
		b.reject(UnknownSender)
		b.stranger(o)
		return
	}
	if !b.admit(o) {
		return
	}
	data, whole := b.assemble(parts, subject, o)
	if !whole {
		return
	}
	b.mu.Lock()
	listeners := make([]func(string, []byte), 0, 1)
	for _, fn := range b.listeners[subject] {
		listeners = append(listeners, fn)
	}
	b.mu.Unlock()
	for _, fn := range listeners {
		fn(o.from, data)
	}
}

// requested handles a request. If the request was made for another session, or by a session that is
// not accepted, the reply reports that the request was not delivered.
func (b *Bus) requested(parts *assembly, m *nats.Msg, o opened) {
	switch {
	case o.receiver != b.seal.session:
		b.reject(StaleReceiver)
	case o.peer == nil:
		b.reject(UnknownSender)
	case !b.admit(o):
		return
	default:
		data, whole := b.assemble(parts, m.Subject, o)
		if !whole {
			return
		}
		b.mu.Lock()
		serve := b.serves[m.Subject]
		b.mu.Unlock()
		if serve != nil && m.Reply != "" {
			from, to := o.from, address{m.Reply, "", o.sender}
			serve(from, data, func(answer []byte) { b.answer(from, to, kindData, answer) })
		}
		return
	}
	if m.Reply != "" && o.number == 0 {
		b.answer(o.from, address{m.Reply, "", o.sender}, kindStale, nil)
	}
	b.stranger(o)
}

func (b *Bus) answer(node string, to address, k kind, data []byte) {
	if err := b.publish(to, k, data); err != nil {
		b.opts.Logger.Warn("answering another node failed", "node", node, "error", err)
	}
}

// assemble joins the parts of a message. It returns false while parts are missing. It counts a part
// that has to be dropped as Overflow.
func (b *Bus) assemble(parts *assembly, subject string, o opened) (data []byte, whole bool) {
	data, whole, fits := parts.add(subject, o.sender, o.part, time.Now())
	if !fits {
		b.reject(Overflow)
	}
	return data, whole
}

// Stats contains counters since the start, and the state of the connections.
type Stats struct {
	// Sent and Received count NATS messages. Bytes counts the sent bytes.
	Sent, Received, Bytes uint64
	// Missed counts how often messages arrived faster than they were handled, so that some were
	// lost.
	Missed uint64
	// Rejected counts dropped messages by reason.
	Rejected Rejected
	// Connected reports whether NATS can be reached; Routes counts the other nodes to which the
	// embedded server is connected.
	Connected bool
	Routes    int
}

// Stats returns the current counters.
func (b *Bus) Stats() Stats {
	s := Stats{Sent: b.sent.Load(), Received: b.came.Load(), Bytes: b.bytes.Load(), Missed: b.missed.Load(), Rejected: b.rejected.read(), Connected: b.conn.IsConnected()}
	if b.server != nil {
		// A node can have several connections, and there can be connections from other accounts.
		if z, err := b.server.Routez(nil); err == nil {
			nodes := map[string]bool{}
			for _, r := range z.Routes {
				nodes[r.RemoteName] = true
			}
			s.Routes = len(nodes)
		}
	}
	return s
}

// Addr returns the address at which other nodes reach the embedded server; "" without one.
func (b *Bus) Addr() string {
	if b.server == nil {
		return ""
	}
	return b.server.ClusterAddr().String()
}
