//go:build linux

package main

import (
	"maps"

	"atelier/bench/fanout"
	"atelier/bench/report"
	"atelier/bench/rest"
	"atelier/bench/tokens"
	"atelier/bench/workshop"
)

// absence contains the names of some numbers (of), and the reason why a run does not report them.
// If absent is false, the run reports them.
type absence struct {
	absent bool
	why    string
	of     []string
}

// without returns the names in a scenario's report. It marks names that the flags exclude as
// absent.
func without(names report.Names, all ...absence) report.Names {
	names.Absent = maps.Clone(names.Absent)
	if names.Absent == nil {
		names.Absent = map[string]string{}
	}
	for _, a := range all {
		for _, name := range a.of {
			if a.absent {
				names.Absent[name] = a.why
			}
		}
	}
	return names
}

// unweighed returns the absence of the numbers that need a measurement of the server's memory and
// CPU time.
func (w *serverFlags) unweighed() absence {
	return absence{!w.Spawn && len(w.InternalURL) == 0, "measuring the server needs --spawn or --internal-url", weights}
}

func unweighedProcess(pid int) absence {
	return absence{pid == 0, "measuring the server with --generic needs --pid", weights}
}

var (
	weights = []string{"server", "cpu_per_million", "bytes_per_connection", "rss_without", "idle_cores", "growth"}

	unharmed   = absence{true, "the run causes no fault from which the server could recover", []string{"recovery", "unrecovered"}}
	undivided  = absence{true, "the measured time is not divided into parts", []string{"slowdown", "growth"}}
	unsearched = absence{true, "only --find-max searches for the highest rate", []string{"search", fanout.HighestRate}}
	unfollowed = absence{true, "only uploads, clones and polls measure the memory of each part", []string{"growth"}}
	unnamed    = absence{true, "only fanout, idle, reconnect and slow report it", []string{"missing_connections"}}
)

func (b *broadcastFlags) names() report.Names {
	search := unsearched
	search.absent = b.steps == 0
	if b.Generic {
		return without(fanout.Names, unharmed, unfollowed, search, unweighedProcess(b.PID))
	}
	return without(fanout.Names, unharmed, unfollowed, search, b.unweighed())
}

func (c *restCommand) names() report.Names {
	if c.Generic {
		return without(rest.Names, unharmed, undivided, unsearched, unnamed, unweighedProcess(c.PID))
	}
	return without(rest.Names, unharmed, undivided, unsearched, unnamed, c.unweighed())
}

func (c *tokensCommand) names() report.Names {
	return without(tokens.Names, unharmed, undivided, unsearched, unnamed, c.unweighed())
}

func (c *clonesCommand) names() report.Names { return c.beside(c.Names()) }

func (u *uploadsCommand) names() report.Names { return u.beside(u.Names()) }

func (p *pollsCommand) names() report.Names { return p.beside(p.Names()) }

// beside returns the names in the report of a workshop with another load beside it.
func (w *serverFlags) beside(names report.Names) report.Names {
	return without(names, unharmed, unsearched, unnamed, w.unweighed())
}

func (w *workshopCommand) names() report.Names {
	quiet := unharmed
	quiet.absent = w.KillEvery == 0 && len(w.plan(w.Nodes, w.Duration)) == 0
	return without(workshop.Names, quiet, undivided, unsearched, unnamed, w.unweighed())
}

func (c *chaosCommand) names() report.Names {
	return without(workshop.Names, undivided, unsearched, unnamed)
}
