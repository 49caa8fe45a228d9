package timeline

import (
	"atelier/bench/report"
	"atelier/bench/server"
)

// Nodes returns the resources that each of several nodes used between two samples, seconds apart.
// deliveries is the number of deliveries to each node's clients, or nil if they are not counted per
// node.
func Nodes(names []string, begin, end []server.Inside, deliveries []int64, seconds float64) []report.Node {
	if len(begin) != len(names) || len(end) != len(names) || seconds <= 0 {
		return nil
	}
	out := make([]report.Node, len(names))
	for i, name := range names {
		// A restarted node counts its messages from zero again.
		since := func(a, b int64) int64 {
			if b < a {
				return b
			}
			return b - a
		}
		b, e := begin[i], end[i]
		cpu := max((e.CPU - b.CPU).Seconds(), 0)
		out[i] = report.Node{
			Name: name, CPU: cpu / seconds, RSS: e.RSS, PeakRSS: e.PeakRSS,
			Sent: since(b.Bus.Sent, e.Bus.Sent), Received: since(b.Bus.Received, e.Bus.Received), Bytes: since(b.Bus.Bytes, e.Bus.Bytes),
		}
		if i < len(deliveries) && deliveries[i] > 0 {
			out[i].Deliveries = deliveries[i]
			out[i].CPUPerMillion = cpu / float64(deliveries[i]) * 1e6
		}
	}
	return out
}
