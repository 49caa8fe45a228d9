package codelab

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"atelier/actors/catalog"
	"atelier/actors/clock"
	"atelier/actors/code"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/actors/naming"
	"atelier/actors/room"
)

type (
	host   = durable.Host[Command, *pb.Event, View]
	handle = durable.Handle[Command, *pb.Event, View]
)

// Frames encodes events as frames for listeners.
type Frames interface {
	// Encode returns the frame of an event, or false if no client receives it. The frame contains
	// the ids of all persons and items in the event (see personal.proto).
	Encode(seq uint64, e *pb.Event) (room.Frame, bool)
}

// Config configures Codelabs. System, Journal, List, Files, Frames and Logger are required.
type Config struct {
	System  *actor.ActorSystem
	Journal durable.Journal
	List    *catalog.List
	Files   *files.Register
	Rules   Rules
	Frames  Frames
	// Epoch identifies the store's stream of events, as in room.New.
	Epoch string
	// Room bounds the frames kept for replay. Room.Frames is also the number of events that the
	// journal keeps for this purpose.
	Room room.Limits
	// Durable contains the options of the actors. The codelabs themselves also use Durable.Clock.
	Durable durable.Options
	// Removed ends the room sessions that depend on an attendee's grants. It is called after an
	// attendee was removed or got a new PIN, and with "" after the whole codelab was removed. At
	// that time the change is committed and visible.
	Removed func(r *room.Room, attendee string)
	// Forgotten, if not nil, is called when the room of a codelab has ended on this node while it
	// had sessions. The room receives no more events, so the sessions must reconnect. Forgotten
	// must not block or get codelabs.
	Forgotten func(r *room.Room)
	// Announce is called on every node, for its own sessions, when a person connects to another
	// node or has left all nodes. It is also called when a simulated attendee connects or leaves.
	Announce func(w Codelab, person string, arrived bool)
	// Signal delivers a message from another node to the sessions of a person on this node; ""
	// means all facilitators. It is used only if Durable.Cluster is set.
	Signal func(w Codelab, person string, payload []byte)
	// Ballots stores the secrets of anonymous polls. Rules.BallotKey reads them from the same
	// place. Without Ballots, polls cannot be anonymous.
	Ballots BallotKeys
	// Rehearse simulates the attendees of a rehearsal. It runs on the node that owns the codelab,
	// until ctx ends, which is when the rehearsal ends. nil disables rehearsals.
	Rehearse func(ctx context.Context, w Codelab)
	// Sweep removes, at startup, the logs of codelabs whose deletion was interrupted.
	Sweep  bool
	Logger *slog.Logger
}

// Kind describes the actors of codelabs in a journal.
func Kind(rules Rules) durable.Kind[Command, *pb.Event, View] {
	return durable.Kind[Command, *pb.Event, View]{
		Name: "codelab",
		New: func(id string) durable.Core[Command, *pb.Event, View] {
			return New(id, rules, naming.NewIDs(id))
		},
		AppendEvent: durable.AppendMessage[*pb.Event],
		ParseEvent:  ParseEvent,
		EncodeState: EncodeState,
		Codec:       Codec,
		Urgent:      frees,
		Erases:      Erases,
		Erase:       Erase,
	}
}

// Codelabs runs the actors of all codelabs. Safe for concurrent use.
type Codelabs struct {
	Config
	host  *host
	ids   *naming.SharedIDs // for new codelabs
	rooms sync.Map          // codelab id to *room.Room, of active codelabs

	claiming atomic.Int32 // see Codelab.Submit

	rehearsals rehearsals // the rehearsals that run on this node

	// counts contains the counts from other nodes, see nodes.go.
	counts     counts
	stopCounts func()
}

// Codelab is one active codelab with its actor, its view and its room.
type Codelab struct {
	*handle
	Room *room.Room
	all  *Codelabs
}

// OnlineAttendees counts the connected attendees. It subtracts the facilitators, who together are
// one person in a room.
func (w Codelab) OnlineAttendees() int {
	n := w.Room.Online()
	if w.Room.IsPresent(FacilitatorID) {
		n--
	}
	return n
}

