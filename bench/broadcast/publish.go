//go:build linux

package broadcast

import (
	"math/rand/v2"
	"time"

	"atelier/bench/pacing"
)

// publish plans the sending of all publishers of this worker.
func (e *Engine) publish() {
	for i := range e.job.Publishers {
		number := e.job.FirstPublisher + i
		if e.load.Stages[0].Rate == 0 {
			e.at(e.load.Start, func() { e.fill(i) })
			continue
		}
		start := e.load.Start
		for s, stage := range e.load.Stages {
			share := stage.Rate / float64(e.job.AllPublishers)
			// The same seed always leads to the same random numbers, and so to the same load.
			pacer := pacing.Poisson(share, stage.During, rand.New(rand.NewPCG(e.job.Seed, uint64(number)<<32|uint64(s))))
			begin := start
			if e.load.Regular && share > 0 {
				// Each publisher has its own slot between two messages of another.
				pacer = pacing.Uniform(share, stage.During)
				begin += time.Duration(float64(number) / stage.Rate * float64(time.Second))
			}
			e.loop.Agenda.Stream(begin-e.offset, pacer, func(due time.Duration) { e.sendPlanned(i, due+e.offset) })
			start += stage.During
		}
	}
}

// beside schedules the unprompted messages of subscribers, one subscriber after another.
func (e *Engine) beside() {
	texts, people := e.job.Dialect.Beside, len(e.job.Subscribers)
	if e.load.Beside == 0 || len(texts) == 0 || people == 0 {
		return
	}
	n := 0
	pacer := pacing.Uniform(float64(people)/e.load.Beside.Seconds(), e.load.Until-e.load.Start)
	e.loop.Agenda.Stream(e.load.Start-e.offset, pacer, func(time.Duration) {
		if e.over {
			return
		}
		c, text := e.clients[n%people], texts[n/people%len(texts)]
		n++
		if !c.ready || !c.conn.Send([]byte(text)) {
			e.current.Errors++
			return
		}
		e.out.Beside++
	})
}

// sendPlanned sends a message that was planned for a given time.
func (e *Engine) sendPlanned(i int, due time.Duration) {
	if e.over || due >= e.load.Until {
		return
	}
	if due >= e.load.From {
		e.out.Lag.Record(e.now() - due)
	}
	e.send(i, due)
}

// send sends a message of a publisher of this worker.
func (e *Engine) send(i int, due time.Duration) {
	if e.over {
		return
	}
	// The time has the precision of a stamp, so that a message counts as measured both when it is
	// sent and when it arrives, or neither time.
	due = due.Truncate(time.Microsecond)
	number := e.job.FirstPublisher + i
	n := e.sent[number]
	seq := uint64(n)*uint64(e.job.AllPublishers) + uint64(number)
	text := e.publishers[i].message(e.reader.sealer.seal(due, seq), seq)
	if e.posts != nil {
		e.posts.post(i, text, func(err error) {
			e.loop.Post(func() {
				if err != nil {
					e.refuse(seq, e.mask.shown(err.Error()))
				} else {
					e.acked(seq)
				}
			})
		})
	} else if c := e.clients[len(e.job.Subscribers)+i]; !c.ready || !c.conn.Send(text) {
		e.out.Unsent++
		e.current.Errors++
		return
	}
	e.sent[number]++
	e.current.Sent++
	if due >= e.load.From && due < e.load.Until {
		e.out.Messages++
	}
	if e.reader.ack != nil || e.posts != nil {
		e.planned[seq] = due
	}
}

// acked ends the wait for a message's acknowledgement.
func (e *Engine) acked(seq uint64) {
	due, waiting := e.planned[seq]
	if !waiting || e.closing {
		return
	}
	delete(e.planned, seq)
	e.out.Acked++
	if due >= e.load.From && due < e.load.Until {
		e.out.Acks.Record(e.now() - due)
	}
}

// refuse records that the server refused a message, so that no subscriber is expected to receive
// it.
func (e *Engine) refuse(seq uint64, why string) {
	if _, waiting := e.planned[seq]; !waiting || e.closing {
		return
	}
	delete(e.planned, seq)
	e.out.Refused++
	e.out.Complaint = why
	e.current.Errors++
	p, n := int(seq%uint64(e.job.AllPublishers)), int64(seq/uint64(e.job.AllPublishers))
	e.refused[p] = append(e.refused[p], n)
	e.refill(p, n, breath)
}

// window describes the messages in progress of an unthrottled publisher.
type window struct {
	// from is the number of the first message whose arrival allows another message.
	from  int64
	moved time.Duration // when a message last arrived
}

// maxSilence is how long a publisher waits for the arrival of any of its messages. Without this
// limit, a server that drops all messages of a window would stop the publisher forever.
const maxSilence = 2 * time.Second

// fill sends a window of messages, and does so again whenever no message arrives for maxSilence.
// Earlier messages then no longer count towards the window, although they can still be in flight.
func (e *Engine) fill(i int) {
	if e.over {
		return
	}
	w := &e.windows[i]
	w.from, w.moved = e.sent[e.job.FirstPublisher+i], e.now()
	for range max(e.load.Window, 1) {
		e.send(i, e.now())
	}
	e.watch(i)
}

// watch calls fill when none of a publisher's messages has arrived for maxSilence.
func (e *Engine) watch(i int) {
	due := e.windows[i].moved + maxSilence
	e.at(due, func() {
		if e.windows[i].moved+maxSilence > due {
			e.watch(i)
		} else {
			e.fill(i)
		}
	})
}

// windowed sends the next message of a publisher when one of its messages has reached all
// subscribers of this worker that always read.
func (e *Engine) windowed(p int, n int64, readers int32) {
	if readers != 0 && int(readers) == e.awake() {
		e.refill(p, n, 0)
	}
}

// breath is the pause of a publisher after a refusal. An immediate retry would measure the rate of
// refusals.
const breath = 10 * time.Millisecond

// refill schedules another message of an unthrottled publisher, after message n was received or
// refused. wait is the pause before the other message.
func (e *Engine) refill(p int, n int64, wait time.Duration) {
	i := p - e.job.FirstPublisher
	if e.load == nil || e.load.Stages[0].Rate != 0 || i < 0 || i >= len(e.job.Publishers) || e.over || n < e.windows[i].from {
		return
	}
	e.windows[i].moved = e.now()
	// The message must not be sent within a delivery, because the socket is being read.
	e.at(e.now()+wait, func() { e.send(i, e.now()) })
}

// awake returns the number of subscribers that always read.
func (e *Engine) awake() int { return len(e.job.Subscribers) - e.job.Stalled }
