package messages

import (
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"atelier/actors/catalog"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/actors/login"
	"atelier/actors/room"
	"atelier/actors/settings"
	"atelier/persistence/memory"
	"atelier/transport/auth"
	"atelier/transport/httpapi"
	"atelier/transport/live"
	"atelier/transport/rfc6455"
)

// school is a codelab with its gateway and its callers.
type school struct {
	*Gateway
	t        *testing.T
	grants   *auth.Authenticator
	codelabs *codelab.Codelabs
	lab      codelab.Codelab
	tokens   *settings.View
	frames   *lateFrames
	unknown  error // returned instead of tokens
}

// lateFrames delays a room's frames. Meanwhile a commit is already visible in the codelab's view,
// although its frame has not reached the room.
type lateFrames struct {
	Frames
	wait atomic.Pointer[chan struct{}]
}

func (l *lateFrames) Encode(seq uint64, e *pb.Event) (room.Frame, bool) {
	if c := l.wait.Load(); c != nil {
		<-*c
	}
	return l.Frames.Encode(seq, e)
}

var boss = &codelab.Caller{Role: codelab.RoleAdmin, ID: codelab.FacilitatorID, Name: "Facilitator", AdminID: "admin"}

func newSchool(t *testing.T) *school {
	s := &school{t: t, tokens: &settings.View{}, frames: &lateFrames{}}
	fatal := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	journal := memory.New()
	t.Cleanup(func() { _ = journal.Close() })
	sessions, err := login.Load(journal, []byte("account"), time.Now)
	fatal(err)
	s.grants = auth.New(auth.Config{
		AdminLifetime: time.Hour, AttendeeLifetime: time.Hour, Signer: auth.NewSigner("secret", []byte("account"), time.Now), Sessions: sessions,
		Tokens: func() (*settings.View, error) { return s.tokens, s.unknown }, Failures: auth.NewFailures(httpapi.Rate{}, time.Now), Now: time.Now,
	})
	hub, err := live.New(live.Options{Loops: 1})
	fatal(err)
	hub.Start(0)
	t.Cleanup(hub.Close)
	s.Gateway = NewGateway(Config{
		Hub: hub, Grants: s.grants, Codelabs: func() []codelab.Codelab { return nil }, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
		TimeOf: func(codelab.Codelab) time.Time { return time.Now() },
	})
	t.Cleanup(s.Gateway.Close)
	rooms := Rooms{hub}
	list, err := catalog.LoadList(journal)
	fatal(err)
	s.codelabs, err = codelab.NewCodelabs(codelab.Config{
		System: durable.NewSystem(), Journal: journal, List: list, Frames: s.frames, Files: files.NewRegister(journal, nil, time.Hour, time.Now),
		Removed: rooms.Removed, Forgotten: rooms.Forgotten, Logger: slog.New(slog.DiscardHandler),
	})
	fatal(err)
	t.Cleanup(func() { _ = s.codelabs.Close(context.Background()) })
	m, err := s.codelabs.Create(boss, &codelab.Create{Codelab: &pb.Codelab{Title: "Lab", IsPublic: true}})
	fatal(err)
	s.lab, err = s.codelabs.Get(m.Id)
	fatal(err)
	return s
}

func (s *school) ask(c codelab.Command) any {
	s.t.Helper()
	c.Caller = boss
	v, _, err := s.lab.Ask(c)
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

// enters returns the peer of a caller whose request was checked. The peer has no connection yet.
func (s *school) enters(who auth.Identity, caller *codelab.Caller) *peer {
	admin := caller.Role == codelab.RoleAdmin
	return &peer{g: s.Gateway, lab: s.lab, who: caller, standing: who.Standing(s.lab.ID(), admin, func() bool {
		v := s.lab.View()
		return v.Meta != nil && (admin || v.Stands(caller.ID, caller.Generation))
	})}
}

func (s *school) facilitator() (auth.Identity, *peer) {
	s.t.Helper()
	i, err := s.grants.GrantAdmin(auth.Identity{}, auth.Login{})
	if err != nil {
		s.t.Fatal(err)
	}
	who, _, _ := s.grants.Identify([]byte(i.Cookie), "")
	return who, s.enters(who, boss)
}

func (s *school) attendee() (*pb.Attendee, auth.Identity, *peer) {
	s.t.Helper()
	a := s.ask(codelab.Command{Body: codelab.Register{Name: "Lin"}}).(codelab.Registration).Attendee
	i, err := s.grants.GrantAttendee(auth.Identity{}, s.lab.ID(), a.Id, "Lin", a.Generation)
	if err != nil {
		s.t.Fatal(err)
	}
	who, _, _ := s.grants.Identify([]byte(i.Cookie), "")
	return a, who, s.enters(who, &codelab.Caller{Role: codelab.RoleAttendee, ID: a.Id, Name: a.Name, Person: a.Id, Generation: a.Generation})
}

// opens takes over a connection and returns the client's end.
func (s *school) opens(p *peer, protocol live.Protocol) net.Conn {
	s.t.Helper()
	server, client := net.Pipe()
	s.t.Cleanup(func() { _ = client.Close() })
	s.attach(server, live.AttachOptions{
		Room: s.lab.Room, Person: p.who.ID, Facilitator: p.who.Role == codelab.RoleAdmin, Protocol: protocol, Handler: handler{}, Data: p,
		Welcome: func(seq, head uint64) []byte { return p.welcome(seq, head) },
		Resync:  func(seq uint64, reason string) []byte { return resync("e", seq, reason) },
	})
	return client
}

// closing reads a WebSocket up to its close frame and returns the code and the reason of the frame.
// It reads an event stream to its end.
func closing(t *testing.T, c net.Conn, protocol live.Protocol) (code int, why string) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	if protocol == live.SSE {
		if _, err := io.Copy(io.Discard, c); err != nil {
			t.Fatalf("the stream did not end: %v", err)
		}
		return 0, ""
	}
	for {
		var head [2]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			t.Fatalf("there was no close frame: %v", err)
		}
		n := int(head[1])
		if n == 126 {
			var long [2]byte
			if _, err := io.ReadFull(c, long[:]); err != nil {
				t.Fatal(err)
			}
			n = int(binary.BigEndian.Uint16(long[:]))
		}
		payload := make([]byte, n)
		if _, err := io.ReadFull(c, payload); err != nil {
			t.Fatal(err)
		}
		if head[0]&0x0f == 8 {
			return int(binary.BigEndian.Uint16(payload)), string(payload[2:])
		}
	}
}

