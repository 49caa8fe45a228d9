//go:build linux

package workshop

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"atelier/bench/audit"
)

// chatLedger contains every chat message of the run. The loop owns it.
type chatLedger struct {
	// run distinguishes this run's messages and names from the messages and names of other runs.
	run string
	// marker is the beginning of each text. The message's number follows it.
	marker   []byte
	messages []chatMessage
	// last is the number of the message that ends the run, or -1 before it is sent.
	last int
}

type chatMessage struct {
	due time.Duration
	// by is the index of the author.
	by   int
	fate audit.Fate
	// seq is the seq of the message's event, or 0 until somebody has received it.
	seq uint64
	// again counts events of the same message with another seq.
	again int
}

func newChatLedger(run string) chatLedger {
	return chatLedger{run: run, marker: []byte("m-" + run + "-"), last: -1}
}

// number extracts the number after the marker at the beginning of a text. It returns -1 if the text
// does not belong to this run, or if the number is not below the bound.
func (l *chatLedger) number(text []byte, bound int) int {
	digits, ours := bytes.CutPrefix(text, l.marker)
	if !ours {
		return -1
	}
	n := 0
	for _, d := range digits {
		if d < '0' || d > '9' {
			break
		}
		if n = n*10 + int(d-'0'); n >= bound {
			break
		}
	}
	if n >= bound {
		return -1
	}
	return n
}

// talk is truncated to the length of a message. Messages in a classroom have 20 to 140 characters.
const talk = "does anybody else see the error in the second block of this step? I followed the text and it works when I restart, but only the first time round"

// sendChat sends a chat message that was planned for due, and returns its number.
func (c *crowd) sendChat(p *person, due time.Duration) int {
	n := len(c.chat.messages)
	c.chat.messages = append(c.chat.messages, chatMessage{due: due, by: p.index, fate: audit.Unanswered})
	ref := "c" + strconv.Itoa(n)
	payload := fmt.Appendf(nil, `{"type":"chat","ref":%q,"message":"%s%d %s"}`, ref, c.chat.marker, n, talk[:10+c.rng.IntN(len(talk)-10)])
	p.send(pending{ref: ref, payload: payload, due: due, op: opChat, number: n})
	return n
}

// receiveChat handles the delivery of a chat message. It ignores messages of other runs.
func (c *crowd) receiveChat(p *person, m *message) {
	n := c.chat.number(m.Text, len(c.chat.messages))
	if n < 0 {
		return
	}
	sent := &c.chat.messages[n]
	switch sent.seq {
	case m.Seq:
	case 0:
		sent.seq = m.Seq
	default:
		sent.again++
	}
	if n == c.chat.last {
		p.finished = true
	}
	if p.stalled {
		return
	}
	took := c.clock.Now() - sent.due
	measured := c.counts(sent.due)
	c.timeline.Done(took, measured)
	c.charge(p, sent, took)
	if !measured {
		return
	}
	c.deliveries.Record(took)
	c.byNode[p.node]++
	if len(c.parts) > 0 {
		if i := c.cfg.PartOf(sent.due - c.from); i >= 0 {
			c.parts[i].Record(took)
		}
	}
}
