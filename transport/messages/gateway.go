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

// Grants contains the methods of auth.Authenticator that this package needs.
type Grants interface {
	Hold(h auth.Holder) (ended string)
	Release(h auth.Holder)
}

// Config configures a Gateway. All fields are required, except Acked and the limits.
type Config struct {
	Hub *live.Hub
	// Grants ends a connection when its grant ends.
	Grants Grants
	// Codelabs returns the codelabs in memory, for summaries.
	Codelabs func() []codelab.Codelab
	// Origins are the origins that are allowed to open connections.
	Origins httpapi.Origins
	// SocketsPerPerson bounds an attendee's live connections in a codelab. A facilitator's session
	// can have FacilitatorSockets times that number over all codelabs. SocketsPerAddress bounds the
	// connections of an address. 0 means no limit.
	SocketsPerPerson, SocketsPerAddress int
	Logger                              *slog.Logger
	Now                                 func() time.Time
	// TimeOf returns the current time of the node that owns a codelab.
	TimeOf func(codelab.Codelab) time.Time
	// Acked, if set, is called with the time from the arrival of a message on a socket to the
	// result of its command. It must not block.
	Acked func(took time.Duration)
}

// Gateway attaches connections to codelabs. It is safe for concurrent use.
type Gateway struct {
	Config
	upgrader websocket.FastHTTPUpgrader
	sockets  sockets

	stop chan struct{}
	done sync.WaitGroup
}

// Operations returns the operations for live connections, for messages sent by POST instead, and
// for the document of all messages.
func (g *Gateway) Operations() []rest.Operation {
	return []rest.Operation{
		{Method: fasthttp.MethodGet, Path: "/ws/{id}", Access: rest.CodelabMember, Assistants: true, Handle: g.webSocket},
		{Method: fasthttp.MethodGet, Path: "/codelabs/{id}/events", Access: rest.CodelabMember, Assistants: true, Handle: g.events},
		{Method: fasthttp.MethodPost, Path: "/codelabs/{id}/messages", Access: rest.CodelabMember, Assistants: true, Handle: g.message},
		{Method: fasthttp.MethodGet, Path: "/asyncapi.json", Access: rest.Anyone, Handle: asyncAPI},
	}
}

// NewGateway returns a gateway. Its summaries run until Close.
func NewGateway(cfg Config) *Gateway {
	g := &Gateway{Config: cfg, stop: make(chan struct{})}
	g.upgrader = websocket.FastHTTPUpgrader{
		ReadBufferSize: 256, WriteBufferSize: 256, // unused, because the hub takes the connection over
		CheckOrigin: func(*fasthttp.RequestCtx) bool { return true }, // allowed has checked the origin
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
	errOrigin     = durable.Reject(durable.Forbidden, "this origin is not allowed to open a connection")
	errNoUpgrade  = wire.Invalid("this is a WebSocket address: send GET with HTTP/1.1, Connection: Upgrade and Upgrade: websocket; if the client did so, a proxy did not forward these headers")
	errVersion    = httpapi.Refusal(fasthttp.StatusUpgradeRequired, "this server supports only version 13 of the WebSocket protocol", 0)
	errScope      = durable.Reject(durable.Forbidden, "insufficient_scope")
	errWrongGrant = durable.Reject(durable.Forbidden, "access denied")
)

// webSocket upgrades the connection and attaches it (GET /ws/:id).
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

// events streams the same messages as server-sent events (GET /codelabs/:id/events).
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
	if unplaced { // without a position, the client can have missed any number of frames
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

// attachment returns the options for a new session: its owner and its starting position. It returns
// an error if the caller is not allowed to connect, or if its address has too many connections. It
// also returns an error if the position is invalid, or if this node does not reach the position in
// time.
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
		// A position without an epoch can belong to any epoch, so the client must resync. Only the
		// position 0, the beginning, is the same in all epochs.
		o.EpochChanged = epoch != rm.Epoch() && (epoch != "" || n > 0)
		// The client may have received frames from a node that is ahead of this one.
		if !o.EpochChanged {
			if err := r.Codelab.Await(n); err != nil {
				return o, err
			}
		}
	}
	return o, nil
}

// checkHandshake checks the rules of RFC 6455, 4.2.1, that the library does not check.
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

// attach takes over a hijacked connection.
func (g *Gateway) attach(c net.Conn, o live.AttachOptions) {
	raw, buffered, err := live.TakeOver(c)
	if err != nil {
		_ = c.Close()
		return
	}
	p := o.Data.(*peer)
	p.arrive()
	// The connection is counted before the welcome is sent. A client that has received the welcome
	// can open its next connection, which must count as the newer one.
	g.sockets.enter(p)
	s, err := g.Hub.Attach(raw, buffered, o)
	if err != nil {
		g.sockets.leave(p)
		p.leave()
		return
	}
	p.joined(s)
	g.makeRoom(p)
	if p.lab.Over() { // the codelab ended meanwhile, so no frame would ever follow
		s.Close(rfc6455.CloseRestart, startsOver)
	}
}

// message processes a message sent by POST and responds with its ack, or with the welcome that it
// requests (POST /codelabs/:id/messages).
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
	kind := clientMessages[m.Type]
	switch {
	case wanted != nil:
		_, seq, err := r.Codelab.Ask(codelab.Command{Caller: r.Caller, Ref: m.ref(), Body: wanted})
		if err != nil {
			return err
		}
		return r.Answer(ack(m.ref(), seq))
	case kind.welcome:
		head := r.Codelab.Room.Head()
		return r.Answer((&peer{g: g, lab: r.Codelab, who: r.Caller}).welcome(head, head))
	case kind.relayed:
		if err := g.relay(r.Codelab, r.Caller, m.Type, &m, payload); err != nil {
			return err
		}
		return r.Answer(ack(m.ref(), r.Codelab.Room.Head()))
	}
	return errUnknownType
}

// allowed checks the Origin header.
func (g *Gateway) allowed(r *rest.Request) error {
	if !g.Origins.Allows(r.RequestCtx) {
		return errOrigin
	}
	return nil
}
