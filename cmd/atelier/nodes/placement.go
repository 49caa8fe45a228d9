package nodes

import (
	"cmp"
	"slices"
	"time"

	"atelier/actors/durable"
)

// Owned describes a codelab that this node owns.
type Owned struct {
	ID string
	// Seq is the position of the codelab's newest record.
	Seq uint64
}

// held is a codelab that this node owns, as recorded by Watch.
type held struct {
	ID string
	// Load is the number of records that the codelab commits per second, over about ten seconds.
	Load float64
	// Taken is the time when this node took the codelab from another node, or zero if it was
	// created here.
	Taken time.Time
	// seq is the codelab's newest record at the last check, and at is the time of that check.
	seq uint64
	at  time.Time
}

// stillNew is the age up to which a newly recorded codelab counts as created here, rather than
// taken from another node.
const stillNew = 5 * time.Second

// place is a node as seen by the plan.
type place struct {
	node string
	owns int
	load float64
}

// move is a codelab to be moved, with its target.
type move struct{ id, to string }

const (
	// likeLoads is the fraction by which a load can differ from the mean. quietLoad is a negligible
	// load, in records per second. Within either limit, no codelab moves because of the load.
	likeLoads = 0.1
	quietLoad = 20
	// A move that does not level the loads is worthwhile only if it lowers the higher of the two
	// loads to at most this fraction. A node's only codelab has nearly all of the node's load, so
	// moving it at a peak would not help.
	worthwhile = 0.8
	// likeCounts is the fraction by which a node's number of codelabs can differ from the mean.
	likeCounts = 0.05
	// givenEach is the maximum number of codelabs moved per second. It is limited because each move
	// briefly interrupts the people in the codelab. settleTime is the time until the loads show the
	// effect of a plan. stayTime is the minimum time between two moves of a codelab.
	givenEach  = 50
	settleTime = 10 * time.Second
	stayTime   = time.Minute
)

// plan returns the codelabs that a node gives away to make the loads equal. It then makes the
// numbers of codelabs equal, as far as the loads stay equal. Other nodes above the mean also give
// codelabs away, so each node fills only its share of a deficit.
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
	// The largest codelabs come first, because they are the hardest to fit. Idle codelabs do not
	// change the load.
	owned = slices.Clone(owned)
	slices.SortFunc(owned, func(a, b held) int { return cmp.Or(cmp.Compare(b.Load, a.Load), cmp.Compare(a.ID, b.ID)) })
	var moves []move
	gone := map[string]bool{}
	assign := func(o held, to int) {
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
			assign(o, to)
		}
	}
	if to := roomiest(byLoad); to >= 0 && len(moves) == 0 {
		// No codelab fits. A move that lowers the higher of the two loads helps. If it lowers the
		// load too little, people in the codelab would notice only the move.
		for _, o := range slices.Backward(owned) {
			after := max(places[to].load+o.Load, places[i].load-o.Load)
			if o.Load > 0 && after <= worthwhile*places[i].load {
				assign(o, to)
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
			assign(o, to)
		}
	}
	return moves
}

// quotas returns how much a node gives to each other node, by index. This is the node's share of
// the other node's deficit from the mean. All quotas are 0 if the node exceeds the mean by less
// than slack.
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

// roomiest returns the index of the largest quota, or -1 if all quotas are 0.
func roomiest(quotas []float64) int {
	best := -1
	for i, q := range quotas {
		if q > 0 && (best < 0 || q > quotas[best]) {
			best = i
		}
	}
	return best
}

// placement carries out plans. Watch owns it.
type placement struct {
	moves []move    // remaining moves
	next  time.Time // no new plan before this time
	held  map[string]held
}

// record records which codelabs this node owns now, and removes the others. made returns when a
// newly recorded codelab was created.
func (p *placement) record(now time.Time, owned []Owned, made func(id string) time.Time) {
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

// balance gives codelabs to nodes with less load or fewer codelabs.
func (n *Node) balance(now time.Time, members []durable.Member, takers []string, w wanted, server Duties) {
	p := &n.placement
	p.record(now, server.Owned(), server.Made) // on every call, to record new codelabs
	if len(p.moves) == 0 && now.After(p.next) {
		var places []place
		for _, m := range members {
			f := n.figuresOf(m.Node)
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
			n.log.Info("moving codelabs to less busy nodes", "codelabs", len(p.moves))
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
