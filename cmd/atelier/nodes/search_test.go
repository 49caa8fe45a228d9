package nodes

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/persistence/shares"
)

// listed is a store for which the test sets the list of members.
type listed struct {
	durable.Shared
	mu      sync.Mutex
	members []durable.Member
	absent  []string // the nodes that were members and are no longer
}

func (t *listed) Known() (names []string, _ error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.members {
		names = append(names, m.Node)
	}
	return append(names, t.absent...), nil
}

func (t *listed) Members() ([]durable.Member, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.members), nil
}

func (t *listed) setAbsent(names []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.absent = names
}

func (t *listed) set(change func(m []durable.Member) []durable.Member) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.members = change(slices.Clone(t.members))
}

// searching is three nodes that store secrets. The first node searches.
type searching struct {
	*trio
	kept      []*keeper
	exchanges []*Exchange[shares.Ballot]
	members   *listed // of the first node
	search    *Search // of the first node
	settled   chan string
}

func newSearching(t *testing.T) *searching {
	s := &searching{trio: newTrio(t), settled: make(chan string, 10)}
	for i, n := range s.nodes {
		e, err := NewBallotExchange(n, "a secret of all nodes")
		if err != nil {
			t.Fatal(err)
		}
		k := &keeper{}
		if err := e.Serve(k); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.End)
		s.kept, s.exchanges = append(s.kept, k), append(s.exchanges, e)
		if i == 0 {
			s.members = &listed{Shared: n.Store, members: slices.Clone(s.trio.members)}
			n.Store = s.members
		}
	}
	s.search = newSearch(s.exchanges[0], func(id string) { s.settled <- id }, time.Millisecond)
	t.Cleanup(s.search.End)
	return s
}

// away ends a node's lease. forget removes the node from the list.
func (s *searching) away(i int) {
	s.members.set(func(m []durable.Member) []durable.Member {
		m[slices.IndexFunc(m, func(o durable.Member) bool { return o.Node == s.nodes[i].Store.Node() })].Left = 0
		return m
	})
}

func (s *searching) forget(i int) {
	s.members.set(func(m []durable.Member) []durable.Member {
		return slices.DeleteFunc(m, func(o durable.Member) bool { return o.Node == s.nodes[i].Store.Node() })
	})
}

func (s *searching) all() (names []string) {
	for _, n := range s.nodes {
		names = append(names, n.Store.Node())
	}
	return names
}

// waits verifies that two more rounds do not end the search.
func (s *searching) waits(t *testing.T, when string) {
	t.Helper()
	for range 2 {
		s.search.askNodes("a")
	}
	select {
	case <-s.settled:
		t.Fatalf("%s: the search ended, lost: %v", when, s.search.Lost("a", nil))
	default:
	}
}

// ends waits for the end of the search, and verifies whether the secret was found or is lost.
func (s *searching) ends(t *testing.T, when string, lost bool) {
	t.Helper()
	<-s.settled
	if _, found := s.kept[0].Find("a"); found == lost || lost != s.search.Lost("a", s.all()) && lost {
		t.Errorf("%s: found is %v, want %v", when, found, !lost)
	}
}

func TestASecretIsFoundOnAnyNode(t *testing.T) {
	for _, keepers := range [][]int{{0, 1}, {0, 1, 2}, {}} {
		s := newSearching(t)
		s.kept[2].all = []shares.Ballot{{ID: "a"}} // this node need not be a keeper
		var names []string
		for _, i := range keepers {
			names = append(names, s.all()[i])
		}
		if s.search.Lost("a", names) {
			t.Error("lost before any node was asked")
		}
		s.ends(t, "found", false)
	}
}

