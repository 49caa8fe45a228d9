package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"atelier/bench/report"
)

// Set contains runs to be compared together: repeats, or different scenarios.
type Set struct {
	Runs []Run
}

// Run contains the parts of one report that are compared.
type Run struct {
	// Name identifies the load: runs with the same name are repeats.
	Name string
	// Valid is false if the numbers describe the generator instead of the server. Invalid contains
	// the reasons.
	Valid   bool
	Invalid []string
	// Failures contains the errors of the server, each as a sentence.
	Failures []string
	// Numbers are keyed by the names that thresholds use.
	Numbers map[string]float64
}

// FormatOfSets identifies the format of a file with several reports.
const FormatOfSets = "atelier-bench-set/1"

// fileOfSets is a file with several reports.
type fileOfSets struct {
	Format string            `json:"format"`
	Runs   []json.RawMessage `json:"runs"`
}

// Read reads a file with reports: one report, a set as Write makes it, a JSON array of reports, or
// several of these, concatenated.
func Read(path string) (*Set, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	var reports []json.RawMessage
	for in := json.NewDecoder(bytes.NewReader(b)); ; {
		var value json.RawMessage
		if err := in.Decode(&value); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s is not a report in JSON: %w", path, err)
		}
		more, err := open(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		reports = append(reports, more...)
	}
	set := &Set{}
	for i, text := range reports {
		run, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: run %d: %w", path, i+1, err)
		}
		set.Runs = append(set.Runs, run)
	}
	if len(set.Runs) == 0 {
		return nil, fmt.Errorf("%s: the file contains no run", path)
	}
	return set, nil
}

// open returns the reports in a JSON value: an array of reports, a set, or one report.
func open(value json.RawMessage) ([]json.RawMessage, error) {
	if value[0] == '[' {
		var list []json.RawMessage
		err := json.Unmarshal(value, &list)
		return list, err
	}
	var file fileOfSets
	if err := json.Unmarshal(value, &file); err != nil {
		return nil, fmt.Errorf("no report: %w", err)
	}
	switch file.Format {
	case report.Format:
		return []json.RawMessage{value}, nil
	case FormatOfSets:
		return file.Runs, nil
	}
	return nil, fmt.Errorf("format %q is neither %s nor %s", file.Format, report.Format, FormatOfSets)
}

// Write writes reports as one file. It omits parts that are not compared, such as the timeline of
// each run, which is large.
func Write(path string, reports [][]byte) error {
	file := fileOfSets{Format: FormatOfSets}
	for _, text := range reports {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(text, &members); err != nil {
			return fmt.Errorf("read report: %w", err)
		}
		members["series"] = json.RawMessage("[]")
		members["command"] = json.RawMessage("[]") // the command contains local paths; the member about describes the run
		delete(members, "percentiles")
		delete(members, "memory")
		short, err := json.Marshal(members)
		if err != nil {
			return fmt.Errorf("encode report: %w", err)
		}
		file.Runs = append(file.Runs, short)
	}
	b, err := json.MarshalIndent(file, "", " ")
	if err != nil {
		return fmt.Errorf("encode reports: %w", err)
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("write reports: %w", err)
	}
	return nil
}

// Parse parses one report.
func Parse(text []byte) (Run, error) {
	var r struct {
		Format     string   `json:"format"`
		Scenario   string   `json:"scenario"`
		About      string   `json:"about"`
		Valid      bool     `json:"valid"`
		Invalid    []string `json:"invalid"`
		Count      int64    `json:"count"`
		P50        float64  `json:"p50"`
		P99        float64  `json:"p99"`
		P999       float64  `json:"p999"`
		Max        float64  `json:"max"`
		Rate       float64  `json:"deliveries_per_second"`
		Lost       float64  `json:"lost"`
		Duplicated float64  `json:"duplicated"`
		Reordered  float64  `json:"reordered"`
		Failures   []string `json:"failures"`
		Audit      struct {
			Misdirected float64 `json:"misdirected"`
		} `json:"audit"`
		Figures map[string]struct {
			Value float64 `json:"value"`
		} `json:"figures"`
		Operations map[string]struct {
			Latency struct {
				Count int64   `json:"count"`
				P99   float64 `json:"p99"`
			} `json:"latency"`
		} `json:"operations"`
		Server *struct {
			CPU float64 `json:"cpu"`
			RSS float64 `json:"rss"`
		} `json:"server"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return Run{}, err
	}
	if r.Format != report.Format {
		return Run{}, fmt.Errorf("format %q is not %s", r.Format, report.Format)
	}
	run := Run{Name: r.Scenario + ": " + r.About, Valid: r.Valid, Invalid: r.Invalid, Failures: r.Failures, Numbers: map[string]float64{
		"lost": r.Lost, "duplicated": r.Duplicated, "reordered": r.Reordered, "misdirected": r.Audit.Misdirected, "failures": float64(len(r.Failures)),
	}}
	if r.Count > 0 {
		run.Numbers["p50"], run.Numbers["p99"], run.Numbers["p999"], run.Numbers["max"] = r.P50, r.P99, r.P999, r.Max
	}
	if r.Rate > 0 {
		run.Numbers["deliveries_per_second"] = r.Rate
	}
	for key, f := range r.Figures {
		run.Numbers[key] = f.Value
	}
	for name, op := range r.Operations {
		if op.Latency.Count > 0 {
			run.Numbers[strings.ReplaceAll(name, " ", "_")+".p99"] = op.Latency.P99
		}
	}
	if r.Server != nil {
		run.Numbers["server.cpu"], run.Numbers["server.rss"] = r.Server.CPU, r.Server.RSS
	}
	return run, nil
}
