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
	if c.rand.IntN(60) == 0 {
		c.shortLived(n)
		return
	}
	began := c.w.model.position()
	ws, err := n.get()
	if err != nil {
		c.note(n, "reads", 0, err)
		return
	}
	view, seq := ws.ViewAt()
	c.w.model.checkRead(n.name, began, seq)
	c.w.model.checkView(n.name, view, seq)
	if c.rand.IntN(6) == 0 {
		return // it only reads
	}
	word := c.word(view)
	cmd, after := words[word](c, view)
	if cmd.Body == nil {
		return
	}
	c.w.history.drew(word)
	if c.rand.IntN(3) == 0 && cmd.Caller.Person != "" {
		c.made++
		cmd.Ref = fmt.Sprintf("%s-%d", c.name, c.made)
	}
	value, seq, err := ws.Ask(cmd)
	c.note(n, fmt.Sprintf("%s %+v", word, cmd.Body), seq, err)
	if cmd.Ref != "" {
		value, seq, err = c.again(cmd, value, seq, err)
	}
	if err != nil {
		return
	}
	c.w.model.acknowledged(seq)
	if after != nil && value != nil {
		after(value, seq)
	}
}

// again repeats a command with its reference at another node: one whose outcome
// is not known, as clients do, and now and then one that was acknowledged, which
// must not be done twice.
func (c *client) again(cmd codelab.Command, value any, seq uint64, err error) (any, uint64, error) {
	known := err == nil
	for range 3 {
		if durable.Refused(err) || known && c.rand.IntN(3) > 0 {
			break
		}
		n := c.w.nodes[c.rand.IntN(len(c.w.nodes))]
		ws, failed := n.get()
		if failed != nil {
			continue
		}
		v, at, failed := ws.Ask(cmd)
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

// alwaysNew says that a command makes an event whenever it is accepted. One that
// changes nothing is answered with the position that it saw.
func alwaysNew(cmd codelab.Command) bool {
	_, chat := cmd.Body.(codelab.PostChat)
	return chat
}

// word draws what to say: mostly what people say most, and everything else now
// and then.
func (c *client) word(v *codelab.View) string {
	if v.Attendees.Len() == 0 {
		return "Register"
	}
	if c.rand.IntN(3) > 0 {
		often := []string{"Register", "Register", "Remove", "PostChat", "PostChat", "Progress", "AskHelp", "DeleteChat"}
		return often[c.rand.IntN(len(often))]
	}
	return names[c.rand.IntN(len(names))]
}

// shortLived makes a codelab and deletes it: nothing of it may stay.
func (c *client) shortLived(n *node) {
	s := n.server.Load()
	if s == nil {
		return
	}
	m, err := s.labs.Create(facilitator, &codelab.Create{Codelab: &pb.Codelab{Title: c.mark("lab"), IsPublic: true}})
	c.note(n, "creates another codelab", 0, err)
	if err != nil {
		return
	}
	c.w.history.drew("Create")
	for range 5 {
		n = c.w.nodes[c.rand.IntN(len(c.w.nodes))]
		if s = n.server.Load(); s == nil {
			continue
		}
		err = s.labs.Delete(facilitator, m.Id)
		c.note(n, "deletes the codelab "+m.Id, 0, err)
		var gone *durable.Rejection
		if err == nil || errors.As(err, &gone) && gone.Reason == durable.Missing {
			c.w.history.drew("Delete")
			c.w.model.deletedLab(m.Id)
			return
		}
		time.Sleep(time.Second)
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
