package messages

import (
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fasthttp/websocket"
	"github.com/valyala/fasthttp"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/room"
	"atelier/transport/live"
	"atelier/transport/rest"
	"atelier/transport/wire"
)

// Config of a Gateway. All fields are required.
type Config struct {
	Hub *live.Hub
	// Workshops returns the codelabs in memory, for the summaries.
	Workshops func() []codelab.Workshop
	// AllowedOrigins, beside the server's own, may open a WebSocket.
	AllowedOrigins []string
	// PublicURL is how browsers reach the server; "" when only the Host
	// header tells.
	PublicURL string
	Logger    *slog.Logger
	Now       func() time.Time
}

// Gateway brings connections into their codelabs. Safe for concurrent use.
type Gateway struct {
	Config
	upgrader websocket.FastHTTPUpgrader
	registry registry

	stop chan struct{}
	done sync.WaitGroup
}

var _ rest.Live = (*Gateway)(nil)

// NewGateway returns a gateway whose summaries run until Close.
func NewGateway(cfg Config) *Gateway {
	g := &Gateway{Config: cfg, stop: make(chan struct{})}
	g.upgrader = websocket.FastHTTPUpgrader{
		ReadBufferSize: 256, WriteBufferSize: 256, // unused: the connection is taken over
		CheckOrigin: func(*fasthttp.RequestCtx) bool { return true }, // checked before, with our error
		Error:       func(*fasthttp.RequestCtx, int, error) {},
	}
	g.done.Go(g.pulse)
	g.done.Go(g.expire)
	return g
}

// Close stops the gateway's goroutines.
func (g *Gateway) Close() {
	close(g.stop)
	g.done.Wait()
}

// peer is a live session's owner: who it is and where. All but the last two
// fields are immutable, so that loops and actors share them.
type peer struct {
	g    *Gateway
	lab  codelab.Workshop
	who  *pb.Caller
	key  string // of the login session or API token
	ends int64  // when the grant ends, Unix milliseconds; 0 never

	mu     sync.Mutex
	group  *group // guarded by mu; nil until registered
	closed bool   // guarded by mu
}

// registered and ended meet in either order: a connection may be gone before
// the goroutine that brought it has noted it.
func (p *peer) registered(s *live.Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.group = p.g.registry.add(p.key, s)
	}
}

func (p *peer) ended(s *live.Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.group != nil {
		p.g.registry.remove(p.group, s)
	}
}

var (
	errOrigin     = durable.Reject(durable.Forbidden, "this origin may not open a connection")
	errNoUpgrade  = wire.Invalid("this is a WebSocket address: a GET with Upgrade: websocket is needed")
	errWrongGrant = durable.Reject(durable.Forbidden, "access denied")
)

// WebSocket upgrades and attaches (GET /ws/:id).
func (g *Gateway) WebSocket(r *rest.Request) error {
	if err := g.allowed(r); err != nil {
		return err
	}
	o, err := g.attachment(r, r.Query("epoch"), r.Query("since"))
	if err != nil {
		return err
	}
	o.Flavour = live.WebSocket
	if err := g.upgrader.Upgrade(r.RequestCtx, func(c *websocket.Conn) { g.attach(c.NetConn(), o) }); err != nil {
		return errNoUpgrade
	}
	return nil
}

// Events streams the same messages as server-sent events
// (GET /codelabs/:id/events).
func (g *Gateway) Events(r *rest.Request) error {
	epoch, since := r.Query("epoch"), r.Query("since")
	if last := string(r.Request.Header.Peek("Last-Event-ID")); last != "" {
		var ok bool
		if epoch, since, ok = strings.Cut(last, ":"); !ok {
			return wire.Invalid("Last-Event-ID must be epoch:seq")
		}
	}
	if err := g.allowed(r); err != nil {
		return err
	}
	o, err := g.attachment(r, epoch, since)
	if err != nil {
		return err
	}
	o.Flavour = live.SSE
	var head strings.Builder
	head.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n" +
		"X-Accel-Buffering: no\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\nX-Request-Id: ")
	head.Write(r.Response.Header.Peek("X-Request-Id"))
	head.WriteString("\r\n\r\n")
	o.Preamble = []byte(head.String())
	r.HijackSetNoResponse(true)
	r.Hijack(func(c net.Conn) { g.attach(c, o) })
	return nil
}

// attachment says who comes and from where on.
func (g *Gateway) attachment(r *rest.Request, epoch, since string) (live.AttachOptions, error) {
	if r.Query("as") == "admin" && !r.IsAdmin() {
		return live.AttachOptions{}, errWrongGrant
	}
	id := r.Identity()
	p := &peer{g: g, lab: r.Lab, who: r.Caller, key: id.SessionID, ends: id.GrantExpires(r.Lab.ID(), r.IsAdmin())}
	if id.Token != nil {
		p.key = "token:" + id.Token.Id
	}
	rm := r.Lab.Room
	o := live.AttachOptions{
		Room: rm, Person: r.Caller.Id, Staff: r.IsAdmin(), Handler: handler{}, Data: p,
		Welcome: func(seq, head uint64) []byte { return p.welcome(seq, head) },
		Resync:  func(seq uint64, reason string) []byte { return resync(rm.Epoch(), seq, reason) },
	}
	if since != "" {
		n, err := strconv.ParseUint(since, 10, 64)
		if err != nil {
			return o, wire.Invalid("since must be a whole number")
		}
		o.Since = &n
		o.EpochChanged = epoch != "" && epoch != rm.Epoch()
	}
	return o, nil
}

