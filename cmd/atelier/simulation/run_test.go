package simulation

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"atelier/actors/durable"
)

// Run simulates one plan. It must be called inside a testing/synctest bubble. If no fault was
// found, the finding is "".
func Run(p Plan) (h *history, finding string) { return run(p, lies{}) }

func run(p Plan, l lies) (h *history, finding string) {
	goroutines := runtime.NumGoroutine()
	w, err := newWorld(p, l)
	if err != nil {
		return w.history, "build: " + err.Error()
	}
	w.act(time.Now().Add(p.For))
	w.startAll()
	w.settle("after all faults ended")
	w.writes()
	w.presence()
	w.hooks.check()
	w.leave()
	w.erasesSoon()
	deleted := newClient(w, "c0", w.plan.random(ofClients-1)).shortLived(w.nodes[0])
	w.rest()
	if deleted != "" { // before a restart, which removes leftovers of the deletion
		w.store.View(func(j durable.Journal) { w.model.checkGone(j, deleted) })
	}
	w.erased()
	for _, n := range w.nodes {
		n.kill()
	}
	w.startAll()
	w.settle("after all nodes were killed and restarted")
	w.store.View(w.model.checkDeleted)
	w.model.checkReference()
	w.model.checkLinear()
	for _, n := range w.nodes {
		if err := n.close(); err != nil {
			w.model.fail("close", "node %s: %v", n.name, err)
		}
	}
	w.uploads.afterwards()
	time.Sleep(time.Minute) // actions in progress end now, because simulated time stops with this function
	synctest.Wait()
	if runtime.NumGoroutine() > goroutines {
		for _, stack := range leftovers() {
			w.model.fail("goroutines", "a goroutine remains after all nodes were closed: %s", stack)
		}
	}
	return w.history, w.model.failed()
}

func stacks() string {
	b := make([]byte, 1<<20)
	return string(b[:runtime.Stack(b, true)])
}

// leftovers returns the stacks of this run's other goroutines. The runtime still counts goroutines
// that have just ended, although they have no stack.
func leftovers() (all []string) {
	for n, stack := range strings.Split(stacks(), "\n\n") {
		head, _, _ := strings.Cut(stack, "\n")
		if n > 0 && strings.Contains(head, "synctest bubble") && !strings.Contains(stack, "testing/synctest.") {
			all = append(all, stack)
		}
	}
	return all
}

// act runs the clients and listeners, and triggers faults, until the given time.
func (w *world) act(until time.Time) {
	var all sync.WaitGroup
	for i := range w.plan.Clients {
		c := newClient(w, fmt.Sprintf("c%d", i+1), w.plan.random(ofClients+uint64(i)))
		all.Go(func() { c.run(until) })
	}
	for i := range w.plan.Listeners {
		l := &listener{w: w, name: fmt.Sprintf("l%d", i+1), rand: w.plan.random(ofListeners + uint64(i))}
		w.model.listeners = append(w.model.listeners, l)
		w.listening.Go(func() { l.run(w.model.quiet) })
	}
	w.tokens.act(until, &all)
	w.grants.act(until, &all)
	w.uploads.act(until, &all)
	all.Go(func() { w.disturb(faults, w.plan.random(ofFaults), until) })
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(time.Until(until) + answerWithin):
		w.model.fail("answers", "a caller is still waiting %v after the last request:\n%s", answerWithin, stacks())
	}
}

// startAll starts all nodes and cancels planned commit failures. After each such failure, a webhook
// would pause for 30 s, longer than its oracle waits.
func (w *world) startAll() {
	var all sync.WaitGroup
	for _, n := range w.nodes {
		all.Go(n.restart)
	}
	all.Wait()
	for _, n := range w.nodes {
		if s := n.server.Load(); s != nil {
			s.store.FailCommits(0, nil)
		}
	}
}

// settleIn is the number of seconds within which every node must respond after all faults have
// ended. It is longer than a quarantine, which can follow several failed commits.
const settleIn = 330

