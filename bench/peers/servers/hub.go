package servers

import (
	"context"
	"net/http"
	"time"
)

// socket is a WebSocket of one of the libraries.
type socket interface {
	read() ([]byte, error)
	write([]byte) error
	ping() error
	close()
}

// hubPeer is a typical hub. For each client, one goroutine reads messages, and another writes the
// messages in the client's channel. A single goroutine puts each message into all channels. A
// client with a full channel is disconnected.
type hubPeer struct {
	none
	about  string
	accept func(http.ResponseWriter, *http.Request) (socket, error)
}

func (h *hubPeer) About() string { return h.about }

const (
	// waiting is the capacity of a client's channel, and of the hub's, in messages.
	waiting = 256
	// writeWithin is the timeout of a write. pingEvery is the interval of pings.
	writeWithin = 10 * time.Second
	pingEvery   = 50 * time.Second
	// largestMessage is the maximum size of a client's message, in bytes.
	largestMessage = 1 << 20
)

type member struct {
	socket socket
	send   chan []byte
}

type hub struct {
	join, leave chan *member
	say         chan []byte
	done        <-chan struct{}
}

func (h *hubPeer) Run(ctx context.Context, listen string, ready func(string)) error {
	hub := &hub{join: make(chan *member), leave: make(chan *member), say: make(chan []byte, waiting), done: ctx.Done()}
	go hub.run()
	return serve(ctx, listen, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := h.accept(w, r)
		if err != nil {
			return // the library has answered
		}
		m := &member{socket: s, send: make(chan []byte, waiting)}
		select {
		case hub.join <- m:
		case <-hub.done:
			s.close()
			return
		}
		go hub.writer(m)
		hub.reader(m)
	}), ready)
}

func (h *hub) run() {
	members := map[*member]struct{}{}
	remove := func(m *member) {
		if _, in := members[m]; in {
			delete(members, m)
			close(m.send)
		}
	}
	for {
		select {
		case m := <-h.join:
			members[m] = struct{}{}
		case m := <-h.leave:
			remove(m)
		case p := <-h.say:
			for m := range members {
				select {
				case m.send <- p:
				default:
					remove(m)
				}
			}
		case <-h.done:
			for m := range members {
				remove(m)
			}
			return
		}
	}
}

func (h *hub) reader(m *member) {
	defer m.socket.close()
	for {
		p, err := m.socket.read()
		if err != nil {
			break
		}
		select {
		case h.say <- p:
		case <-h.done:
			return
		}
	}
	select {
	case h.leave <- m:
	case <-h.done:
	}
}

func (h *hub) writer(m *member) {
	defer m.socket.close()
	pings := time.NewTicker(pingEvery)
	defer pings.Stop()
	for {
		var err error
		select {
		case p, ok := <-m.send:
			if !ok {
				return
			}
			err = m.socket.write(p)
		case <-pings.C:
			err = m.socket.ping()
		}
		if err != nil {
			return
		}
	}
}