func (p *peer) welcome(seq, head uint64) []byte {
	role := "attendee"
	if p.who.Role == pb.Role_ROLE_ADMIN {
		role = "admin"
	}
	return welcome(p.lab.Room.Epoch(), seq, head, you{p.who.Id, p.who.Name, role})
}

// attach takes a hijacked connection over.
func (g *Gateway) attach(c net.Conn, o live.AttachOptions) {
	raw, buffered, err := live.TakeOver(c)
	if err != nil {
		_ = c.Close()
		return
	}
	p := o.Data.(*peer)
	p.arrive()
	s, err := g.Hub.Attach(raw, buffered, o)
	if err != nil {
		p.leave()
		return
	}
	p.registered(s)
}

// arrive and leave keep the presence; facilitators hear of the first tab in
// and the last tab out.
func (p *peer) arrive() {
	if p.lab.Room.Join(p.who.Id) {
		p.announce("attendee_joined")
	}
}

func (p *peer) leave() {
	if p.lab.Room.Leave(p.who.Id) {
		p.announce("attendee_left")
	}
}

func (p *peer) announce(kind string) {
	if a := p.lab.View().Attendee(p.who.Id); a != nil && p.who.Role == pb.Role_ROLE_ATTENDEE {
		p.lab.Room.Transient(room.Frame{Audience: room.Staff, Payload: presence(kind, a)})
	}
}

// handler is what sessions do; each finds its peer in Session.Data.
type handler struct{}

func (handler) Message(s *live.Session, payload []byte) {
	p := s.Data.(*peer)
	m, err := parse(payload)
	if err == nil {
		err = p.say(s, &m, payload)
	}
	if err != nil {
		s.Send(failure(m.ref(), textOf(err)))
	}
}

func (handler) Limited(s *live.Session, payload []byte) {
	m, _ := parse(payload)
	s.Send(failure(m.ref(), "too many messages; slow down"))
}

func (handler) Closed(s *live.Session, _ live.Reason) {
	p := s.Data.(*peer)
	p.ended(s)
	p.leave()
}

// say handles one message of a live session.
func (p *peer) say(s *live.Session, m *inbound, payload []byte) error {
	cmd, err := m.command()
	if err != nil {
		return err
	}
	switch {
	case cmd != nil:
		cmd.Caller = p.as(s.ID())
		return p.lab.Submit(cmd, &acker{s, m.ref()})
	case m.Type == "join" || m.Type == "hello":
		head := p.lab.Room.Head()
		s.Send(p.welcome(head, head))
	case isSignal(m.Type):
		if err := p.g.relay(p.lab, p.who, m.Type, m, payload); err != nil {
			return err
		}
	default:
		return errUnknownType
	}
	if m.ref() != "" && m.Type != "join" && m.Type != "hello" {
		s.Send(ack(m.ref(), p.lab.Room.Head()))
	}
	return nil
}

// as is the caller of one command.
func (p *peer) as(session uint64) *pb.Caller {
	return &pb.Caller{
		Role: p.who.Role, Id: p.who.Id, Name: p.who.Name, Person: p.who.Person, Ip: p.who.Ip,
		UserAgent: p.who.UserAgent, AdminId: p.who.AdminId, Session: session,
	}
}

// acker answers the sender once the actor has committed.
type acker struct {
	s   *live.Session
	ref string
}

// Reply is called on the actor's goroutine, after the frames of the commit
// were published: the ack follows them on the sender's connection.
func (a *acker) Reply(r durable.Reply) {
	switch {
	case r.Err != nil:
		a.s.Send(failure(a.ref, textOf(r.Err)))
	case a.ref != "":
		a.s.Send(ack(a.ref, r.Seq))
	}
}

// Message takes one message by POST and answers its ack
// (POST /codelabs/:id/messages).
func (g *Gateway) Message(r *rest.Request) error {
	payload, err := r.JSONBody()
	if err != nil {
		return err
	}
	m, err := parse(payload)
	if err != nil {
		return err
	}
	cmd, err := m.command()
	if err != nil {
		return err
	}
	switch {
	case cmd != nil:
		cmd.Caller = r.Caller
		_, seq, err := r.Lab.Ask(cmd)
		if err != nil {
			return err
		}
		return r.Answer(ack(m.ref(), seq))
	case m.Type == "join" || m.Type == "hello":
		head := r.Lab.Room.Head()
		return r.Answer((&peer{lab: r.Lab, who: r.Caller}).welcome(head, head))
	case isSignal(m.Type):
		if err := g.relay(r.Lab, r.Caller, m.Type, &m, payload); err != nil {
			return err
		}
		return r.Answer(ack(m.ref(), r.Lab.Room.Head()))
	}
	return errUnknownType
}

// allowed checks the Origin that browsers send: the server's own, or one of
// the allow list. Without one it is no browser.
func (g *Gateway) allowed(r *rest.Request) error {
	origin := string(r.Request.Header.Peek("Origin"))
	if origin == "" || slices.Contains(g.AllowedOrigins, origin) {
		return nil
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return errOrigin
	}
	if strings.EqualFold(u.Host, string(r.Host())) {
		return nil
	}
	if own, err := url.Parse(g.PublicURL); err == nil && own.Host != "" && strings.EqualFold(u.Host, own.Host) && u.Scheme == own.Scheme {
		return nil
	}
	return errOrigin
}

// Removed ends the sessions of an attendee who was removed, or of all when
// the codelab was deleted.
func (g *Gateway) Removed(rm *room.Room, attendee string) {
	if attendee == "" {
		g.Hub.CloseRoom(rm, live.ClosePolicy, "codelab deleted")
		return
	}
	g.Hub.ClosePerson(rm, attendee, live.ClosePolicy, "removed from the codelab")
}