// settle waits until every node responds, and checks each node's view.
func (w *world) settle(when string) {
	w.history.add("end", "", "%s", when)
	for _, n := range w.nodes {
		for try := 0; ; try++ {
			if w.model.failed() != "" {
				return
			}
			at := w.model.position()
			_, ws, err := n.get()
			if err == nil {
				view, seq := ws.ViewAt()
				if seq < at {
					w.model.fail("linearizable", "%s, %s shows position %d although %d was acknowledged", when, n.name, seq, at)
				}
				w.model.checkView(n.name, view, seq)
				w.model.keep(n.name, view, seq)
				// The room follows the view, and it takes a moment to send listeners away.
				if err := ws.Await(seq); err != nil {
					w.model.fail("frames", "%s, the room at %s does not reach position %d: %v", when, n.name, seq, err)
				}
				time.Sleep(100 * time.Millisecond)
				view, _ = ws.ViewAt()
				present := view.Present()
				w.model.checkRoom(n.name, ws.Room, present, func(person string) bool { return view.Attendee(person) != nil })
				break
			}
			if try == settleIn {
				w.model.fail("answers", "%s, node %s does not answer for %d s: %v", when, n.name, settleIn, err)
				return
			}
			time.Sleep(time.Second)
		}
	}
	w.uploads.settle(when)
	w.tokens.settle()
	w.grants.settle()
}

// writes sends a command to each node after all faults have ended. Each node must accept the
// command in time. The store or a queue can refuse earlier attempts.
func (w *world) writes() {
	c := newClient(w, "c99", w.plan.random(ofClients-2))
	for _, n := range w.nodes {
		for try := 0; w.model.failed() == ""; try++ {
			s, ws, err := n.get()
			if err == nil {
				err = c.sendCommand(n, s, ws, ws.View(), "SetPin")
			}
			if err == nil {
				break
			}
			if try == settleIn { // earlier attempts can still meet a pending fault of the store
				w.model.fail("answers", "node %s accepts nothing for %d s after all faults ended: %v", n.name, settleIn, err)
			}
			time.Sleep(time.Second)
		}
	}
}

// presence waits until nodes have compared the connected people, and verifies that all nodes report
// the same people.
func (w *world) presence() {
	if w.model.failed() != "" {
		return
	}
	w.model.still(true)
	for _, n := range w.nodes { // activates the codelab on every node, which then fetches the list from the others
		_, _, _ = n.get()
	}
	time.Sleep(10 * time.Second)
	here := w.model.open.people()
	for _, n := range w.nodes {
		_, ws, err := n.get()
		if err != nil {
			w.model.fail("answers", "node %s, after all faults ended: %v", n.name, err)
			return
		}
		if present := slices.Sorted(slices.Values(ws.Room.Present())); !slices.Equal(present, here) {
			w.model.fail("presence", "%s reports %v as present, want %v", n.name, present, here)
		}
	}
	w.model.still(false)
}

// leave makes all listeners leave. In some runs, one node first loses its links to the other nodes,
// and then ends. The other nodes must detect without a message that nobody is connected to it.
func (w *world) leave() {
	quietly := func() {
		close(w.model.quiet)
		w.listening.Wait()
	}
	last := w.nodes[len(w.nodes)-1]
	if w.plan.Seed%5 != 0 || len(w.nodes) == 1 || w.model.failed() != "" {
		quietly()
		return
	}
	for _, n := range w.nodes {
		defer w.net.cutLink(last.name, n.name)()
		defer w.net.cutLink(n.name, last.name)()
	}
	if err := last.close(); err != nil {
		w.model.fail("close", "node %s: %v", last.name, err)
	}
	quietly()
	time.Sleep(10 * time.Second)
	for _, n := range w.nodes[:len(w.nodes)-1] {
		if _, ws, err := n.get(); err == nil && len(ws.Room.Present()) > 0 {
			w.model.fail("presence", "%s reports %v as present although everybody left and %s has ended", n.name, ws.Room.Present(), last.name)
		}
	}
}

// erasesSoon verifies that a few rounds of erasing complete all requested erasures, before unused
// actors become inactive and erase the rest.
func (w *world) erasesSoon() {
	if w.model.failed() == "" {
		time.Sleep(idleAfter / 2)
		w.store.View(w.checkErasure)
	}
}

// erased waits until nothing is left to erase, and checks the store.
func (w *world) erased() {
	if w.model.failed() != "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := w.nodes[0].server.Load().labs.FinishErasing(ctx); err != nil {
		w.model.fail("erasing", "%v", err)
		return
	}
	w.store.View(w.model.checkStore)
}

// rest waits until all actors are inactive, and verifies that everything unused is removed.
func (w *world) rest() {
	if w.model.failed() != "" {
		return
	}
	if w.plan.Seed%3 == 0 { // even if some messages between nodes are lost
		defer w.net.during(func(by int) { w.net.lossy += by })()
	}
	time.Sleep(2*idleAfter + 10*time.Second)
	w.checkRest()
}
