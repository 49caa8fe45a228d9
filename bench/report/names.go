package report

import (
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"atelier/bench/latency"
)

// Names lists what a scenario can report in addition to the members of every report. These are
// operations such as "chat ack", and figures such as "pairs_per_second". A star matches any text:
// "upload *".
type Names struct {
	Operations, Figures []string
	// Absent contains the names that a run with the given flags does not report, each with the
	// reason. A key is a whole name, or the first part of several names ("server").
	Absent map[string]string
}

// short contains the numbers that thresholds can use in addition to the members of the JSON report.
// If a run does not have a number, ok is false. The threshold is then reported as missing instead
// of being compared with 0.
var short = map[string]func(*Result) (n float64, ok bool){
	"refused":    func(r *Result) (float64, bool) { return float64(r.Refused()), true },
	"failed":     func(r *Result) (float64, bool) { return float64(r.Failed()), true },
	"away":       func(r *Result) (float64, bool) { return float64(r.Audit.Away), true },
	"unfinished": func(r *Result) (float64, bool) { return float64(r.Audit.Unfinished), true },
	"slowdown":   func(r *Result) (float64, bool) { return r.Slowdown(), len(r.Parts) > 1 },
	"growth": func(r *Result) (float64, bool) {
		return float64(r.Growth()), len(r.Parts) > 1 && r.Parts[0].Highest > 0
	},
	"missing_connections": func(r *Result) (float64, bool) {
		if r.Connections == nil {
			return 0, false
		}
		return float64(r.Connections.Wanted - r.Connections.Open), true
	},
}

// Check rejects thresholds on numbers that no report of the scenario has, or that this run will not
// report. It is called before the run, so that a mistake does not cost the time of a run.
func (n Names) Check(thresholds []Threshold) error {
	var unknown []string
	var problems []error
	for _, t := range thresholds {
		metric := plain(t.metric)
		first, _, _ := strings.Cut(metric, ".")
		switch {
		case !n.has(metric):
			unknown = append(unknown, strconv.Quote(t.text))
		case n.Absent[first] != "":
			problems = append(problems, fmt.Errorf("threshold %q: this run does not measure it: %s", t.text, n.Absent[first]))
		}
	}
	if unknown != nil {
		problems = append(problems, fmt.Errorf("threshold %s: no report of this scenario has such a number. There are %s, and nested numbers such as server.rss; 'atelier-bench schema' prints all",
			strings.Join(unknown, ", "), strings.Join(n.numbers(), ", ")))
	}
	return errors.Join(problems...)
}

func (n Names) has(metric string) bool {
	if short[metric] != nil || matches(n.Figures, metric) || numeric(reflect.TypeFor[document](), strings.Split(metric, ".")) {
		return true
	}
	operation, member, deeper := strings.Cut(metric, ".")
	return deeper && matches(n.Operations, operation) && numeric(reflect.TypeFor[latency.Summary](), []string{member})
}

// Lacks returns the first operation or figure of a result that is not among the names, or "" if all
// are.
func (n Names) Lacks(r *Result) string {
	for _, op := range r.Operations {
		if !matches(n.Operations, plain(op.Name)) {
			return op.Name
		}
	}
	for _, f := range r.Figures {
		if !matches(n.Figures, f.Key) {
			return f.Key
		}
	}
	return ""
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(plain(p), name)
		return ok
	})
}

// numbers returns all names without a dot, and the p99 of each operation.
func (n Names) numbers() []string {
	var out []string
	for name := range short {
		out = append(out, name)
	}
	document := reflect.TypeFor[document]()
	for i := range document.NumField() {
		if name := called(document.Field(i)); numeric(document, []string{name}) {
			out = append(out, name)
		}
	}
	out = append(out, n.Figures...)
	for _, operation := range n.Operations {
		out = append(out, plain(operation)+".p99")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// numeric reports whether a path of JSON members ends at a number. The members of a map can have
// any name.
func numeric(t reflect.Type, path []string) bool {
	switch t.Kind() {
	case reflect.Pointer:
		return numeric(t.Elem(), path)
	case reflect.Map:
		return len(path) > 0 && numeric(t.Elem(), path[1:])
	case reflect.Struct:
		for i := range t.NumField() {
			if len(path) > 0 && called(t.Field(i)) == path[0] {
				return numeric(t.Field(i).Type, path[1:])
			}
		}
		return false
	}
	return len(path) == 0 && (t.ConvertibleTo(reflect.TypeFor[float64]()))
}

// called returns a field's name in JSON.
func called(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
