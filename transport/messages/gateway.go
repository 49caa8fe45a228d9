package messages

import (
	"bytes"
	"encoding/base64"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fasthttp/websocket"
	"github.com/valyala/fasthttp"

	"atelier/actors/codelab"
	"atelier/actors/durable"
	"atelier/transport/auth"
	"atelier/transport/httpapi"
	"atelier/transport/live"
	"atelier/transport/rest"
	"atelier/transport/rfc6455"
	"atelier/transport/wire"
)

// Grants has the methods of auth.Authenticator that this package needs.
type Grants interface {
	Hold(h auth.Holder) (ended string)
	Release(h auth.Holder)
}

// Config of a Gateway. All fields are required.
type Config struct {
	Hub *live.Hub
	// Grants ends connections with their grants.
	Grants Grants
	// Codelabs returns the codelabs in memory, for the summaries.
	Codelabs func() []codelab.Codelab
	// Origins may open a connection.
	Origins httpapi.Origins
	// SocketsPerPerson bounds the live connections of an attendee in a codelab (of
	// a facilitator's session eight times as many), SocketsPerAddress those of an
	// address. 0 is any number.
	SocketsPerPerson, SocketsPerAddress int
	Logger                              *slog.Logger
	Now                                 func() time.Time
	// TimeOf is the time by which those of a codelab are counted: of the node that owns it.
	TimeOf func(codelab.Codelab) time.Time
	// Acked is called with the time from the arrival of a message on a socket to its ack.
	// It must not block.
	Acked func(took time.Duration)
}

// Gateway brings connections into their codelabs. Safe for concurrent use.
type Gateway struct {
	Config
	upgrader websocket.FastHTTPUpgrader
	sockets  sockets

	stop chan struct{}
	done sync.WaitGroup
}

// Operations are the live connections, messages posted in place of one, and the
// document of all messages.
func (g *Gateway) Operations() []rest.Operation {
	return []rest.Operation{
		{Method: fasthttp.MethodGet, Path: "/ws/{id}", Access: rest.CodelabMember, Assistants: true, Handle: g.webSocket},
		{Method: fasthttp.MethodGet, Path: "/codelabs/{id}/events", Access: rest.CodelabMember, Assistants: true, Handle: g.events},
		{Method: fasthttp.MethodPost, Path: "/codelabs/{id}/messages", Access: rest.CodelabMember, Assistants: true, Handle: g.message},
		{Method: fasthttp.MethodGet, Path: "/asyncapi.json", Access: rest.Anyone, Handle: asyncAPI},
	}
}

// NewGateway returns a gateway whose summaries run until Close.
func NewGateway(cfg Config) *Gateway {
	g := &Gateway{Config: cfg, stop: make(chan struct{})}
	g.upgrader = websocket.FastHTTPUpgrader{
		ReadBufferSize: 256, WriteBufferSize: 256, // unused: the connection is taken over
		CheckOrigin: func(*fasthttp.RequestCtx) bool { return true }, // checked before, with our error
		Error:       func(*fasthttp.RequestCtx, int, error) {},
	}
	g.done.Go(g.summaries)
	return g
}

// Close stops the gateway's goroutines.
func (g *Gateway) Close() {
	close(g.stop)
	g.done.Wait()
}

var (
	errOrigin     = durable.Reject(durable.Forbidden, "this origin may not open a connection")
	errNoUpgrade  = wire.Invalid("this is a WebSocket address: a GET by HTTP/1.1 with Connection: Upgrade and Upgrade: websocket is needed; if the client sent them, a proxy in between did not pass them on")
	errVersion    = httpapi.Refusal(fasthttp.StatusUpgradeRequired, "only version 13 of the WebSocket protocol is spoken here", 0)
	errScope      = durable.Reject(durable.Forbidden, "insufficient_scope")
	errWrongGrant = durable.Reject(durable.Forbidden, "access denied")
)

// webSocket upgrades and attaches (GET /ws/:id).
func (g *Gateway) webSocket(r *rest.Request) error {
	if err := g.allowed(r); err != nil {
		return err
	}
	o, err := g.attachment(r, r.Query("epoch"), r.Query("since"))
	if err != nil {
		return err
	}
	o.Protocol = live.WebSocket
	if err := checkHandshake(r); err != nil {
		return err
	}
	if err := g.upgrader.Upgrade(r.RequestCtx, func(c *websocket.Conn) { g.attach(c.NetConn(), o) }); err != nil {
		return errNoUpgrade
	}
	return nil
}

