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
}

// Weigh measures the usage up to now. usage is nil for a server that cannot be measured. If the
// server has just ended, Weigh ignores it, because the caller notices that later.
func Weigh(at time.Duration, usage func() (server.Usage, error)) Weight {
	w := Weight{At: at, Generator: server.OwnCPU()}
	if usage != nil {
		w.Server, _ = usage()
	}
	return w
}

// Account puts the usage between two moments into a result. It returns false if the moments are
// equal.
func (end Weight) Account(begin Weight, weighed bool, out *report.Result) bool {
	seconds := (end.At - begin.At).Seconds()
	out.Duration, out.Generator.Seconds = max(seconds, 0), max(seconds, 0)
	if seconds <= 0 {
		return false
	}
	out.Generator.CPU = (end.Generator - begin.Generator).Seconds() / seconds
	if weighed {
		out.Server = &report.Server{CPU: (end.Server.CPU - begin.Server.CPU).Seconds() / seconds, RSS: end.Server.RSS, PeakRSS: end.Server.PeakRSS}
	}
	return true
}