// Over reports whether this codelab's room has ended or will end. A session that enters such a room
// receives nothing, so each session checks Over after entering. Config.Forgotten handles sessions
// that entered earlier.
func (w Codelab) Over() bool { return w.Condition() == durable.Resting }

// Await waits until the room shows a position that a client has read. Like durable.Handle.Await, it
// also returns nil if the codelab never reached the position. The room is slightly behind the view,
// so a client may have read a position on this node that the room does not show yet.
func (w Codelab) Await(seq uint64) error {
	if w.Room.Head() >= seq {
		return nil
	}
	at, err := w.handle.Await(seq)
	if err != nil {
		return err
	}
	tick := w.Clock().NewTicker(roomLag)
	defer tick.Stop()
	for until := w.Clock().Uptime() + roomWait; w.Room.Head() < min(seq, at); <-tick.C() {
		if w.Clock().Uptime() > until {
			return durable.ErrUnavailable
		}
	}
	return nil
}

// Await checks the room every roomLag, because the room usually shows a commit within this time
// after the view. If the actor fails in between, the room shows the commit only after a restart.
// Await therefore waits up to roomWait.
const (
	roomLag  = time.Millisecond
	roomWait = 3 * time.Second
)

// NewCodelabs starts the host. With Config.Sweep, it first removes the logs of interrupted
// deletions.
func NewCodelabs(cfg Config) (_ *Codelabs, err error) {
	if cfg.Durable.Clock == nil {
		cfg.Durable.Clock = clock.System
	}
	cfg.Rules.Player = rand.Text()
	w := &Codelabs{Config: cfg, ids: naming.NewSharedIDs(cfg.Durable.Clock)}
	if cfg.Sweep {
		if err := w.sweep(); err != nil {
			return nil, err
		}
	}
	keep := uint64(max(cfg.Room.Frames, 0))
	if keep == 0 {
		keep = 50_000
	}
	kind := Kind(cfg.Rules)
	kind.Receive = w.receive
	kind.Observe = func(id string, h *handle) durable.Observer[*pb.Event, View] {
		r := room.New(cfg.Epoch, cfg.Room)
		if cfg.Durable.Cluster != nil {
			r.Connect(&nodes{h, w}, cfg.Durable.Clock)
		}
		w.rooms.Store(id, r)
		return &observer{w: w, id: id, room: r, who: func() { h.Broadcast(aside{Kind: asideWho}.encode()) }, lab: Codelab{h, r, w}}
	}
	kind.Keep = keep
	kind.MayRest = func(id string) bool {
		r := w.room(id)
		return (r == nil || r.Empty()) && !w.rehearsals.runs(id)
	}
	kind.Rested = func(id string) {
		r := w.room(id)
		w.rehearsals.stop(id)
		w.rooms.Delete(id)
		if r != nil && !r.Empty() && cfg.Forgotten != nil {
			cfg.Forgotten(r)
		}
	}
	w.host, err = durable.NewHost(cfg.System, cfg.Journal, kind, cfg.Durable)
	if err == nil {
		err = w.listenToCounts()
	}
	if err != nil {
		return nil, err
	}
	return w, nil
}

// sweep purges the logs of unlisted codelabs whose last event is the deletion. Other logs remain,
// because their state is unknown.
func (w *Codelabs) sweep() error {
	var logs []string
	err := w.Journal.Actors("codelab/", func(name string) bool {
		logs = append(logs, name)
		return true
	})
	if err != nil {
		return fmt.Errorf("find unlisted codelabs: %w", err)
	}
	for _, name := range logs {
		if err := w.sweepLog(name); err != nil {
			w.Logger.Error("checking whether an unlisted codelab can be removed failed", "log", name, "error", err)
		}
	}
	return nil
}

