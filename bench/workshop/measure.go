//go:build linux

package workshop

import (
	"time"

	"atelier/bench/latency"
	"atelier/bench/pacing"
	"atelier/bench/report"
	"atelier/bench/timeline"
)

// operation is a kind of operation. Each kind is measured separately.
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
	operations
)

// Names lists the values that a run measures.
var Names = report.Names{Operations: names[:]}

// names contains the names of the operations in reports.
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
}

// measurements contains the measurements of a run. The loop owns it.
type measurements struct {
	// from and until bound the planned times whose latencies count. Registrations, joins and
	// resumes are always measured.
	from, until time.Duration

	// timeline is the run's timeline.
	timeline   *timeline.Timeline
	deliveries *latency.Histogram        // chat: from the planned time to the receipt, per receiver
	parts      []*latency.Histogram      // the same, divided; see Config.Parts
	lag        *latency.Histogram        // from the planned time to the sending
	tallies    [operations]*report.Tally // including the warm-up, except for latencies

	// byNode counts deliveries to the clients of each node.
	byNode []int64
	// measuredChat counts sent chat messages that were planned for the measured time.
	measuredChat int64
	// events counts all received stored events.
	events int64
	// acked counts all successful operations: acks, 2xx responses, joins and resumes.
	acked int64
	// shed counts operations that were not started because too many were in progress.
	shed int
}

func newMeasurements(parts int, clock pacing.Clock) measurements {
	m := measurements{timeline: timeline.New(clock.Now), deliveries: latency.New(), lag: latency.New()}
	for range parts {
		m.parts = append(m.parts, latency.New())
	}
	for i := range m.tallies {
		m.tallies[i] = report.NewTally(names[i])
	}
	return m
}

// counts reports whether an operation planned for this time is measured.
func (m *measurements) counts(due time.Duration) bool { return due >= m.from && due < m.until }

// sent records how late the generator sent an operation.
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

// done records a successful operation. Registrations, joins and resumes are always measured.
func (m *measurements) done(op operation, due, now time.Duration) {
	m.tallies[op].Succeed(now-due, op == opRegister || op == opJoin || op == opResume || m.counts(due))
	m.acked++
}

// refused records an operation that the server refused.
func (m *measurements) refused(op operation, complaint string) {
	m.tallies[op].Refuse(complaint)
	m.timeline.Failed()
}