// The grant ends after the check of the caller and before the connection joins the room. In an
// earlier version, such a connection stayed open, and its client could still act as the
// facilitator.
func TestAConnectionThatOpensWhileItsGrantEndsIsClosed(t *testing.T) {
	for _, protocol := range []live.Protocol{live.WebSocket, live.SSE} {
		for name, ends := range map[string]func(*school) *peer{
			"an admin logs out": func(s *school) *peer {
				who, p := s.facilitator()
				_ = s.grants.End(&who)
				return p
			},
			"an attendee logs out": func(s *school) *peer {
				_, who, p := s.attendee()
				_ = s.grants.End(&who)
				return p
			},
			"an API token is revoked": func(s *school) *peer {
				p := s.enters(auth.Identity{Token: &settings.ApiToken{Id: "t"}}, boss)
				s.grants.Revoked("t")
				return p
			},
			"the attendee is removed": func(s *school) *peer {
				a, _, p := s.attendee()
				s.ask(codelab.Command{Body: codelab.Remove{AttendeeID: a.Id}})
				return p
			},
			"the PIN is reset": func(s *school) *peer {
				a, _, p := s.attendee()
				s.ask(codelab.Command{Body: codelab.ResetPin{Pins: []codelab.NewPin{{AttendeeID: a.Id}}}})
				return p
			},
			"the codelab is deleted": func(s *school) *peer {
				_, p := s.facilitator()
				s.ask(codelab.Command{Body: codelab.Delete{}})
				return p
			},
		} {
			t.Run(name, func(t *testing.T) {
				s := newSchool(t)
				p := ends(s)
				if code, _ := closing(t, s.opens(p, protocol), protocol); protocol == live.WebSocket && code != rfc6455.ClosePolicy {
					t.Errorf("closed with %d, want ClosePolicy", code)
				}
			})
		}
	}
}

// While it is unknown whether an API token was revoked, the client must retry. It does not
// receive the message that its access has ended.
func TestAGrantThatCannotBeCheckedAsksTheClientToRetry(t *testing.T) {
	s := newSchool(t)
	s.unknown = durable.ErrUnavailable
	p := s.enters(auth.Identity{Token: &settings.ApiToken{Id: "t"}}, boss)
	if code, why := closing(t, s.opens(p, live.WebSocket), live.WebSocket); code != rfc6455.CloseTryLater {
		t.Errorf("closed with %d, %s, want CloseTryLater", code, why)
	}
}

func TestAConnectionEndsOnlyWithItsOwnGrant(t *testing.T) {
	s := newSchool(t)
	a, _, p := s.attendee()
	old := s.opens(p, live.WebSocket)
	s.ask(codelab.Command{Body: codelab.ResetPin{Pins: []codelab.NewPin{{AttendeeID: a.Id}}}})
	if code, why := closing(t, old, live.WebSocket); code != rfc6455.ClosePolicy || why != "the code was reset" {
		t.Errorf("closed with %d, %s, want ClosePolicy because the PIN (for clients: the code) was reset", code, why)
	}
	// A connection that was opened with the new PIN stays open when older ones are closed.
	i, err := s.grants.GrantAttendee(auth.Identity{}, s.lab.ID(), a.Id, "Lin", a.Generation+1)
	if err != nil {
		t.Fatal(err)
	}
	who, _, _ := s.grants.Identify([]byte(i.Cookie), "")
	stays := s.opens(s.enters(who, &codelab.Caller{Role: codelab.RoleAttendee, ID: a.Id, Generation: a.Generation + 1}), live.WebSocket)
	Rooms{s.Hub}.Removed(s.lab.Room, a.Id)
	looked := make(chan struct{}, 2) // EachSession runs on the same loop, after the closing that Removed has queued
	s.Hub.EachSession(s.lab.Room, a.Id, func(*live.Session) { looked <- struct{}{} })
	<-looked
	if err := s.grants.End(&who); err != nil {
		t.Fatal(err)
	}
	if _, why := closing(t, stays, live.WebSocket); why != auth.LoggedOut {
		t.Errorf("the close reason is %q, want %q", why, auth.LoggedOut)
	}
}

