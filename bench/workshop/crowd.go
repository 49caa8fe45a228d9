//go:build linux

package workshop

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"atelier/bench/api"
	"atelier/bench/audit"
	"atelier/bench/pacing"
	"atelier/bench/sockets"
)

// crowd contains all people of the workshop and their state. The loop owns it.
type crowd struct {
	cfg     *Config
	clock   pacing.Clock
	clients *api.Spread
	lab     *api.Codelab
	// addresses and names describe the nodes.
	addresses []unix.Sockaddr
	names     []string
	loop      *sockets.Loop
	rng       *rand.Rand

	// people contains the attendees, then the facilitators. A person's index is the position in
	// this slice.
	people []*person
	// byID maps an attendee id to the index of the attendee.
	byID map[string]int

	auditor audit.Auditor
	chat    chatLedger
	comment commentLedger
	helping helpLedger
	walk    walk

	measurements
	// disconnects counts ended connections, failed attempts and protocol errors, by cause. It omits
	// ended connections and failed attempts while down is set.
	disconnects map[string]int
	// down means that all nodes were killed or restarted, and are not ready again yet.
	down bool
	// faults contains the injected faults, ordered by time.
	faults []*harm
	// welcomed is the time of the last welcome.
	welcomed time.Duration
	// standing contains the nodes that are currently paused.
	standing []int
	// refusing maps a node that has refused somebody to the time until which it is skipped.
	refusing map[int]time.Duration
	// turn counts the changes of nodes, so that people alternate between the other nodes.
	turn int
	// over means that the load has ended, so planned operations are skipped.
	over bool
	// closing means that nobody reconnects any more.
	closing bool
	stalls  stalls
	// reads counts the facilitators' reads.
	reads int

	// underway is the number of REST requests without a response.
	underway int
	// requests waits for the goroutines of REST requests.
	requests sync.WaitGroup
}

func newCrowd(cfg *Config, clock pacing.Clock, clients *api.Spread, lab *api.Codelab, addresses []unix.Sockaddr) *crowd {
	rng := rand.New(rand.NewPCG(cfg.Seed, 1))
	c := &crowd{
		cfg: cfg, clock: clock, clients: clients, lab: lab, addresses: addresses, refusing: map[int]time.Duration{}, rng: rng,
		byID: make(map[string]int, cfg.Attendees), disconnects: map[string]int{}, measurements: newMeasurements(cfg.Parts, clock),
		// The names and markers of a run must differ from the names and markers of an earlier run on
		// the same codelab, for any seed.
		chat: newChatLedger(strconv.FormatInt(time.Now().UnixNano(), 36)),
	}
	for i := range cfg.Attendees + cfg.Facilitators {
		p := &person{index: i, node: i % len(addresses), facilitator: i >= cfg.Attendees}
		p.name = fmt.Sprintf("Attendee %s %05d", c.chat.run, i+1)
		if p.facilitator {
			p.name = fmt.Sprintf("Facilitator %d", i-cfg.Attendees+1)
		}
		p.subscriber = audit.Subscriber{Index: i, Facilitator: p.facilitator}
		c.people = append(c.people, p)
	}
	for _, i := range rng.Perm(cfg.Attendees)[:int(cfg.Stalled/100*float64(cfg.Attendees))] {
		c.people[i].stalled = true
	}
	c.walk.order = rng.Perm(cfg.Attendees)
	return c
}

// attendees returns all people except the facilitators.
func (c *crowd) attendees() []*person { return c.people[:c.cfg.Attendees] }

// facilitator returns the facilitator for a turn, counted from 0; turns alternate between all
// facilitators.
func (c *crowd) facilitator(turn int) *person {
	return c.people[c.cfg.Attendees+turn%c.cfg.Facilitators]
}

// active picks a random attendee who has joined and reads. It returns nil if 64 attempts find none.
func (c *crowd) active() *person {
	for range 64 {
		if p := c.people[c.rng.IntN(c.cfg.Attendees)]; p.joined() && !p.stalled {
			return p
		}
	}
	return nil
}

// count returns the number of people that meet a condition.
func (c *crowd) count(is func(*person) bool) int {
	n := 0
	for _, p := range c.people {
		if is(p) {
			n++
		}
	}
	return n
}

// outstanding returns the number of operations without a response.
func (c *crowd) outstanding() int {
	n := c.underway
	for _, p := range c.people {
		n += len(p.unacked)
	}
	return n
}
