package codelab

import (
	"context"
	"sync"
	"time"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// The host's tasks for rehearsals. The host runs each rehearsal on the node that owns its codelab.
// It ends a rehearsal when its time has passed, or when the process that ran it is gone.

// maxRehearsals bounds the concurrent rehearsals of a server, on all its nodes together.
const maxRehearsals = 20

// rehearsals contains the rehearsals that run on this node.
type rehearsals struct {
	mu      sync.Mutex
	closed  bool                  // guarded by mu
	players map[string]*rehearser // guarded by mu; by codelab
	watched map[string]bool       // guarded by mu; watched codelabs
	done    sync.WaitGroup
}

type rehearser struct {
	startedAt int64
	end       context.CancelFunc
	finished  bool // guarded by rehearsals.mu: the player has ended
}

func (r *rehearsals) runs(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.players[id] != nil
}

func (r *rehearsals) plays(id string, run *pb.Rehearsal) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.players[id]
	return p != nil && p.startedAt == run.StartedAt
}

// finished reports whether the player of a rehearsal has ended because its time has passed.
func (r *rehearsals) finished(id string, run *pb.Rehearsal) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.players[id]
	return p != nil && p.startedAt == run.StartedAt && p.finished
}

// play starts the player of a rehearsal, and stops an earlier one. If the player ends by itself,
// because the rehearsal's time has passed, end is called. After close, play does nothing.
func (r *rehearsals) play(id string, run *pb.Rehearsal, player func(context.Context), end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.drop(id)
	ctx, cancel := context.WithCancel(context.Background())
	if r.players == nil {
		r.players = map[string]*rehearser{}
	}
	p := &rehearser{startedAt: run.StartedAt, end: cancel}
	r.players[id] = p
	r.done.Go(func() {
		player(ctx)
		r.mu.Lock()
		p.finished = true
		r.mu.Unlock()
		if ctx.Err() == nil {
			end()
		}
	})
}

// drop ends a player. The caller holds mu.
func (r *rehearsals) drop(id string) {
	if p := r.players[id]; p != nil {
		p.end()
		delete(r.players, id)
	}
}

func (r *rehearsals) stop(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(id)
}

// watch starts watching a codelab, unless it is already watched.
func (r *rehearsals) watch(id string, check func(id string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.watched[id] {
		return
	}
	if r.watched == nil {
		r.watched = map[string]bool{}
	}
	r.watched[id] = true
	go check(id) // on another goroutine, because check asks the actor, and the actor calls watch
}

func (r *rehearsals) unwatch(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.watched, id)
}

func (r *rehearsals) goOn(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.closed && r.watched[id]
}

// close ends all players, and waits for them.
func (r *rehearsals) close() {
	r.mu.Lock()
	r.closed = true
	for id := range r.players {
		r.drop(id)
	}
	r.mu.Unlock()
	r.done.Wait()
}

// StartRehearsal starts a rehearsal, unless maxRehearsals are running. Concurrent starts can
// exceed this bound. StartRehearsal adds the number of connected attendees to the command.
func (w Codelab) StartRehearsal(caller *Caller, b StartRehearsal) (*pb.Codelab, error) {
	running := 0
	for _, m := range w.all.List.All() {
		if m.Rehearsal != nil {
			running++
		}
	}
	if running >= maxRehearsals {
		return nil, durable.Reject(durable.Conflict, "%d rehearsals run on this server, which is the maximum", running)
	}
	v := w.View()
	for _, person := range w.Room.Present() {
		if person != FacilitatorID && !v.Simulated(person) {
			b.Connected++
		}
	}
	m, _, err := w.Ask(Command{Caller: caller, Body: b})
	if err != nil {
		return nil, err
	}
	return m.(*pb.Codelab), nil
}

// endDueRehearsal ends the rehearsal of a codelab that this node owns, if the rehearsal's time has
// passed or another process started it. In the second case the server was restarted, or the codelab
// has moved here from another node.
func (w *Codelabs) endDueRehearsal(ws Codelab) {
	run := ws.View().Meta.GetRehearsal()
	if run == nil || !ws.Owns() {
		return
	}
	switch {
	case run.Player != w.Rules.Player:
		ws.endRehearsal(run, rehearsalRestart)
	case w.Durable.Clock.Now().UnixMilli() >= run.EndsAt, w.rehearsals.finished(ws.ID(), run):
		ws.endRehearsal(run, rehearsalTime)
	}
}

// endRehearsal ends this rehearsal, unless it has already ended. If this fails, the next read
// retries.
func (w Codelab) endRehearsal(run *pb.Rehearsal, why string) {
	_, _, _ = w.Ask(Command{Caller: system, Body: EndRehearsal{StartedAt: run.StartedAt, Why: why}})
}

// watchRehearsal handles the rehearsal of a new view. It runs a rehearsal that was started on this
// node, and ends it at its time. It also ends a rehearsal that another process abandoned.
func (o *observer) watchRehearsal(v *View) {
	run := v.Meta.GetRehearsal()
	over := func() { o.lab.endRehearsal(run, rehearsalTime) }
	o.rehearsalEnds.set(o.w.Durable.Clock, run.GetEndsAt(), over)
	switch {
	case run == nil:
		o.w.rehearsals.stop(o.id)
		return
	case run.Player == o.w.Rules.Player && o.lab.Owns() && o.w.Rehearse != nil && !o.w.rehearsals.plays(o.id, run):
		o.w.rehearsals.play(o.id, run, func(ctx context.Context) { o.w.Rehearse(ctx, o.lab) }, over)
	}
	o.w.rehearsals.watch(o.id, o.w.lookAfterRehearsal)
}

// rehearsalInterval is the interval at which a known rehearsal is checked. The checks are needed
// because the move of a codelab to another node is not announced.
const rehearsalInterval = 2 * time.Second

// lookAfterRehearsal ends the rehearsal of a codelab in memory if the rehearsal is due. It also
// stops the player if this node no longer owns the codelab. It checks now, and then periodically
// while the codelab has a rehearsal.
func (w *Codelabs) lookAfterRehearsal(id string) {
	ws, ok := w.Peek(id)
	if ok {
		w.endDueRehearsal(ws)
		if !ws.Owns() {
			w.rehearsals.stop(id)
		}
	}
	if w.rehearses(id) && w.rehearsals.goOn(id) {
		w.Durable.Clock.AfterFunc(rehearsalInterval, func() { w.lookAfterRehearsal(id) })
		return
	}
	if w.rehearsals.unwatch(id); w.rehearses(id) { // another rehearsal has just started
		w.rehearsals.watch(id, w.lookAfterRehearsal)
	}
}

// rehearses reports whether a codelab in memory has a rehearsal.
func (w *Codelabs) rehearses(id string) bool {
	ws, ok := w.Peek(id)
	return ok && ws.View().Meta.GetRehearsal() != nil
}

// Arrive and Depart report that a simulated attendee connects or leaves.
func (w Codelab) Arrive(person string) {
	if w.Room.Join(person) {
		w.all.announce(w, person, true)
	}
}

func (w Codelab) Depart(person string) {
	if w.Room.Leave(person) {
		w.all.announce(w, person, false)
	}
}