// In an earlier version, messages that were still in the socket when the session ended were
// processed.
func TestNoMessageIsAcceptedAfterTheEndOfTheGrant(t *testing.T) {
	s := newSchool(t)
	who, p := s.facilitator()
	_ = s.opens(p, live.WebSocket)
	a, _, removed := s.attendee()
	_ = s.opens(removed, live.WebSocket)
	send := func(p *peer, payload string) { handler{}.Message(p.session.Load(), []byte(payload)) }
	received := func() int {
		s.t.Helper()
		s.ask(codelab.Command{Body: codelab.SetRegistration{Open: true}}) // waits until the messages are processed
		return s.lab.View().Chat.Len()
	}
	send(p, `{"type":"chat","message":"before"}`)
	send(removed, `{"type":"chat","message":"before"}`)
	if n := received(); n != 2 {
		t.Fatalf("before the end of the grants %d messages are in the chat, want 2", n)
	}
	if err := s.grants.End(&who); err != nil {
		t.Fatal(err)
	}
	send(p, `{"type":"chat","message":"after"}`)
	s.ask(codelab.Command{Body: codelab.ResetPin{Pins: []codelab.NewPin{{AttendeeID: a.Id}}}})
	send(removed, `{"type":"chat","message":"after"}`)
	if n := received(); n != 2 {
		t.Errorf("after the end of the grants, %d messages are in the chat, want 2", n)
	}
	m := &inbound{Type: "webrtc_signal"}
	if err := s.relay(s.lab, removed.who, m.Type, m, []byte(`{"type":"webrtc_signal"}`)); err != errWrongGrant {
		t.Errorf("a signal after the end of the grant returned %v, want errWrongGrant", err)
	}
}

// As soon as a client has received its welcome, it can open another connection. An earlier version
// counted the first connection only after its welcome. The second connection could then be counted
// first, and was closed as the older one.
func TestAConnectionIsCountedBeforeItsWelcome(t *testing.T) {
	s := newSchool(t)
	_, _, p := s.attendee()
	key, _ := p.owner()
	counted := func() int {
		s.sockets.mu.Lock()
		defer s.sockets.mu.Unlock()
		return len(s.sockets.of[key])
	}
	// A hub that is shutting down closes new connections before it sends anything on them.
	if err := s.Hub.Drain(t.Context(), nil, 0); err != nil {
		t.Fatal(err)
	}
	server, client := net.Pipe()
	t.Cleanup(func() { _ = client.Close() })
	within := 0
	s.attach(closeHook{server, func() { within = counted() }}, live.AttachOptions{Room: s.lab.Room, Person: p.who.ID, Handler: handler{}, Data: p})
	if within != 1 || counted() != 0 {
		t.Errorf("%d connections were counted before the refusal, want 1, and %d after it, want 0", within, counted())
	}
}

// closeHook is a connection that reports its close.
type closeHook struct {
	net.Conn
	closing func()
}

func (c closeHook) Close() error {
	c.closing()
	return c.Conn.Close()
}

// A newer connection can replace a connection that has no session yet.
func TestAConnectionReplacedWhileOpeningIsClosed(t *testing.T) {
	s := newSchool(t)
	_, _, p := s.attendee()
	p.replace()
	if code, why := closing(t, s.opens(p, live.WebSocket), live.WebSocket); code != openedElsewhere {
		t.Errorf("closed with %d, %s, want openedElsewhere", code, why)
	}
	handler{}.Message(p.session.Load(), []byte(`{"type":"chat","message":"behind it"}`))
	s.ask(codelab.Command{Body: codelab.SetRegistration{Open: true}}) // waits until the messages are processed
	if n := s.lab.View().Chat.Len(); n != 0 {
		t.Errorf("%d messages of the replaced connection are in the chat, want 0", n)
	}
}

// A server that stops or has lost its lease unloads all codelabs. In an earlier version, a client
// that connected at this moment stayed in a room without further events.
func TestAConnectionToAnEndedRoomIsClosed(t *testing.T) {
	for name, opens := range map[string]func(*school, *peer) net.Conn{
		"it opens after the end": func(s *school, p *peer) net.Conn {
			_ = s.codelabs.Close(context.Background())
			return s.opens(p, live.WebSocket)
		},
		"it opened before the end": func(s *school, p *peer) net.Conn {
			c := s.opens(p, live.WebSocket)
			_ = s.codelabs.Close(context.Background())
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSchool(t)
			_, _, p := s.attendee()
			if code, why := closing(t, opens(s, p), live.WebSocket); code != rfc6455.CloseRestart {
				t.Errorf("closed with %d, %s, want CloseRestart", code, why)
			}
		})
	}
}
