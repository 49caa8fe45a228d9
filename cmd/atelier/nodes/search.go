package nodes

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"atelier/persistence/shares"
)

// Search looks for poll secrets that this node lacks. A node with a secret can be down for hours,
// so a secret is lost only if no remaining node can have it. A Search is safe for concurrent use.
type Search struct {
	// Immutable:
	exchange *Exchange[shares.Ballot]
	log      *slog.Logger
	settled  func(id string)
	pause    time.Duration // between two rounds of requests

	mu     sync.Mutex
	wanted map[string]*missing // guarded by mu, by the secret's id

	wake chan struct{}
	stop context.CancelFunc
	done sync.WaitGroup
}

// missing is a missing secret.
type missing struct {
	keepers []string
	no      []string // nodes that have reported that they lack it
	lost    bool
	logged  bool // already logged why the search has not ended yet
}

// NewSearch starts a search. settled is called, on a goroutine of the search, when a secret has
// been found and stored here, or is known to be lost.
func NewSearch(x *Exchange[shares.Ballot], settled func(id string)) *Search {
	return newSearch(x, settled, askTime)
}

func newSearch(x *Exchange[shares.Ballot], settled func(id string), pause time.Duration) *Search {
	ctx, stop := context.WithCancel(context.Background())
	s := &Search{exchange: x, log: x.node.log, settled: settled, pause: pause, wanted: map[string]*missing{}, wake: make(chan struct{}, 1), stop: stop}
	s.done.Go(func() { s.run(ctx) })
	return s
}

// Lost reports whether a secret that is missing here is lost, because no node has it. Each of its
// keepers and each living node must have reported that it lacks the secret, or must have been
// forgotten. A secret without keepers was created before keepers were recorded, so any node can
// have it. The first call starts the search for the secret. The search continues until the secret
// is found, lost or forgotten.
func (s *Search) Lost(id string, keepers []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.wanted[id]
	if w == nil {
		w = &missing{keepers: slices.Clone(keepers)}
		s.wanted[id] = w
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	return w.lost
}

// Forget ends the search for a secret that is no longer needed.
func (s *Search) Forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.wanted, id)
}

// End ends the search.
func (s *Search) End() {
	if s != nil {
		s.stop()
		s.done.Wait()
	}
}

func (s *Search) run(ctx context.Context) {
	for {
		var again <-chan time.Time
		if s.round(ctx) {
			again = time.After(s.pause)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-again:
		}
	}
}

// round asks for all missing secrets, and reports whether any secret is still missing.
func (s *Search) round(ctx context.Context) (left bool) {
	s.mu.Lock()
	ids := make([]string, 0, len(s.wanted))
	for id, w := range s.wanted {
		if !w.lost {
			ids = append(ids, id)
		}
	}
	s.mu.Unlock()
	for _, id := range ids {
		if ctx.Err() != nil {
			return false
		}
		left = !s.askNodes(id) || left
	}
	return left
}

// askNodes asks the living nodes for a secret, except those that have reported that they lack it.
// It reports whether the search for the secret has ended.
func (s *Search) askNodes(id string) bool {
	if kept, ok := s.exchange.kept.(findable[shares.Ballot]); ok {
		if _, here := kept.Find(id); here { // it arrived in another way
			return s.settle(id, false)
		}
	}
	self := s.exchange.node.Store.Node()
	members, err := s.exchange.node.Store.Members()
	if err != nil {
		s.log.Warn("looking for the secret of a poll failed; it is tried again", "error", err)
		return false
	}
	waitsFor := ""
	for _, o := range members {
		if o.Node == self || s.lacks(id, o.Node) {
			continue
		}
		if o.Left > 0 {
			if answer, err := s.exchange.ask(o.Node, exchanged[shares.Ballot]{Find: id}); err == nil {
				if len(answer.Shares) == 0 {
					s.note(id, o.Node)
					continue
				}
				if err = s.exchange.keep(answer.Shares); err == nil {
					return s.settle(id, false)
				}
				if s.first(id) {
					s.log.Error("storing the secret of a poll, which another node sent, failed; it is tried again", "from", o.Node, "error", err)
				}
			}
			waitsFor = o.Node // it is alive, so it is asked until it responds
		}
	}
	if waitsFor == "" {
		// This includes nodes that have been down for a long time.
		known, err := s.exchange.node.Store.Known()
		if err != nil {
			s.log.Warn("looking for the secret of a poll failed; it is tried again", "error", err)
			return false
		}
		for _, name := range known {
			if name != self && s.keeps(id, name) && !s.lacks(id, name) {
				waitsFor = name
			}
		}
	}
	if waitsFor != "" {
		s.logWaiting(id, waitsFor)
		return false
	}
	s.log.Warn("no node has the secret of a poll, so the poll is void", "secret", id)
	return s.settle(id, true)
}

// lacks reports whether a node has responded that it lacks a secret.
func (s *Search) lacks(id, node string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.wanted[id]
	return w != nil && slices.Contains(w.no, node)
}

func (s *Search) note(id, node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.wanted[id]; w != nil {
		w.no = append(w.no, node)
	}
}

// keeps reports whether a node that is down can have a secret.
func (s *Search) keeps(id, node string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.wanted[id]
	return w != nil && (len(w.keepers) == 0 || slices.Contains(w.keepers, node))
}

// first returns true once per secret.
func (s *Search) first(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.wanted[id]
	if w == nil || w.logged {
		return false
	}
	w.logged = true
	return true
}

// logWaiting logs, once per secret, that a poll waits for a node.
func (s *Search) logWaiting(id, node string) {
	if s.first(id) {
		s.log.Warn("a poll waits for a node that may have its secret; start the node, or run atelier cluster forget if it is gone for good", "node", node, "secret", id)
	}
}

func (s *Search) settle(id string, lost bool) bool {
	s.mu.Lock()
	w := s.wanted[id]
	switch {
	case w == nil: // forgotten meanwhile
	case lost:
		w.lost = true
	default:
		delete(s.wanted, id)
	}
	s.mu.Unlock()
	if w != nil {
		s.settled(id)
	}
	return true
}
