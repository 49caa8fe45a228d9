package bus

import (
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
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
	server *server.Server // nil with a NATS elsewhere
	conn   *nats.Conn
	seal   *sealer
	key    string // to the server within
	inbox  string // where answers come, without the number of the question

	serial atomic.Uint64 // of what goes out
	missed atomic.Uint64 // messages that came too fast
	sent   atomic.Uint64
	came   atomic.Uint64
	bytes  atomic.Uint64

	mu       sync.Mutex
	asked    map[uint64]*question                          // guarded by mu; by number
	serves   map[string]func(string, []byte, func([]byte)) // guarded by mu; by subject of NATS
	hears    map[string]map[uint64]func(string, []byte)    // guarded by mu; by subject of NATS
	subs     map[string]*nats.Subscription                 // guarded by mu
	closed   bool                                          // guarded by mu
	incoming chan *nats.Msg
	stop     chan struct{}
	done     sync.WaitGroup
}

type question struct {
	done  func([]byte, error)
	timer *time.Timer
}

var _ durable.Bus = (*Bus)(nil)

// nodeName is what a node may be called: it is part of subjects.
var nodeName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// CheckNode says whether a node may have this name.
func CheckNode(name string) error {
	if !nodeName.MatchString(name) {
		return fmt.Errorf("%q is no name for a node: letters, digits, - and _, at most 64", name)
	}
	return nil
}

// incomingMessages bounds what waits to be handled; more is lost.
const incomingMessages = 1 << 15

// Open connects a node to the others. It does not wait for them.
func Open(o Options) (*Bus, error) {
	if err := CheckNode(o.Node); err != nil {
		return nil, err
	}
	b := &Bus{
		opts: o, seal: newSealer(o.Secret), key: crand.Text(), inbox: "atelier.answer." + o.Node + "." + crand.Text() + ".",
		asked: map[uint64]*question{}, serves: map[string]func(string, []byte, func([]byte)){},
		hears: map[string]map[uint64]func(string, []byte){}, subs: map[string]*nats.Subscription{},
		incoming: make(chan *nats.Msg, incomingMessages), stop: make(chan struct{}),
	}
	// Not where it began the last time: parts of a message that a crash cut off
	// would be taken for those of a later one.
	b.serial.Store(rand.Uint64() >> 1)
	err := b.connect()
	if err == nil {
		_, err = b.conn.ChanSubscribe(b.inbox+"*", b.incoming)
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	b.done.Go(b.handle)
	return b, nil
}

// Close leaves the others. Whoever still waits for an answer gets
// durable.ErrNobody.
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
		q.done(nil, durable.ErrNobody)
	}
	if b.server != nil {
		b.server.Shutdown()
		b.server.WaitForShutdown()
	}
}

func subjectOf(node, subject string) string { return "atelier.node." + node + "." + subject }

func toldSubject(subject string) string { return "atelier.told." + subject }

// publish sends a message in as many parts as it needs.
func (b *Bus) publish(subject, reply string, data []byte) error {
	count := max((len(data)+partBytes-1)/partBytes, 1)
	if count > maxParts {
		return fmt.Errorf("a message of %d bytes is too large for other nodes", len(data))
	}
	serial := b.serial.Add(1)
	for i := range count {
		p := part{from: b.opts.Node, serial: serial, number: i, count: count, data: data[i*partBytes : min((i+1)*partBytes, len(data))]}
		m := &nats.Msg{Subject: subject, Reply: reply, Data: b.seal.seal(subject, p)}
		b.sent.Add(1)
		b.bytes.Add(uint64(len(m.Data)))
		if err := b.conn.PublishMsg(m); err != nil {
			return err
		}
	}
	return nil
}

// Request implements durable.Bus.
func (b *Bus) Request(node, subject string, data []byte, timeout time.Duration, done func([]byte, error)) {
	if CheckNode(node) != nil {
		go done(nil, durable.ErrNobody)
		return
	}
	number := b.serial.Add(1)
	q := &question{done: done}
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		go done(nil, durable.ErrNobody)
		return
	}
	b.asked[number] = q
	q.timer = time.AfterFunc(timeout, func() { b.end(number, nil, durable.ErrTimeout) })
	b.mu.Unlock()
	if err := b.publish(subjectOf(node, subject), b.inbox+fmt.Sprint(number), data); err != nil {
		// It never left: the connection is down, or it is too large. Whoever asks
		// may hold what the answer needs.
		go b.end(number, nil, errors.Join(durable.ErrNobody, err))
	}
}

