package simulation

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// client is somebody who acts: now as an attendee, now as a facilitator, at one
// node and then at another.
type client struct {
	w    *world
	name string
	rand *rand.Rand
	made int // numbers what it makes, so that each text is found nowhere else
}

// run acts until the world ends.
func (c *client) run(until time.Time, done *sync.WaitGroup) {
	defer done.Done()
	for time.Now().Before(until) {
		select {
		case <-c.w.ended:
			return
		case <-time.After(c.pause()):
		}
		c.act(c.w.nodes[c.rand.IntN(len(c.w.nodes))])
	}
}

// pause is mostly short, so that commands meet each other.
func (c *client) pause() time.Duration {
	return time.Duration(c.rand.ExpFloat64() * float64(150*time.Millisecond))
}

func (c *client) mark(what string) string {
	c.made++
	return fmt.Sprintf("%s-%d-of-%s", what, c.made, c.name)
}

// act reads at a node and does one thing there.
func (c *client) act(n *node) {
	began := c.w.model.position()
	ws, err := n.labs.Get(c.w.lab)
	if err != nil {
		c.note(n, "reads", 0, err)
		return
	}
	view, seq := ws.ViewAt()
	c.w.model.checkRead(n.name, began, seq)
	c.w.model.checkView(n.name, view, seq)
	cmd, after := c.draw(view)
	if cmd.Body == nil {
		return
	}
	value, seq, err := ws.Ask(cmd)
	c.note(n, fmt.Sprintf("%T %+v", cmd.Body, cmd.Body), seq, err)
	if err != nil {
		return
	}
	c.w.model.acknowledged(seq)
	if after != nil {
		after(value, seq)
	}
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
	c.w.history.add(c.name, "%s %s", n.name, what)
}

// draw draws a command about what a view shows; after is called when it was
// acknowledged.
func (c *client) draw(v *codelab.View) (cmd codelab.Command, after func(value any, seq uint64)) {
	m := c.w.model
	people := v.Attendees.Len()
	someone := func() *pb.Attendee { return v.Attendees.At(c.rand.IntN(people)) }
	as := func(a *pb.Attendee) *codelab.Caller {
		return &codelab.Caller{Role: codelab.RoleAttendee, ID: a.Id, Name: a.Name, Person: a.Id, Generation: a.Generation}
	}
	kind := c.rand.IntN(20)
	if people == 0 {
		kind = 0
	}
	switch kind {
	case 0, 1, 2, 3, 4:
		name := c.mark("person")
		return codelab.Command{Caller: &codelab.Caller{Role: codelab.RoleAnyone}, Body: codelab.Register{Name: name}}, func(value any, seq uint64) {
			m.registered(value.(codelab.Registration).Attendee.Id, name, seq)
		}
	case 5, 6:
		a := someone()
		m.removing(a.Id)
		return codelab.Command{Caller: facilitator, Body: codelab.Remove{AttendeeID: a.Id}}, func(_ any, seq uint64) { m.wasRemoved(a.Id, seq) }
	case 7, 8, 9, 10:
		a := someone()
		return codelab.Command{Caller: as(a), Body: codelab.PostChat{Message: c.mark("chat")}}, func(value any, seq uint64) {
			m.posted(value.(*pb.ChatMessage).Id, a.Id, seq)
		}
	case 11, 12, 13:
		return codelab.Command{Caller: as(someone()), Body: codelab.Progress{StepNumber: int32(1 + c.rand.IntN(3))}}, nil
	case 14:
		return codelab.Command{Caller: as(someone()), Body: codelab.AskHelp{StepNumber: 1, Message: c.mark("help")}}, nil
	case 15:
		if v.Chat.Len() == 0 {
			return cmd, nil
		}
		id := v.Chat.At(c.rand.IntN(v.Chat.Len())).Id
		m.deleting(id)
		return codelab.Command{Caller: facilitator, Body: codelab.DeleteChat{MessageID: id}}, func(_ any, seq uint64) { m.wasDeleted(id, seq) }
	case 16:
		return codelab.Command{Caller: as(someone()), Body: codelab.SetPulse{State: pb.PulseState(c.rand.IntN(4))}}, nil
	}
	return cmd, nil // it only reads
}