// events streams the same messages as server-sent events
// (GET /codelabs/:id/events).
func (g *Gateway) events(r *rest.Request) error {
	epoch, since := r.Query("epoch"), r.Query("since")
	unplaced := false
	if last := string(r.Request.Header.Peek("Last-Event-ID")); last != "" {
		var ok bool
		if epoch, since, ok = strings.Cut(last, ":"); !ok {
			return wire.Invalid("Last-Event-ID must be epoch:seq")
		}
		unplaced = since == ""
	}
	if err := g.allowed(r); err != nil {
		return err
	}
	o, err := g.attachment(r, epoch, since)
	if err != nil {
		return err
	}
	if unplaced { // it has missed what it cannot name
		o.Since, o.EpochChanged = new(uint64), true
	}
	if r.IsHead() {
		r.Response.Header.SetContentType("text/event-stream")
		r.Response.Header.Set("X-Accel-Buffering", "no")
		return nil
	}
	o.Protocol = live.SSE
	var head strings.Builder
	head.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n" +
		"X-Accel-Buffering: no\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\nDate: ")
	head.Write(fasthttp.AppendHTTPDate(nil, g.Now()))
	head.WriteString("\r\nX-Request-Id: ")
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
	p := &peer{g: g, lab: r.Codelab, who: r.Caller, standing: r.Standing(), address: httpapi.Address(r.Caller.IP)}
	if g.sockets.full(p.address, g.SocketsPerAddress) {
		return live.AttachOptions{}, httpapi.ErrTooMany(5 * time.Second)
	}
	rm := r.Codelab.Room
	o := live.AttachOptions{
		Room: rm, Person: r.Caller.ID, Facilitator: r.IsAdmin(), Handler: handler{}, Data: p,
		From:    rm.Head(),
		Welcome: func(seq, head uint64) []byte { return p.welcome(seq, head) },
		Resync:  func(seq uint64, reason string) []byte { return resync(rm.Epoch(), seq, reason) },
	}
	if since != "" {
		n, err := strconv.ParseUint(since, 10, 64)
		if err != nil {
			return o, wire.Invalid("since must be a whole number")
		}
		o.Since = &n
		// A position without a stream's name may be of any stream; only the
		// beginning is the same in all.
		o.EpochChanged = epoch != rm.Epoch() && (epoch != "" || n > 0)
		// The client may have been told by a node that is ahead of this one.
		if !o.EpochChanged {
			if err := r.Codelab.Await(n); err != nil {
				return o, err
			}
		}
	}
	return o, nil
}

// checkHandshake checks those rules of RFC 6455, 4.2.1, for a handshake that the library does
// not check.
func checkHandshake(r *rest.Request) error {
	h := &r.Request.Header
	if !r.IsGet() || !h.IsHTTP11() || !bytes.Contains(bytes.ToLower(h.Peek("Upgrade")), []byte("websocket")) ||
		!bytes.Contains(bytes.ToLower(h.Peek("Connection")), []byte("upgrade")) {
		return errNoUpgrade
	}
	if string(bytes.TrimSpace(h.Peek("Sec-WebSocket-Version"))) != "13" {
		r.Response.Header.Set("Sec-WebSocket-Version", "13")
		return errVersion
	}
	key, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(h.Peek("Sec-WebSocket-Key"))))
	if err != nil || len(key) != 16 {
		return wire.Invalid("Sec-WebSocket-Key must be 16 bytes in Base64")
	}
	return nil
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
	// Before the welcome: a client that has it may open the next connection, which is
	// newer than this one.
	g.sockets.enter(p)
	s, err := g.Hub.Attach(raw, buffered, o)
	if err != nil {
		g.sockets.leave(p)
		p.leave()
		return
	}
	p.joined(s)
	g.makeRoom(p)
	if p.lab.Over() { // between the look and the entry; nothing would ever come
		s.Close(rfc6455.CloseRestart, startsOver)
	}
}

// message takes one message by POST and answers its ack
// (POST /codelabs/:id/messages).
func (g *Gateway) message(r *rest.Request) error {
	payload, err := r.JSONBody()
	if err != nil {
		return err
	}
	m, err := parse(payload)
	if err != nil {
		return err
	}
	wanted, err := m.wanted()
	if err != nil {
		return err
	}
	said := clientMessages[m.Type]
	switch {
	case wanted != nil:
		_, seq, err := r.Codelab.Ask(codelab.Command{Caller: r.Caller, Ref: m.ref(), Body: wanted})
		if err != nil {
			return err
		}
		return r.Answer(ack(m.ref(), seq))
	case said.welcome:
		head := r.Codelab.Room.Head()
		return r.Answer((&peer{g: g, lab: r.Codelab, who: r.Caller}).welcome(head, head))
	case said.relayed:
		if err := g.relay(r.Codelab, r.Caller, m.Type, &m, payload); err != nil {
			return err
		}
		return r.Answer(ack(m.ref(), r.Codelab.Room.Head()))
	}
	return errUnknownType
}

// allowed checks the Origin that browsers send.
func (g *Gateway) allowed(r *rest.Request) error {
	if !g.Origins.Allows(r.RequestCtx) {
		return errOrigin
	}
	return nil
}
