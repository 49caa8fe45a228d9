package server

import (
	"container/list"
	"crypto/tls"
	"net"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// silence keeps the connections that have not sent a whole request header yet,
// oldest first. They are bounded: whoever opens many and says nothing pushes
// out only others that say nothing. Safe for concurrent use.
type silence struct {
	most int

	mu    sync.Mutex
	order *list.List                 // guarded by mu; of silent
	at    map[net.Conn]*list.Element // guarded by mu
	shed  uint64                     // guarded by mu
}

type silent struct {
	conn  net.Conn
	since time.Time
}

func newSilence(most int) *silence {
	return &silence{most: most, order: list.New(), at: map[net.Conn]*list.Element{}}
}

// changed is the server's hook for the states of connections.
func (s *silence) changed(c net.Conn, state fasthttp.ConnState) {
	switch state {
	case fasthttp.StateNew:
		s.mu.Lock()
		s.at[c] = s.order.PushBack(silent{c, time.Now()})
		over := s.order.Len() > s.most
		s.mu.Unlock()
		if over {
			s.close(1, time.Now())
		}
	case fasthttp.StateClosed, fasthttp.StateHijacked:
		s.spoke(c)
	}
}

// spoke takes note that a connection has sent a request.
func (s *silence) spoke(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.at[c]; e != nil {
		s.order.Remove(e)
		delete(s.at, c)
	}
}

// close closes at most so many of the connections that have been silent since
// before a moment, oldest first. It says how many.
func (s *silence) close(most int, before time.Time) int {
	var closing []net.Conn
	s.mu.Lock()
	for e := s.order.Front(); e != nil && len(closing) < most; e = s.order.Front() {
		one := e.Value.(silent)
		if one.since.After(before) {
			break
		}
		s.order.Remove(e)
		delete(s.at, one.conn)
		closing = append(closing, one.conn)
	}
	s.shed += uint64(len(closing))
	s.mu.Unlock()
	for _, c := range closing {
		if t, ok := c.(*tls.Conn); ok {
			c = t.NetConn() // no farewell to somebody who never spoke
		}
		_ = c.Close()
	}
	return len(closing)
}

func (s *silence) counts() (now int, shed uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.order.Len(), s.shed
}
