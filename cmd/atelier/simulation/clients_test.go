package simulation

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/codelab/draw"
	"atelier/actors/durable"
	"atelier/actors/room"
)

// client is an attendee or a draw.Facilitator who sends commands, each to a random node.
type client struct {
	*draw.Source
	w *world
	// number identifies a client in the linearizability check.
	number int
	refs   int    // number of refs used
	only   string // the only command that the client sends; "" for any
}

func newClient(w *world, name string, r *rand.Rand) *client {
	return &client{Source: &draw.Source{Rand: r, Name: name, Secret: "secret"}, w: w, number: w.tabs.next()}
}

// run acts until the given time, or until the run ends.
func (c *client) run(until time.Time) {
	for time.Now().Before(until) && c.w.pause(c.think()) {
		n := c.w.nodes[c.Rand.IntN(len(c.w.nodes))]
		if c.Rand.IntN(8) > 0 {
			c.act(n)
			continue
		}
		// Several tabs act concurrently, so that commands share a batch or reads happen on several
		// nodes.
		anywhere := c.Rand.IntN(2) == 0
		var tabs sync.WaitGroup
		for range 2 + c.Rand.IntN(5) {
			tab := newClient(c.w, c.Mark("tab"), rand.New(rand.NewPCG(c.Rand.Uint64(), 0)))
			at := n
			if anywhere {
				at = c.w.nodes[c.Rand.IntN(len(c.w.nodes))]
			}
			tabs.Go(func() { tab.act(at) })
		}
		tabs.Wait()
	}
	if c.w.plan.Seed%2 == 0 {
		c.lastWords()
	}
}

// lasts lists the last commands of a run. Each pair creates an object and removes it. No later
// command triggers the erasure of the object, so the removal must trigger it.
var lasts = [][2]string{{"Register", "Remove"}, {"PostChat", "DeleteChat"}, {"Annotate", "DeleteComment"}, {"AddSubmission", "DeleteSubmission"}}

// lastWords makes several tabs create and remove objects at the same time. All tabs of a run use
// the same pair of commands.
func (c *client) lastWords() {
	last := lasts[c.w.plan.Seed/2%uint64(len(lasts))]
	for _, word := range last {
		var tabs sync.WaitGroup
		for i := range 3 {
			tab := newClient(c.w, c.Mark("tab"), rand.New(rand.NewPCG(c.Rand.Uint64(), 0)))
			tab.only = word
			tabs.Go(func() {
				time.Sleep(time.Duration(i) * time.Duration(tab.Rand.IntN(int(5*time.Millisecond))))
				tab.act(c.w.nodes[tab.Rand.IntN(len(c.w.nodes))])
			})
		}
		tabs.Wait()
	}
}

// numbers assigns a number to each client, for the linearizability check.
type numbers struct{ atomic.Int64 }

func (n *numbers) next() int { return int(n.Add(1)) }

// think returns the delay before a client's next command. Most delays are short, so that commands
// collide.
func (c *client) think() time.Duration {
	return time.Duration(c.Rand.ExpFloat64() * float64(150*time.Millisecond))
}

// act reads on a node and runs one command there.
func (c *client) act(n *node) {
	if c.only == "" && c.Rand.IntN(60) == 0 {
		c.shortLived(n)
		return
	}
	model, checkLease := c.w.model, c.w.watchLease(n)
	began, at := time.Now(), model.position()
	s, ws, err := n.get()
	if err != nil {
		c.note(n, "reads", 0, err)
		return
	}
	view, seq := ws.ViewAt()
	if c.taken("read", s, nil) != nil {
		return
	}
	checkLease("a read")
	if seq < at {
		model.fail("linearizable", "%s shows position %d, but %d was acknowledged before %s read", n.name, seq, at, c.Name)
	}
	model.asked(c.number, false, began, seq)
	model.checkView(n.name, view, seq)
	switch draw := c.Rand.IntN(120); {
	case c.only != "":
	case draw < 20:
		return // this client only reads
	case draw < 23:
		c.aside(ws, view)
		return
	}
	c.sendCommand(n, s, ws, view, c.word(view))
}