// A secret is lost only when all nodes have reported that they lack it. It is not lost while a node
// that stored it is away.
func TestASecretIsLostOnlyWhenAllNodesLackIt(t *testing.T) {
	t.Run("all nodes are alive", func(t *testing.T) {
		s := newSearching(t)
		s.search.Lost("a", s.all())
		s.ends(t, "all nodes lack it", true)
		s.search.Forget("a")
		s.kept[1].mu.Lock()
		s.kept[1].all = []shares.Ballot{{ID: "a"}}
		s.kept[1].mu.Unlock()
		s.search.Lost("a", s.all())
		s.ends(t, "searched again after it was forgotten", false)
	})
	t.Run("a keeper is away", func(t *testing.T) {
		s := newSearching(t)
		s.away(2)
		s.search.Lost("a", s.all())
		s.waits(t, "while a keeper is away")
		s.forget(2)
		s.ends(t, "once it is forgotten", true)
	})
	t.Run("a node that is not a keeper is away", func(t *testing.T) {
		s := newSearching(t)
		s.away(2)
		s.search.Lost("a", s.all()[:2])
		s.ends(t, "the absent node never had it", true)
	})
	t.Run("a keeper has been away for a long time", func(t *testing.T) {
		s := newSearching(t)
		s.forget(2)
		s.members.setAbsent(s.all()[2:])
		s.search.Lost("a", s.all())
		s.waits(t, "while it can come back")
		s.members.setAbsent(nil)
		s.ends(t, "once it is forgotten", true)
	})
	t.Run("the keepers are not recorded", func(t *testing.T) {
		s := newSearching(t)
		s.away(2)
		s.search.Lost("a", nil)
		s.waits(t, "any member can have it")
		s.forget(2)
		s.ends(t, "once it is forgotten", true)
	})
	t.Run("a living node does not answer", func(t *testing.T) {
		s := newSearching(t)
		s.kept[2].all = []shares.Ballot{{ID: "a"}}
		s.cut(0, 2)
		s.search.Lost("a", s.all()[:2])
		s.waits(t, "while the node is unreachable")
		a, b := s.nodes[0].Store.Node(), s.nodes[2].Store.Node()
		s.net.Repair(a, b)
		s.net.Repair(b, a)
		s.ends(t, "once it is reachable", false)
	})
	t.Run("a found secret cannot be stored", func(t *testing.T) {
		s := newSearching(t)
		s.kept[0].mu.Lock()
		s.kept[0].fail = errors.New("the disk is full")
		s.kept[0].mu.Unlock()
		s.kept[2].all = []shares.Ballot{{ID: "a"}}
		s.search.Lost("a", s.all())
		s.waits(t, "while the disk is full")
		s.kept[0].mu.Lock()
		s.kept[0].fail = nil
		s.kept[0].mu.Unlock()
		s.ends(t, "once the disk has space", false)
	})
}

// If only one of several nodes is alive, a new poll fails, because its secret would be lost with
// that node.
func TestASecretHasKeepersOnOtherNodes(t *testing.T) {
	s := newSearching(t)
	x := s.search.exchange
	keepers, err := x.Spread(shares.Ballot{ID: "b"})
	slices.Sort(keepers)
	if err != nil || !slices.Equal(keepers, s.all()) {
		t.Errorf("the keepers are %v, %v", keepers, err)
	}
	s.away(1)
	if keepers, err = x.Spread(shares.Ballot{ID: "c"}); err != nil || len(keepers) != 2 {
		t.Errorf("with two nodes, the keepers are %v, %v", keepers, err)
	}
	s.away(2)
	if _, err = x.Spread(shares.Ballot{ID: "d"}); !errors.Is(err, durable.ErrUnavailable) {
		t.Errorf("with one node of three, Spread returned %v, want ErrUnavailable", err)
	}
	s.forget(1)
	s.forget(2)
	if keepers, err = x.Spread(shares.Ballot{ID: "e"}); err != nil || len(keepers) != 1 {
		t.Errorf("with a single node, the keepers are %v, %v", keepers, err)
	}
}

// A stopping node wipes its secrets only after its last response. A response from wiped secrets
// would report that there are none.
func TestAStoppingNodeWaitsForItsResponses(t *testing.T) {
	s := newSearching(t)
	asked, wiped := make(chan struct{}), make(chan struct{})
	s.kept[2].mu.Lock()
	s.kept[2].asked = func() { close(asked); <-wiped }
	s.kept[2].all = []shares.Ballot{{ID: "a"}}
	s.kept[2].mu.Unlock()
	answered := make(chan bool)
	go func() {
		m, err := s.exchanges[1].ask(s.all()[2], exchanged[shares.Ballot]{Find: "a"})
		answered <- err == nil && len(m.Shares) == 1
	}()
	<-asked
	ended := make(chan struct{})
	go func() { s.exchanges[2].End(); close(ended) }()
	select {
	case <-ended:
		t.Fatal("the exchange ended during a response")
	default:
	}
	close(wiped)
	<-ended
	<-answered
	if m, err := s.exchanges[1].ask(s.all()[2], exchanged[shares.Ballot]{Find: "a"}); err == nil {
		t.Errorf("the exchange answered after its end: %v", m.Shares)
	}
}