// end answers a question, once.
func (b *Bus) end(number uint64, data []byte, err error) {
	b.mu.Lock()
	q := b.asked[number]
	delete(b.asked, number)
	b.mu.Unlock()
	if q != nil {
		q.timer.Stop()
		q.done(data, err)
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
	name, number := toldSubject(subject), b.serial.Add(1)
	b.mu.Lock()
	if b.hears[name] == nil {
		b.hears[name] = map[uint64]func(string, []byte){}
	}
	b.hears[name][number] = fn
	b.mu.Unlock()
	return b.subscribe(name, func() {
		if delete(b.hears[name], number); len(b.hears[name]) == 0 {
			delete(b.hears, name)
		}
	})
}

// subscribe takes what comes on a subject until the last stop.
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
		if sub := b.subs[name]; sub != nil && b.serves[name] == nil && b.hears[name] == nil {
			delete(b.subs, name)
			_ = sub.Unsubscribe() // fails on a closed connection only
		}
	}), nil
}

// Publish implements durable.Bus.
func (b *Bus) Publish(subject string, data []byte) error {
	return b.publish(toldSubject(subject), "", data)
}

// handle takes what comes, in order.
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

func (b *Bus) take(parts *assembly, m *nats.Msg) {
	if len(m.Subject) > len(b.inbox) && m.Subject[:len(b.inbox)] == b.inbox {
		var number uint64
		if _, err := fmt.Sscan(m.Subject[len(b.inbox):], &number); err != nil {
			return
		}
		if len(m.Data) == 0 && m.Header.Get("Status") == "503" { // NATS: nobody listens there
			b.end(number, nil, durable.ErrNobody)
			return
		}
		if data, _, ok := b.open(parts, m); ok {
			b.end(number, data, nil)
		}
		return
	}
	data, from, ok := b.open(parts, m)
	if !ok || from == b.opts.Node {
		return
	}
	b.mu.Lock()
	serve := b.serves[m.Subject]
	hears := make([]func(string, []byte), 0, 1)
	for _, fn := range b.hears[m.Subject] {
		hears = append(hears, fn)
	}
	b.mu.Unlock()
	for _, fn := range hears {
		fn(from, data)
	}
	if serve != nil && m.Reply != "" {
		reply := m.Reply
		serve(from, data, func(answer []byte) {
			if err := b.publish(reply, "", answer); err != nil {
				b.opts.Logger.Warn("answering another node failed", "node", from, "error", err)
			}
		})
	}
}

// open checks a message and puts it together; false while parts are missing, and
// for what does not know the secret.
func (b *Bus) open(parts *assembly, m *nats.Msg) (data []byte, from string, ok bool) {
	p, ok := b.seal.open(m.Subject, m.Data)
	if !ok {
		return nil, "", false
	}
	data, whole := parts.add(m.Subject, p, time.Now())
	return data, p.from, whole
}

// Stats are counters since the start.
type Stats struct {
	// Sent and Received are messages of NATS, Bytes those sent.
	Sent, Received, Bytes uint64
	// Missed are messages that came faster than they were handled.
	Missed uint64
	// Connected says whether NATS can be reached; Routes counts the other
	// nodes that the server within is connected to.
	Connected bool
	Routes    int
}

// Stats returns the present numbers.
func (b *Bus) Stats() Stats {
	s := Stats{Sent: b.sent.Load(), Received: b.came.Load(), Bytes: b.bytes.Load(), Missed: b.missed.Load(), Connected: b.conn.IsConnected()}
	if b.server != nil {
		// There may be several connections to one, and those of another account.
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

// Addr is where other nodes reach the server within; "" without one.
func (b *Bus) Addr() string {
	if b.server == nil {
		return ""
	}
	return b.server.ClusterAddr().String()
}
