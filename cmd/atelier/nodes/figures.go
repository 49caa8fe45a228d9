package nodes

import (
	"encoding/json"
	"time"
)

// Figures describes a node to the other nodes, because each node lists all nodes.
type Figures struct {
	// Load is the number of records that the node commits per second, over about ten seconds, plus
	// the number of live sessions.
	Load float64 `json:"load"`
	// LagSeconds is the time since the node's worst replica was last known to be complete.
	LagSeconds float64 `json:"lag"`
	// Divergences is the number of replicas that differed from their owner, since the start.
	Divergences int64 `json:"divergences"`
	// People is the number of people connected to the node. A person in two codelabs counts twice.
	People int `json:"people"`
	// ClockMillis is the database's time minus the node's time, or nil if that is unknown.
	ClockMillis *int64 `json:"clock_offset_ms"`
	// Trouble is the reason why the node cannot serve, or nil if it can.
	Trouble *Trouble `json:"trouble,omitempty"`
}

// takes reports whether the node can receive codelabs.
func (f *Figures) takes() bool { return f == nil || f.Trouble == nil }

// Counts contains the values from which Figures is computed.
type Counts struct {
	Records     uint64 // number committed since the start
	Connections int64
	People      int
	Lag         time.Duration
	Divergences int64
}

// meter computes Figures from periodic Counts.
type meter struct {
	at      time.Time
	records uint64
	rate    float64
}

// loadOver is the time over which the load is smoothed.
const loadOver = 10 * time.Second

func (m *meter) figures(now time.Time, c Counts) Figures {
	if !m.at.IsZero() {
		m.rate = smooth(m.rate, float64(c.Records-m.records), now.Sub(m.at))
	}
	m.at, m.records = now, c.Records
	return Figures{Load: float64(int64((m.rate+float64(c.Connections))*10)) / 10, LagSeconds: c.Lag.Seconds(), Divergences: c.Divergences, People: c.People}
}

// smooth updates a rate per second, which is smoothed over loadOver. came is the number of units
// since the last update, and past is the time since then.
func smooth(rate, came float64, past time.Duration) float64 {
	if past <= 0 {
		return rate
	}
	return rate + min(float64(past)/float64(loadOver), 1)*(came/past.Seconds()-rate)
}

// parseFigures reads the Figures in another node's reply. It returns nil for a reply that is not
// valid JSON or has no Figures. A node of an earlier version, or one that has just started, sends
// no Figures.
func parseFigures(data []byte) *Figures {
	var f struct {
		Figures
		Load *float64 `json:"load"`
	}
	if json.Unmarshal(data, &f) != nil || f.Load == nil {
		return nil
	}
	f.Figures.Load = *f.Load
	return &f.Figures
}
