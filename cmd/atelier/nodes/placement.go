package nodes

import (
	"cmp"
	"slices"
	"time"

	"atelier/actors/durable"
)

// Owned is a codelab that this node owns.
type Owned struct {
	ID string
	// Seq is its newest record.
	Seq uint64
}

// held is a codelab that this node owns, since its Watch has seen it first.
type held struct {
	ID string
	// Load is how many records it commits a second, over about ten.
	Load float64
	// Taken is when this node took it from another; zero for one that was made here.
	Taken time.Time
	// seq was its newest record at the last check.
	seq uint64
	at  time.Time
}

// stillNew is how old a codelab may be that was made here when it is seen first: it has
// not come from another node.
const stillNew = 5 * time.Second

// place is a node as the plan sees it.
type place struct {
	node string
	owns int
	load float64
}

// move is a codelab that is to be given away.
type move struct{ id, to string }

const (
	// likeLoads is by how much a load may differ from the mean, as a part of it, and
	// quietLoad is a load that nobody notices, records a second: both leave things
	// where they are.
	likeLoads = 0.1
	quietLoad = 20
	// worthwhile is what a move that does not make loads alike must leave of the greater
	// of the two. The one codelab of a node has nearly all of its load: to move it when
	// everybody comes to it, or comes back to it, would help nobody.
	worthwhile = 0.8
	// likeCounts is by how much the number that a node owns may differ from the mean.
	likeCounts = 0.05
	// givenEach is how many codelabs are given away a second: each costs its people a
	// moment. settleTime is how long the loads take to show what a plan has done, and
	// stayTime how long a codelab stays where it has come to.
	givenEach  = 50
	settleTime = 10 * time.Second
	stayTime   = time.Minute
)

// plan says what a node gives to whom, so that loads become alike, and where they are,
// the number of codelabs. Others that have too much give as well, so each fills its
// part of what a node lacks.
func plan(me string, places []place, owned []held) []move {
	i := slices.IndexFunc(places, func(p place) bool { return p.node == me })
	if i < 0 || len(places) < 2 {
		return nil
	}
	var load, owns float64
	for _, p := range places {
		load, owns = load+p.load, owns+float64(p.owns)
	}
	load, owns = load/float64(len(places)), owns/float64(len(places))
	slack := max(load*likeLoads, quietLoad)
	byLoad := quotas(i, places, slack, load, func(p place) float64 { return p.load })
	// The largest first: they fit worst. Idle ones make no load alike.
	owned = slices.Clone(owned)
	slices.SortFunc(owned, func(a, b held) int { return cmp.Or(cmp.Compare(b.Load, a.Load), cmp.Compare(a.ID, b.ID)) })
	var moves []move
	gone := map[string]bool{}
	give := func(o held, to int) {
		moves, gone[o.ID] = append(moves, move{o.ID, places[to].node}), true
		places[i].owns--
		places[to].owns++
		places[i].load -= o.Load
		places[to].load += o.Load
	}
	places = slices.Clone(places)
	for _, o := range owned {
		if to := roomiest(byLoad); to >= 0 && o.Load > 0 && o.Load <= byLoad[to] {
			byLoad[to] -= o.Load
			give(o, to)
		}
	}
	if to := roomiest(byLoad); to >= 0 && len(moves) == 0 {
		// Nothing fits; one that makes the greater of the two loads smaller helps, unless
		// by so little that its people would not notice but the move.
		for _, o := range slices.Backward(owned) {
			after := max(places[to].load+o.Load, places[i].load-o.Load)
			if o.Load > 0 && after <= worthwhile*places[i].load {
				give(o, to)
				break
			}
		}
	}
	byCount := quotas(i, places, max(owns*likeCounts, 1), owns, func(p place) float64 { return float64(p.owns) })
	for _, o := range slices.Backward(owned) {
		to := roomiest(byCount)
		if to < 0 || byCount[to] < 1 {
			break
		}
		// A codelab with a load moves only if the loads stay balanced.
		alike := places[to].load+o.Load <= load+slack && places[i].load-o.Load >= load-slack
		if !gone[o.ID] && (o.Load == 0 || alike) {
			byCount[to]--
			give(o, to)
		}
	}
	return moves
}

// quotas is how much of something a node, by its index, gives to each: its part of what
// that one lacks to the mean. Nothing where it has hardly more than the mean.
func quotas(me int, places []place, slack, mean float64, of func(place) float64) []float64 {
	out := make([]float64, len(places))
	mine, surplus := of(places[me])-mean, 0.0
	for _, p := range places {
		surplus += max(of(p)-mean, 0)
	}
	if mine < slack || surplus == 0 {
		return out
	}
	for i, p := range places {
		if i != me {
			out[i] = max(mean-of(p), 0) * mine / surplus
		}
	}
	return out
}

// roomiest is the index of the largest quota; -1 where all are 0.
func roomiest(quotas []float64) int {
	best := -1
	for i, q := range quotas {
		if q > 0 && (best < 0 || q > quotas[best]) {
			best = i
		}
	}
	return best
}

// placement carries plans out. Owned by Watch.
type placement struct {
	moves []move    // that are still to be made
	next  time.Time // no plan before
	held  map[string]held
}

// look sees what this node owns now, and forgets what it does not own any more. made is
// asked of what is seen first.
func (p *placement) look(now time.Time, owned []Owned, made func(id string) time.Time) {
	before := p.held
	p.held = make(map[string]held, len(owned))
	for _, o := range owned {
		h, known := before[o.ID]
		if known {
			h.Load = smooth(h.Load, float64(o.Seq-min(h.seq, o.Seq)), now.Sub(h.at))
		} else if h.ID = o.ID; now.Sub(made(o.ID)) > stillNew {
			h.Taken = now
		}
		h.seq, h.at = o.Seq, now
		p.held[o.ID] = h
	}
}

// balance gives codelabs to nodes that have less to do.
func (n *Node) balance(now time.Time, members []durable.Member, takers []string, w wanted, server Duties) {
	p := &n.placement
	p.look(now, server.Owned(), server.Made) // each time: it sees what is new
	if len(p.moves) == 0 && now.After(p.next) {
		var places []place
		for _, m := range members {
			f := n.said(m.Node)
			if f != nil && (m.Node == n.Store.Node() || slices.Contains(takers, m.Node)) {
				places = append(places, place{m.Node, m.Owns, f.Load})
			}
		}
		var free []held
		for _, h := range p.held {
			if now.Sub(h.Taken) >= stayTime && w.moves[h.ID] == "" {
				free = append(free, h)
			}
		}
		if p.moves = plan(n.Store.Node(), places, free); len(p.moves) > 0 {
			n.log.Info("giving codelabs to nodes that have less to do", "codelabs", len(p.moves))
		}
	}
	for range givenEach {
		if len(p.moves) == 0 {
			return
		}
		m := p.moves[0]
		p.moves = p.moves[1:]
		p.next = now.Add(settleTime)
		if slices.Contains(takers, m.to) && w.moves[m.id] == "" {
			server.Move(m.id, m.to)
		}
	}
}
