package report

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Threshold is a bound on a number in the report: `p99<50ms`.
//
// The name is the name of a member of the JSON report, with dots for nested members: p99, lost,
// deliveries_per_second, server.rss, generator.lag.p99. The latency of an operation and the figures
// of a scenario can be named directly as well: help.p99, pairs_per_second.
type Threshold struct {
	text, metric, operator string
	bound                  float64
	unit                   string // as written; "" for the report's unit
	// factor converts the written unit to the unit of the number in the report.
	factor float64
}

func (t Threshold) String() string { return t.text }

// Of returns the name of the number up to the first dot, with underscores instead of spaces.
func (t Threshold) Of() string {
	first, _, _ := strings.Cut(t.metric, ".")
	return plain(first)
}

var expression = regexp.MustCompile(`^\s*([a-zA-Z0-9_. ]+?)\s*(<=|>=|==|<|>)\s*(-?[0-9]+(?:\.[0-9]+)?)\s*([a-zA-Zµ%]*)\s*$`)

// times contains the factors that convert units of time to milliseconds.
var times = map[string]float64{"us": 0.001, "µs": 0.001, "ms": 1, "s": 1000, "m": 60_000}

// others contains the factors of the other units. They convert sizes to bytes, and percentages to
// shares from 0 to 1.
var others = map[string]float64{
	"": 1, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "%": 0.01,
}

// inSeconds lists the numbers that the report has in seconds. All other times are in milliseconds.
var inSeconds = []string{"cpu_per_million", "warmup_seconds", "duration_seconds"}

// ParseThreshold parses a threshold.
func ParseThreshold(text string) (Threshold, error) {
	m := expression.FindStringSubmatch(text)
	if m == nil {
		return Threshold{}, fmt.Errorf("threshold %q: want a name, one of < <= > >= ==, and a number, such as 'p99<50ms'", text)
	}
	_, last := cutLast(m[1])
	factor, known := others[m[4]]
	if ms, isTime := times[m[4]]; isTime {
		factor, known = ms, true
		if slices.Contains(inSeconds, last) {
			factor = ms / 1000
		}
	} else if known && m[4] != "" && slices.Contains(percentiles, last) {
		return Threshold{}, fmt.Errorf("threshold %q: %s is a time, so its unit cannot be %s", text, m[1], m[4])
	}
	if !known {
		return Threshold{}, fmt.Errorf("threshold %q: unknown unit %q; use us, ms, s, m, B, kB, MB, GB, KiB, MiB, GiB or %%", text, m[4])
	}
	bound, err := strconv.ParseFloat(m[3], 64)
	if err != nil {
		return Threshold{}, fmt.Errorf("threshold %q: %w", text, err)
	}
	return Threshold{text: strings.TrimSpace(text), metric: m[1], operator: m[2], bound: bound * factor, unit: m[4], factor: factor}, nil
}

// holds reports whether a value is within the bound.
func (t Threshold) holds(value float64) bool {
	switch t.operator {
	case "<":
		return value < t.bound
	case "<=":
		return value <= t.bound
	case ">":
		return value > t.bound
	case ">=":
		return value >= t.bound
	}
	return value == t.bound
}

// check evaluates the thresholds and records the result of each. A threshold on a number that this
// run lacks counts as missed, because nothing shows that the run met it.
func (r *Result) check(thresholds []Threshold) error {
	if len(thresholds) == 0 {
		return nil
	}
	document, err := r.members()
	if err != nil {
		return err
	}
	for _, t := range thresholds {
		r.Verdict.asked = append(r.Verdict.asked, t.text)
		value, lack := lookUp(document, t.metric)
		if lack != "" {
			r.Verdict.Failures = append(r.Verdict.Failures, t.text+": "+lack)
			continue
		}
		c := Check{t.text, value, t.holds(value), t.format(value)}
		r.Verdict.Checks = append(r.Verdict.Checks, c)
		if !c.Passed {
			r.Verdict.Failures = append(r.Verdict.Failures, fmt.Sprintf("%s: it is %s", t.text, t.format(value)))
		}
	}
	return nil
}

// format formats a value in the unit of the threshold.
func (t Threshold) format(value float64) string {
	unit := t.unit
	if _, last := cutLast(t.metric); unit == "" && slices.Contains(percentiles, last) {
		unit = "ms"
	}
	switch unit {
	case "":
		return digits(value)
	case "%":
		return digits(value/t.factor) + "%"
	}
	return digits(value/t.factor) + " " + unit
}

// cutLast returns the parts of a name before and after its last dot.
func cutLast(name string) (before, last string) {
	i := strings.LastIndexByte(name, '.')
	return name[:max(i, 0)], name[i+1:]
}

// digits formats a number without floating-point noise.
func digits(v float64) string {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 9, 64), 64)
	if err != nil {
		short = v
	}
	return strconv.FormatFloat(short, 'f', -1, 64)
}

// members returns the members of the JSON report, and the numbers with a short name.
func (r *Result) members() (map[string]any, error) {
	b, err := r.JSON()
	if err != nil {
		return nil, err
	}
	var document map[string]any
	if err := json.Unmarshal(b, &document); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	for name, number := range short {
		if n, ok := number(r); ok {
			document[name] = n
		}
	}
	for _, op := range r.Operations {
		document[plain(op.Name)] = member(document["operations"], op.Name, "latency")
	}
	for _, f := range r.Figures {
		document[f.Key] = f.Value
	}
	return document, nil
}

func member(v any, path ...string) any {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// plain returns a name as one word: "chat ack" is chat_ack.
func plain(name string) string { return strings.ReplaceAll(name, " ", "_") }

// lookUp finds a number. lack is the reason if there is none. Percentiles without values do not
// count as numbers, whatever the report contains.
func lookUp(document map[string]any, name string) (value float64, lack string) {
	path := strings.Split(plain(name), ".")
	value, ok := member(document, path...).(float64)
	if !ok {
		return 0, "this run has no such number"
	}
	holder, _ := member(document, path[:len(path)-1]...).(map[string]any)
	if holder["count"] == 0.0 && slices.Contains(percentiles, path[len(path)-1]) {
		return 0, "nothing was timed"
	}
	return value, ""
}

// percentiles lists the members of a latency that are meaningless if its count is 0.
var percentiles = []string{"p50", "p90", "p99", "p999", "max"}
