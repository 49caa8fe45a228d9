package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Plan describes one run. The seed determines everything else.
type Plan struct {
	Seed uint64
	// Nodes is the number of nodes. PlanOf chooses 1 to 5, and Parse accepts at most 9.
	Nodes int
	// Clients is the number of people who act concurrently. Listeners is the number of connections
	// that only listen. Payers use tokens, Visitors sign in and out, and Uploaders send files.
	Clients, Listeners, Payers, Visitors, Uploaders int
	// For is the duration of the people's actions, in simulated time.
	For time.Duration
	// Without lists faults that must not happen. A smaller plan of a failed run has more of them.
	// Faults is the maximum number of faults.
	Without []string
	Faults  int
}

// PlanOf returns the plan of a seed.
func PlanOf(seed uint64) Plan {
	r := rand.New(rand.NewPCG(seed, 1))
	p := Plan{
		Seed: seed, Nodes: 1 + r.IntN(4), Clients: 1 + r.IntN(4), Listeners: r.IntN(4),
		For: 5*time.Second + time.Duration(r.IntN(10))*time.Second, Faults: 1000,
	}
	if r.IntN(20) == 0 {
		p.Nodes = 5
	}
	if r.IntN(4) == 0 {
		p.Payers = 1 + r.IntN(3)
	} else if r.IntN(4) == 0 {
		p.Visitors = 1 + r.IntN(3)
	} else if r.IntN(3) == 0 {
		p.Uploaders = 1 + r.IntN(3)
	}
	return p
}

// maxReplicated returns the maximum size in bytes of a batch that an owner sends to followers, or 0
// for the default. In some plans, it is so small that followers must read records from the store.
func (p Plan) maxReplicated() int {
	if p.Seed%4 == 0 {
		return 200
	}
	return 0
}

// skewed reports whether the nodes' clocks differ during the whole run.
func (p Plan) skewed() bool { return p.Seed%6 == 5 }

// String formats a plan so that Parse can read it.
func (p Plan) String() string {
	s := fmt.Sprintf("nodes=%d clients=%d listeners=%d payers=%d visitors=%d uploaders=%d for=%s faults=%d", p.Nodes, p.Clients, p.Listeners, p.Payers, p.Visitors, p.Uploaders, p.For, p.Faults)
	if len(p.Without) > 0 {
		s += " without=" + strings.ReplaceAll(strings.Join(p.Without, ","), " ", "-")
	}
	return s
}

// Parse applies a text such as "nodes=2 without=kill-a-node" to a plan.
func (p *Plan) Parse(text string) error {
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		numbers := map[string]*int{"nodes": &p.Nodes, "clients": &p.Clients, "listeners": &p.Listeners, "payers": &p.Payers, "visitors": &p.Visitors, "uploaders": &p.Uploaders, "faults": &p.Faults}
		var err error
		switch {
		case numbers[name] != nil:
			*numbers[name], err = strconv.Atoi(value)
		case name == "for":
			p.For, err = time.ParseDuration(value)
		case name == "without":
			p.Without = strings.Split(strings.ReplaceAll(value, "-", " "), ",")
		default:
			err = fmt.Errorf("a plan has no %q", name)
		}
		if err != nil {
			return err
		}
	}
	if p.Nodes < 1 || p.Nodes > 9 {
		return fmt.Errorf("%d nodes: 1 to 9 can be simulated", p.Nodes)
	}
	return nil
}

// smaller returns reduced plans, the most promising plans first.
func (p Plan) smaller() (all []Plan) {
	with := func(change func(*Plan)) {
		q := p
		q.Without = slices.Clone(p.Without)
		change(&q)
		all = append(all, q)
	}
	if p.Nodes > 1 {
		with(func(q *Plan) { q.Nodes-- })
	}
	for _, n := range []func(*Plan) *int{
		func(q *Plan) *int { return &q.Payers }, func(q *Plan) *int { return &q.Visitors }, func(q *Plan) *int { return &q.Uploaders },
		func(q *Plan) *int { return &q.Listeners }, func(q *Plan) *int { return &q.Clients },
	} {
		if *n(&p) > 0 {
			with(func(q *Plan) { *n(q) = 0 })
			with(func(q *Plan) { *n(q) /= 2 })
			with(func(q *Plan) { *n(q)-- })
		}
	}
	if p.Faults > 0 {
		with(func(q *Plan) { q.Faults, q.Without = 0, nil })
		with(func(q *Plan) { q.Faults = min(q.Faults, 20) / 2 })
		with(func(q *Plan) { q.Faults-- })
	}
	for _, f := range slices.Concat(faults, contentFaults) {
		if p.Faults > 0 && !slices.Contains(p.Without, f.name) {
			with(func(q *Plan) { q.Without = append(q.Without, f.name) })
		}
	}
	if p.For > time.Second {
		with(func(q *Plan) { q.For /= 2 })
		with(func(q *Plan) { q.For -= time.Second })
	}
	return all
}
