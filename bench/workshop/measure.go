//go:build linux

package workshop

import (
	"time"

	"atelier/bench/latency"
	"atelier/bench/pacing"
	"atelier/bench/report"
	"atelier/bench/timeline"
)

// operation is a kind of thing that is measured on its own.
type operation uint8

const (
	opRegister operation = iota
	opJoin
	opChat
	opProgress
	opHelp
	opClaim
	opResolve
	opComment
	opResume
	opRead
	opPoll
	opVote
	operations
)

// Names are what a run measures.
var Names = report.Names{Operations: names[:]}

// names of the operations in reports.
var names = [operations]string{
	opRegister: "register",
	opJoin:     "join",
	opChat:     "chat ack",
	opProgress: "progress ack",
	opHelp:     "help",
	opClaim:    "help claim",
	opResolve:  "help resolve",
	opComment:  "comment",
	opResume:   "resume",
	opRead:     "facilitator read",
	opPoll:     "poll",
	opVote:     "vote",
}

// tally counts the results of one kind of operation.
type tally struct {
	latency *latency.Histogram
	// done were acknowledged, refused were answered otherwise, unanswered got
	// no answer at all. Those of the warm-up count too.
	done, refused, unanswered int
	// repeated is how often one was made again, failed how many were unanswered
	// and could not be.
	repeated, failed int
	// complaint is the last refusal.
	complaint string
}

// measurements of a run. Owned by the loop.
type measurements struct {
	// from and until bound the planned times that count for latencies; the join
	// and resumes are measured whenever they happen.
	from, until time.Duration

	// timeline is what happens in each second.
	timeline   *timeline.Timeline
	deliveries *latency.Histogram   // chat: planned time to receipt, each receiver
	parts      []*latency.Histogram // the same, divided; see Config.Parts
	lag        *latency.Histogram   // planned time to sending
	tallies    [operations]tally

	// byNode counts deliveries to the clients of each node.
	byNode []int64
	// measuredChat counts chat messages that were sent in the measured time.
	measuredChat int64
	// events counts stored events that arrived, ever.
	events int64
	// acked counts acks and 2xx, ever.
	acked int64
	// shed counts operations that were not begun because too many were in
	// progress.
	shed int
}

func newMeasurements(parts int, clock pacing.Clock) measurements {
	m := measurements{timeline: timeline.New(clock.Now), deliveries: latency.New(), lag: latency.New()}
	for range parts {
		m.parts = append(m.parts, latency.New())
	}
	for i := range m.tallies {
		m.tallies[i].latency = latency.New()
	}
	return m
}

// counts reports whether something planned for this time is measured.
func (m *measurements) counts(due time.Duration) bool { return due >= m.from && due < m.until }

// sent notes how late the generator was.
func (m *measurements) sent(op operation, due, now time.Duration) {
	if op == opRegister || m.counts(due) {
		m.lag.Record(now - due)
	}
	if op == opChat {
		m.timeline.Sent()
		if m.counts(due) {
			m.measuredChat++
		}
	}
}

// done notes an operation that succeeded.
func (m *measurements) done(op operation, due, now time.Duration) {
	t := &m.tallies[op]
	t.done++
	m.acked++
	if op == opRegister || op == opJoin || op == opResume || m.counts(due) {
		t.latency.Record(now - due)
	}
}

// refused notes an operation that the server refused.
func (m *measurements) refused(op operation, complaint string) {
	t := &m.tallies[op]
	t.refused++
	t.complaint = complaint
	m.timeline.Failed()
}