// sendCommand draws a command with the name word, and sends it to a node that shows view. The error
// is nil if the command was executed.
func (c *client) sendCommand(n *node, s *server, ws codelab.Codelab, view *codelab.View, word string) error {
	model := c.w.model
	cmd := draw.Words[word](c.Source, view)
	if cmd.Body == nil {
		return errNothing
	}
	model.asking(cmd)
	deleted := textsOf(cmd.Body, view)
	if c.Rand.IntN(3) == 0 && cmd.Caller.Person != "" {
		c.refs++
		cmd.Ref = fmt.Sprintf("%s-%d", c.Name, c.refs)
	}
	began, checkLease := time.Now(), c.w.watchLease(n)
	value, seq, err := c.ask(s, ws, view, cmd)
	if took := time.Since(began); took > answerWithin {
		model.fail("answers", "%s waited %v for the answer to %s at %s", c.Name, took, word, n.name)
	}
	if err = c.taken(word, s, err); err == nil {
		checkLease("the answer to " + word)
		if head := ws.Room.Head(); head < seq {
			model.fail("frames", "%s acknowledged position %d to %s while its room is at %d: the ack came before the frame", n.name, seq, c.Name, head)
		}
	}
	c.note(n, fmt.Sprintf("%s %+v", word, cmd.Body), seq, err)
	if cmd.Ref != "" {
		value, seq, err = c.again(cmd, value, seq, err)
	}
	if durable.Refused(err) {
		model.refused(cmd)
	}
	if err != nil {
		return err
	}
	if cmd.Ref == "" {
		model.asked(c.number, alwaysNew(cmd), began, seq)
	}
	c.w.history.count("command", word)
	model.acknowledged(n.name, seq)
	model.answeredWith(cmd, value, seq, deleted)
	c.w.uploads.release(s, cmd.Body, value)
	return nil
}

// errNothing means that no object existed to which the command could apply.
var errNothing = errors.New("no object for this command")

// ask sends a command to a node that shows view.
func (c *client) ask(s *server, ws codelab.Codelab, view *codelab.View, cmd codelab.Command) (any, uint64, error) {
	if c.w.plan.Uploaders > 0 {
		return c.w.uploads.ask(c, s, ws, view, cmd)
	}
	return ws.Ask(cmd)
}

// aside sends a message that is not stored.
func (c *client) aside(ws codelab.Codelab, v *codelab.View) {
	if c.Rand.IntN(2) == 0 {
		c.w.history.count("command", "Broadcast")
		ws.Room.Broadcast(room.Frame{Payload: []byte(c.Mark("aside"))})
		return
	}
	c.w.history.count("command", "Signal")
	ws.Signal(draw.One(c.Source, v.Attendees).GetId(), []byte(c.Mark("signal")))
}

// answerWithin is the maximum time until a response. During faults the server itself waits for
// another node or the store, and this time is included.
const answerWithin = time.Minute

// taken returns the error that the client receives instead of err if the connection failed.
func (c *client) taken(what string, s *server, err error) error {
	err = s.leaves(err)
	c.w.judge(c.Name, what, s, err)
	return err
}

// judge fails the simulation if a client got an error that faults do not explain.
func (w *world) judge(client, what string, s *server, err error) {
	if known := durable.Refused(err) || errors.Is(err, errDown) || isOne(err, expected); err != nil && !known {
		w.model.fail("answers", "%s got the unexpected error %v for %s from %s", client, err, what, s.n.name)
	}
}

// expected lists the errors that a server can return under faults.
var expected = []error{
	durable.ErrUnavailable, durable.ErrTimeout, durable.ErrBusy, durable.ErrReadOnly, durable.ErrQuarantined, durable.ErrClosed, durable.ErrFenced,
	errCommit, // from requests that use the store without an actor
}

