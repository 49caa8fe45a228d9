package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"atelier/bench/latency"
)

// Format identifies the format of the JSON report. It changes if a member is renamed or removed, or
// counts something else. New members do not change it.
const Format = "atelier-bench/1"

// document is the JSON file, which schema.json describes. The numbers that scripts compare are at
// the top level.
type document struct {
	Format      string            `json:"format"`
	Scenario    string            `json:"scenario"`
	About       string            `json:"about"`
	Started     time.Time         `json:"started"`
	Command     []string          `json:"command"`
	Environment map[string]string `json:"environment"`
	Seed        uint64            `json:"seed"`
	Valid       bool              `json:"valid"`
	Passed      bool              `json:"passed"`
	Interrupted bool              `json:"interrupted"`
	Invalid     []string          `json:"invalid"`
	Allowed     []string          `json:"allowed"`
	Failures    []string          `json:"failures"`
	Thresholds  []Check           `json:"thresholds"`

	Attendees    int          `json:"attendees"`
	Facilitators int          `json:"facilitators"`
	Joined       int          `json:"joined"`
	Connections  *Connections `json:"connections,omitempty"`
	Warmup       float64      `json:"warmup_seconds"`
	Duration     float64      `json:"duration_seconds"`

	Lost       int `json:"lost"`
	Duplicated int `json:"duplicated"`
	Reordered  int `json:"reordered"`
	Resyncs    int `json:"resyncs"`
	Kills      int `json:"kills"`

	Subject             string           `json:"subject"`
	P50                 float64          `json:"p50"`
	P90                 float64          `json:"p90"`
	P99                 float64          `json:"p99"`
	P999                float64          `json:"p999"`
	Max                 float64          `json:"max"`
	Count               int64            `json:"count"`
	Last                *latency.Summary `json:"last_recipient,omitempty"`
	Curve               []latency.Point  `json:"percentiles,omitempty"`
	Messages            int64            `json:"messages"`
	Deliveries          int64            `json:"deliveries"`
	DeliveriesPerSecond float64          `json:"deliveries_per_second"`
	Events              int64            `json:"events"`
	Acked               int64            `json:"acked"`

	Operations  map[string]Operation `json:"operations"`
	Figures     map[string]Figure    `json:"figures"`
	Audit       Audit                `json:"audit"`
	Disconnects map[string]int       `json:"disconnects"`
	Restarts    []Restart            `json:"restarts"`
	Generator   Generator            `json:"generator"`
	Server      *Server              `json:"server"`
	Nodes       []Node               `json:"nodes,omitempty"`
	Recovery    *float64             `json:"recovery,omitempty"`
	Unrecovered *int                 `json:"unrecovered,omitempty"`
	Parts       []Part               `json:"parts,omitempty"`
	Search      *Search              `json:"search,omitempty"`
	Memory      []Weight             `json:"memory,omitempty"`
	Series      []Sample             `json:"series"`
	Zero        *time.Time           `json:"series_zero,omitempty"`
}

// JSON returns the result for programs.
func (r *Result) JSON() ([]byte, error) {
	d := document{
		Format: Format, Scenario: r.Scenario, About: r.About, Started: r.Started, Command: notNil(r.Command), Environment: r.Environment, Seed: r.Seed,
		Valid: r.Verdict.Valid(), Passed: r.ExitCode() == ExitPassed, Interrupted: r.Interrupted,
		Invalid: notNil(r.Verdict.Invalid), Allowed: notNil(r.Verdict.Allowed), Failures: notNil(r.Verdict.Failures), Thresholds: notNil(r.Verdict.Checks),
		Attendees: r.Attendees, Facilitators: r.Facilitators, Joined: r.Joined, Connections: r.Connections, Warmup: r.Warmup, Duration: r.Duration,
		Lost: r.Audit.Lost(), Duplicated: r.Audit.Doubled(), Reordered: r.Audit.Reordered, Resyncs: r.Audit.Resyncs,
		Kills:   len(r.Restarts),
		Subject: r.Subject, P50: r.Latency.P50, P90: r.Latency.P90, P99: r.Latency.P99, P999: r.Latency.P999, Max: r.Latency.Max, Count: r.Latency.Count,
		Last: r.Last, Messages: r.Messages, Deliveries: r.Deliveries, DeliveriesPerSecond: r.DeliveriesPerSecond, Events: r.Events, Acked: r.Acked,
		Operations: make(map[string]Operation, len(r.Operations)), Figures: make(map[string]Figure, len(r.Figures)),
		Audit: r.Audit, Disconnects: r.Disconnects,
		Restarts: notNil(r.Restarts), Generator: r.Generator, Server: r.Server, Nodes: r.Nodes,
		Parts: r.Parts, Search: r.Search, Memory: r.Memory, Series: notNil(r.Series),
	}
	if !r.Zero.IsZero() {
		d.Zero = &r.Zero
	}
	if r.Counts != nil {
		d.Curve = r.Counts.Curve()
	}
	if longest, ok := r.Recovery(); ok {
		n := r.Unrecovered()
		d.Recovery, d.Unrecovered = &longest, &n
	}
	for _, op := range r.Operations {
		d.Operations[op.Name] = op
	}
	for _, f := range r.Figures {
		d.Figures[f.Key] = f
	}
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return append(b, '\n'), nil
}

// WriteJSON writes the JSON result to a file.
func (r *Result) WriteJSON(path string) error {
	b, err := r.JSON()
	if err != nil {
		return err
	}
	return write(path, b)
}

func write(path string, b []byte) error {
	if err := os.WriteFile(path, b, 0o644); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

//go:embed schema.json
var schema []byte

// Schema is the JSON Schema (2020-12) of the JSON report.
func Schema() []byte { return bytes.Clone(schema) }