// sweepLog purges one log if its codelab is not in the list and was deleted. Other nodes create and
// delete codelabs concurrently. If another node owns the log, that node removes it. A codelab that
// was not deleted counts as unlisted only if the list still lacks it after its log was read.
func (w *Codelabs) sweepLog(name string) error {
	id := name[len("codelab/"):]
	if m, err := w.List.Get(id); m != nil || err != nil {
		return err
	}
	deleted, err := w.deleted(name)
	var owned *durable.Owned
	switch {
	case err != nil:
		return err
	case deleted:
		if err = w.Journal.Purge(name); errors.As(err, &owned) {
			return nil
		}
		return err
	}
	if m, err := w.List.Get(id); m != nil || err != nil || w.elsewhere(id) {
		return err
	}
	w.Logger.Error("a codelab is in the store but not in the list, and was never deleted; its data is kept", "log", name)
	return nil
}

// deleted reports whether a log ends with the deletion of its codelab. An interrupted purge may
// already have removed the whole log.
func (w *Codelabs) deleted(name string) (bool, error) {
	kind := Kind(w.Rules)
	v, seq, err := kind.Read(w.Journal, name[len("codelab/"):])
	return err == nil && (v.deleted || seq == 0), err
}

// FinishErasing waits until nothing is left to erase; see durable.Host.FinishErasing.
func (w *Codelabs) FinishErasing(ctx context.Context) error { return w.host.FinishErasing(ctx) }

// ParseEvent decodes a stored event.
var ParseEvent = durable.ParseMessage[*pb.Event]

func (w *Codelabs) room(id string) *room.Room {
	r, _ := w.rooms.Load(id)
	out, _ := r.(*room.Room)
	return out
}

// Get returns a codelab, and activates its actor if necessary. It also closes a due poll and ends a
// due rehearsal. For an id that is not in the list, it returns a Missing rejection.
func (w *Codelabs) Get(id string) (Codelab, error) {
	m, err := w.List.Get(id)
	if err != nil {
		return Codelab{}, err
	}
	if m == nil {
		return Codelab{}, errGone
	}
	ws, err := w.get(id)
	if err == nil && ws.View().Meta == nil { // another node has just removed it
		return Codelab{}, errGone
	}
	if err == nil && w.duePoll(ws.View()) {
		// If this fails, the next reader retries. An error here would only make the rest of the
		// codelab unreadable. The due poll accepts no votes in any case.
		_, _, _ = ws.Ask(Command{Caller: system, Body: CloseDuePoll{}})
	}
	if err == nil {
		w.endDueRehearsal(ws)
	}
	return ws, err
}

func (w *Codelabs) get(id string) (Codelab, error) {
	for {
		h, err := w.host.Get(id)
		if err != nil {
			return Codelab{}, err
		}
		// A codelab without a room has just stopped; the next Get activates it.
		if r := w.room(id); r != nil {
			return Codelab{h, r, w}, nil
		}
	}
}

// Active returns the codelabs that are in memory.
func (w *Codelabs) Active() []Codelab {
	var out []Codelab
	for _, h := range w.host.Active() {
		if ws, ok := w.inMemory(h); ok {
			out = append(out, ws)
		}
	}
	return out
}

// Peek returns a codelab if it is in memory. Peek never activates a codelab.
func (w *Codelabs) Peek(id string) (Codelab, bool) {
	if h := w.host.Peek(id); h != nil {
		return w.inMemory(h)
	}
	return Codelab{}, false
}

// inMemory returns false for a codelab that is starting or stopping.
func (w *Codelabs) inMemory(h *handle) (Codelab, bool) {
	r := w.room(h.ID())
	return Codelab{h, r, w}, r != nil && h.View() != nil
}

// Create creates a codelab, with a unique join code, and returns its record.
func (w *Codelabs) Create(caller *Caller, c *Create) (*pb.Codelab, error) {
	code, err := w.freeJoinCode()
	if err != nil {
		return nil, err
	}
	c.Codelab.JoinCode = code
	id := w.ids.New()
	releaseSlug := func() {}
	if c.Codelab.Slug != "" {
		if releaseSlug, err = w.ClaimSlug(c.Codelab.Slug, id); err != nil {
			return nil, err
		}
	}
	ws, err := w.get(id)
	if err != nil {
		releaseSlug()
		return nil, err
	}
	v, _, err := ws.ask(Command{Caller: caller, Body: *c}) // without Ask's check, because the codelab is not listed yet
	if err != nil {
		if durable.Refused(err) {
			releaseSlug()
		}
		w.host.Rest(context.Background(), ws.handle, false)
		return nil, err
	}
	return v.(*pb.Codelab), nil
}