func isOne(err error, of []error) bool {
	return slices.ContainsFunc(of, func(e error) bool { return errors.Is(err, e) })
}

// again repeats a command with the same reference on random nodes. Like real clients, it repeats
// every command whose outcome is unknown. It also repeats some acknowledged commands, to check that
// none is executed twice.
func (c *client) again(cmd codelab.Command, value any, seq uint64, err error) (any, uint64, error) {
	known := err == nil
	for range 3 {
		if durable.Refused(err) || known && c.Rand.IntN(3) > 0 {
			break
		}
		n := c.w.nodes[c.Rand.IntN(len(c.w.nodes))]
		s, ws, failed := n.get()
		if failed != nil {
			continue
		}
		v, at, failed := c.ask(s, ws, ws.View(), cmd)
		failed = c.taken("a repetition", s, failed)
		c.note(n, "repeats "+cmd.Ref, at, failed)
		switch {
		case failed != nil:
		case known && at != seq && alwaysNew(cmd):
			c.w.model.fail("once", "%s was acknowledged at %d, and again at %d", cmd.Ref, seq, at)
		case !known:
			value, seq, err, known = v, at, nil, true
		}
	}
	return value, seq, err
}

// alwaysNew reports whether an accepted command always produces an event. A command that changes
// nothing produces none, and its response has the current position.
func alwaysNew(cmd codelab.Command) bool {
	_, chat := cmd.Body.(codelab.PostChat)
	return chat
}

// word draws the name of a command. Most draws return one of the most frequent commands.
func (c *client) word(v *codelab.View) string {
	if c.only != "" {
		return c.only
	}
	if v.Attendees.Len() == 0 {
		return "Register"
	}
	if of := int(c.w.plan.Seed) % (2 * len(draw.Subjects)); of < len(draw.Subjects) {
		return draw.Of(c.Source, draw.Subjects[of])
	}
	if c.Rand.IntN(3) > 0 {
		often := []string{"Register", "Register", "Remove", "PostChat", "PostChat", "Progress", "AskHelp", "DeleteChat"}
		return often[c.Rand.IntN(len(often))]
	}
	return draw.Names[c.Rand.IntN(len(draw.Names))]
}

// shortLived creates a codelab and deletes it. All its data must then be removed. shortLived
// returns the codelab's id once the deletion is acknowledged, otherwise "".
func (c *client) shortLived(n *node) (deleted string) {
	s := n.server.Load()
	if s == nil {
		return ""
	}
	m, err := s.labs.Create(draw.Facilitator, &codelab.Create{Codelab: &pb.Codelab{Title: c.Mark("lab"), IsPublic: true}})
	err = c.taken("Create", s, err)
	c.note(n, "creates another codelab", 0, err)
	if err != nil {
		return ""
	}
	c.w.history.count("command", "Create")
	for range 5 {
		n = c.w.nodes[c.Rand.IntN(len(c.w.nodes))]
		if s = n.server.Load(); s == nil {
			continue
		}
		err = c.taken("Delete", s, s.labs.Delete(draw.Facilitator, m.Id))
		c.note(n, "deletes the codelab "+m.Id, 0, err)
		var gone *durable.Rejection
		if err == nil || errors.As(err, &gone) && gone.Reason == durable.Missing {
			c.w.history.count("command", "Delete")
			c.w.model.deletedLab(m.Id)
			return m.Id
		}
		c.w.pause(time.Second)
	}
	return ""
}

func (c *client) note(n *node, what string, seq uint64, err error) {
	var rejected *durable.Rejection
	switch {
	case errors.As(err, &rejected):
		what += ": " + rejected.Text
	case err != nil:
		what += ": FAILED, " + err.Error()
	case seq > 0:
		what += fmt.Sprintf(" = %d", seq)
	}
	c.w.history.add(c.Name, n.name, "%s", what)
}
