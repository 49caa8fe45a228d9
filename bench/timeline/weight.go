package timeline

import (
	"time"

	"atelier/bench/report"
	"atelier/bench/server"
)

// Weight is the resource usage of generator and server up to a moment.
type Weight struct {
	// At is the time on the run's clock. Generator is the CPU time of this process.
	At, Generator time.Duration
	// Server is zero if it could not be measured.
	Server server.Usage
	// Nodes contains the values of each node, if there are several.
	Nodes []server.Inside
}

// Weigh measures the usage up to now. If the server has just ended, Weigh ignores the error,
// because the caller notices the end later.
func Weigh(at time.Duration, t *server.Target) Weight {
	w := Weight{At: at, Generator: server.OwnCPU(), Nodes: server.Measure(t.Several)}
	if t.Usage != nil {
		w.Server, _ = t.Usage()
	}
	return w
}

// Weigh enters the warm-up phase, and the load phase when the measured time begins at from. Call
// end at the end of the load. It returns the usage at the beginning of the measured time, and the
// usage up to now.
func (c *Timeline) Weigh(from time.Duration, t *server.Target) (end func() (Weight, Weight)) {
	c.Enter(WarmUp)
	weighed := make(chan Weight, 1)
	timer := time.AfterFunc(from-c.now(), func() {
		c.Enter(Load)
		weighed <- Weigh(from, t) // operations count from this time, even if a busy machine runs the timer late
	})
	return func() (Weight, Weight) {
		if !timer.Stop() {
			begin := <-weighed
			return begin, Weigh(c.now(), t)
		}
		end := Weigh(c.now(), t)
		begin := end
		begin.At = min(from, end.At) // equal to end.At if the run ended before the measured time
		return begin, end
	}
}

// Account puts the usage between two moments into a result. deliveries is the number of deliveries
// to each node's clients, or nil if they are not counted per node. Account returns false if end is
// not after begin.
func (end Weight) Account(begin Weight, t *server.Target, deliveries []int64, out *report.Result) bool {
	seconds := (end.At - begin.At).Seconds()
	out.Duration, out.Generator.Seconds = max(seconds, 0), max(seconds, 0)
	if seconds <= 0 {
		return false
	}
	out.Generator.CPU = (end.Generator - begin.Generator).Seconds() / seconds
	if unknown := (server.Usage{}); begin.Server != unknown && end.Server != unknown {
		out.Server = &report.Server{CPU: (end.Server.CPU - begin.Server.CPU).Seconds() / seconds, RSS: end.Server.RSS, PeakRSS: end.Server.PeakRSS}
	}
	for i, n := range t.Several {
		node := account(begin.Nodes[i], end.Nodes[i], seconds)
		node.Name = n.Name
		if i < len(deliveries) && deliveries[i] > 0 {
			node.Deliveries, node.CPUPerMillion = deliveries[i], node.CPU*seconds/float64(deliveries[i])*1e6
		}
		out.Nodes = append(out.Nodes, node)
	}
	return true
}

// account returns the resources that a node used between two moments.
func account(begin, end server.Inside, seconds float64) report.Node {
	// A restarted node counts its messages from zero again.
	since := func(a, b int64) int64 {
		if b < a {
			return b
		}
		return b - a
	}
	return report.Node{
		CPU: max((end.CPU-begin.CPU).Seconds(), 0) / seconds, RSS: end.RSS, PeakRSS: end.PeakRSS,
		Sent: since(begin.Bus.Sent, end.Bus.Sent), Received: since(begin.Bus.Received, end.Bus.Received), Bytes: since(begin.Bus.Bytes, end.Bus.Bytes),
	}
}