// freeJoinCode returns an unused join code.
func (w *Codelabs) freeJoinCode() (string, error) {
	for {
		code := joinCode()
		if m, err := w.List.ByJoinCode(code); m == nil || err != nil {
			return code, err
		}
	}
}

// BySlug returns the id of the codelab with a slug, or "". claimed means that the assignment of the
// slug is in progress or has failed.
func (w *Codelabs) BySlug(slug string) (id string, claimed bool, err error) {
	return catalog.BySlug(w.Journal, slug)
}

// ClaimSlug reserves a slug for a codelab, before the command that assigns the slug. If the command
// is rejected, the caller releases the slug.
func (w *Codelabs) ClaimSlug(slug, id string) (releaseSlug func(), err error) {
	return catalog.ClaimSlug(w.Journal, slug, id)
}

// Delete removes a codelab and all data that its actor has stored.
func (w *Codelabs) Delete(caller *Caller, id string) error { return w.remove(caller, id, Delete{}) }

// RemoveWithCode calls remove to delete the codelab, and removes its code.
func (w Codelab) RemoveWithCode(store code.Store, remove func(id string) error) error {
	defer store.Lock(w.ID())()
	workspace := w.View().Workspace
	if err := remove(w.ID()); err != nil {
		return err
	}
	if workspace != nil {
		store.Remove(workspace.Id)
	}
	return nil
}

func (w *Codelabs) remove(caller *Caller, id string, b Delete) error {
	ws, err := w.Get(id)
	if err != nil {
		return err
	}
	v, _, err := ws.Ask(Command{Caller: caller, Body: b})
	if err != nil {
		return err
	}
	// From here on nobody can open the codelab. Its stored data is removed now or, if that fails,
	// at the next start. The actor stops when its last caller has left.
	w.host.Rest(context.Background(), ws.handle, false)
	w.removeLog(id)
	if err := w.Files.Forget(id, v.(files.Forgotten)); err != nil {
		w.Logger.Warn("removing the files of a deleted codelab failed; a sweep will remove them", "codelab", id, "error", err)
	}
	return nil
}

// FindAttendee returns the codelab of an attendee and their record.
func (w *Codelabs) FindAttendee(id string) (*View, *pb.Attendee, error) {
	owners, err := w.List.Owners(id)
	if err != nil {
		return nil, nil, err
	}
	for _, owner := range owners {
		ws, err := w.Get(owner)
		if durable.IsMissing(err) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, nil, err
		}
		v := ws.View()
		if a := v.Attendee(id); a != nil && v.Meta != nil {
			return v, a, nil
		}
	}
	return nil, nil, durable.Reject(durable.Missing, "attendee not found")
}

// Drop stops all codelabs on this node immediately; see durable.Host.Drop.
func (w *Codelabs) Drop() { w.host.Drop() }

// GiveTo moves a codelab that this node owns to another node.
func (w *Codelabs) GiveTo(ws Codelab, node string) { w.host.GiveTo(ws.handle, node) }

// Quarantined returns the ids of codelabs that failed too often.
func (w *Codelabs) Quarantined() []string { return w.host.QuarantinedIDs() }

// Stats returns the host's counters.
func (w *Codelabs) Stats() *durable.Stats { return w.host.Stats() }

// Replicas returns the state of the codelabs in memory, as owned or replicated.
func (w *Codelabs) Replicas() durable.ReplicaStats { return w.host.Replicas() }

// Close writes snapshots and stops all codelabs.
func (w *Codelabs) Close(ctx context.Context) error {
	if w.stopCounts != nil {
		w.stopCounts()
	}
	w.rehearsals.close()
	return w.host.Close(ctx)
}
