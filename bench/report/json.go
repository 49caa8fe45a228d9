package report

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// document is the form of the JSON file. The numbers that scripts compare stand
// at the top.
type document struct {
	Scenario    string            `json:"scenario"`
	Started     time.Time         `json:"started"`
	Command     []string          `json:"command"`
	Versions    map[string]string `json:"versions"`
	Seed        uint64            `json:"seed"`
	Valid       bool              `json:"valid"`
	Passed      bool              `json:"passed"`
	Interrupted bool              `json:"interrupted"`
	Invalid     []string          `json:"invalid"`
	Allowed     []string          `json:"allowed"`
	Failures    []string          `json:"failures"`

	Attendees    int     `json:"attendees"`
	Facilitators int     `json:"facilitators"`
	Joined       int     `json:"joined"`
	Warmup       float64 `json:"warmup_seconds"`
	Duration     float64 `json:"duration_seconds"`

	Lost       int `json:"lost"`
	Duplicated int `json:"duplicated"`
	Reordered  int `json:"reordered"`
	Resyncs    int `json:"resyncs"`
	Kills      int `json:"kills"`

	P50                 float64 `json:"p50"`
	P90                 float64 `json:"p90"`
	P99                 float64 `json:"p99"`
	P999                float64 `json:"p999"`
	Max                 float64 `json:"max"`
	Deliveries          int64   `json:"deliveries"`
	DeliveriesPerSecond float64 `json:"deliveries_per_second"`
	Events              int64   `json:"events"`
	Acked               int64   `json:"acked"`

	Operations  map[string]Operation `json:"operations"`
	Audit       Audit                `json:"audit"`
	Disconnects map[string]int       `json:"disconnects"`
	Restarts    []Restart            `json:"restarts"`
	Generator   Generator            `json:"generator"`
	Server      *Server              `json:"server"`
	Parts       []Part               `json:"parts,omitempty"`
	Memory      []Weight             `json:"memory,omitempty"`
}

// JSON is the result for machines.
func (r *Result) JSON() ([]byte, error) {
	d := document{
		Scenario: r.Scenario, Started: r.Started, Command: r.Command, Versions: r.Versions, Seed: r.Seed,
		Valid: r.Verdict.Valid(), Passed: r.ExitCode() == ExitPassed, Interrupted: r.Interrupted,
		Invalid: notNil(r.Verdict.Invalid), Allowed: notNil(r.Verdict.Allowed), Failures: notNil(r.Verdict.Failures),
		Attendees: r.Attendees, Facilitators: r.Facilitators, Joined: r.Joined, Warmup: r.Warmup, Duration: r.Duration,
		Lost: r.Audit.Lost(), Duplicated: r.Audit.Doubled(), Reordered: r.Audit.Reordered, Resyncs: r.Audit.Resyncs,
		Kills: len(r.Restarts),
		P50:   r.Chat.P50, P90: r.Chat.P90, P99: r.Chat.P99, P999: r.Chat.P999, Max: r.Chat.Max,
		Deliveries: r.Chat.Count, DeliveriesPerSecond: r.DeliveriesPerSecond, Events: r.Events, Acked: r.Acked,
		Operations: make(map[string]Operation, len(r.Operations)), Audit: r.Audit, Disconnects: r.Disconnects,
		Restarts: notNil(r.Restarts), Generator: r.Generator, Server: r.Server,
		Parts: r.Parts, Memory: r.Memory,
	}
	for _, op := range r.Operations {
		d.Operations[op.Name] = op
	}
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return append(b, '\n'), nil
}

// WriteJSON writes the result to a file.
func (r *Result) WriteJSON(path string) error {
	b, err := r.JSON()
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
