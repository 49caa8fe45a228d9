package server

import (
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/transport/httpapi"
)

// silence tracks all connections. A connection that waits for a request header is also in one of
// two rings, with the longest wait first. One ring contains the silent connections, which have
// never sent a complete header. The other contains the connections that are idle between requests.
// The first ring is bounded, so that a client that opens many silent connections replaces only
// other silent connections. The connections per address are also bounded, whether they are silent
// or not. Further connections are closed immediately. silence is safe for concurrent use.
//
// A connection enters and leaves the idle ring with each request, without an allocation.
type silence struct {
	// maxMute bounds the silent connections, and maxFrom all connections of an address.
	maxMute, maxFrom int
	// proxy reports whether an address is a proxy with the connections of many clients. It can be
	// nil.
	proxy func(netip.Addr) bool

	mu   sync.Mutex
	open map[net.Conn]*peer // guarded by mu
	from map[string]int     // guarded by mu; connections by their address's key
	mute peer               // guarded by mu; root of the ring of silent connections
	idle peer               // guarded by mu; root of the ring of idle connections
	now  int                // guarded by mu; the number of silent connections
	shed uint64             // guarded by mu
}

// peer is one connection. Guarded by silence.mu.
type peer struct {
	conn         net.Conn
	from         string    // "" if not counted
	since        time.Time // beginning of the silence
	spoke        bool      // it has sent a request
	before, next *peer     // nil while a request is in progress
}

func newSilence(most int) *silence {
	s := &silence{maxMute: most, maxFrom: most, open: map[net.Conn]*peer{}, from: map[string]int{}}
	for _, root := range []*peer{&s.mute, &s.idle} {
		root.before, root.next = root, root
	}
	return s
}

// changed is the server's hook for the states of connections.
func (s *silence) changed(c net.Conn, state fasthttp.ConnState) {
	switch state {
	case fasthttp.StateNew, fasthttp.StateIdle:
		silent, many := s.await(c)
		if silent {
			s.close(1, time.Now())
		}
		if many {
			hangUp(c)
		}
	case fasthttp.StateClosed, fasthttp.StateHijacked:
		s.mu.Lock()
		defer s.mu.Unlock()
		if p := s.open[c]; p != nil {
			s.leave(p)
			delete(s.open, c)
			if s.from[p.from]--; s.from[p.from] <= 0 {
				delete(s.from, p.from)
			}
		}
	}
}

// keyOf returns the key under which an address's connections are counted. It returns "" if they are
// not counted.
func (s *silence) keyOf(c net.Conn) string {
	t, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok || s.proxy != nil && s.proxy(t.AddrPort().Addr().Unmap()) {
		return ""
	}
	return httpapi.Address(t.AddrPort().Addr().String())
}

// await records that a connection waits for a request header. It reports whether too many
// connections are silent, and whether the address of a new connection has too many.
func (s *silence) await(c net.Conn) (silent, many bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.open[c]
	if p == nil {
		p = &peer{conn: c, from: s.keyOf(c)}
		s.open[c] = p
		s.from[p.from]++
		if many = p.from != "" && s.from[p.from] > s.maxFrom; many {
			s.shed++
		}
	}
	s.leave(p)
	p.since = time.Now()
	root := &s.idle
	if !p.spoke {
		root = &s.mute
		s.now++
	}
	p.before, p.next = root.before, root
	p.before.next, p.next.before = p, p
	return s.now > s.maxMute, many
}

// spoke records that a connection has sent a request.
func (s *silence) spoke(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.open[c]; p != nil {
		s.leave(p)
		p.spoke = true
	}
}

// leave removes a connection from its ring. The caller holds mu.
func (s *silence) leave(p *peer) {
	if p.next == nil {
		return
	}
	p.before.next, p.next.before = p.next, p.before
	p.before, p.next = nil, nil
	if !p.spoke {
		s.now--
	}
}

// close closes at most limit connections whose silence began at the time latest or earlier. It
// closes silent connections before idle ones, and in both rings the longest wait first. It returns
// the number of closed connections.
func (s *silence) close(limit int, latest time.Time) int {
	var closing []net.Conn
	s.mu.Lock()
	for _, root := range []*peer{&s.mute, &s.idle} {
		for p := root.next; p != root && len(closing) < limit && !p.since.After(latest); p = root.next {
			s.leave(p)
			closing = append(closing, p.conn)
		}
	}
	s.shed += uint64(len(closing))
	s.mu.Unlock()
	for _, c := range closing {
		hangUp(c)
	}
	return len(closing)
}

// closeAll closes every connection, busy or not, and returns their number.
func (s *silence) closeAll() int {
	var closing []net.Conn
	s.mu.Lock()
	for c := range s.open {
		closing = append(closing, c)
	}
	s.mu.Unlock()
	for _, c := range closing {
		hangUp(c)
	}
	return len(closing)
}

// hangUp closes a connection without TLS's close_notify, which could wait for a client that does
// not read.
func hangUp(c net.Conn) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	_ = c.Close()
}

func (s *silence) counts() (now, open int, shed uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, len(s.open), s.shed
}
