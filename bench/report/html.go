package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"regexp"
	"slices"
	"strings"

	"atelier/bench/latency"
)

// The page is self-contained, so that it can be opened years later and without a network. uPlot
// draws the plots (page/uplot.LICENSE).
var (
	//go:embed page/page.html
	pageText string
	//go:embed page/page.css
	pageStyle string
	//go:embed page/page.js
	pageScript string
	//go:embed page/uplot.js
	plotScript string
	//go:embed page/uplot.css
	plotStyle string

	page = template.Must(template.New("page").Funcs(template.FuncMap{
		"ms":    func(v float64) string { return fmt.Sprintf("%.2f", v) },
		"some":  some,
		"count": grouped,
		"value": digits,
	}).Parse(pageText))
)

// view contains the data of the page.
type view struct {
	*Result
	Style, PlotStyle   template.CSS
	Script, PlotScript template.JS
	Data               template.JS
	Word, Kind         string
	Tiles              []tile
	Rows               []latencyRow
	Facts              []fact
	Places             []fact
	Notes              []string
	Line               string
	Harmed             bool
}

type tile struct{ Name, Value, Unit string }

type latencyRow struct {
	Name                string
	S                   latency.Summary
	Refused, Unanswered int
}

// plots contains the data of the plots, in columns as uPlot requires.
type plots struct {
	Seconds    []float64       `json:"seconds"`
	P50        []*float64      `json:"p50"`
	P99        []*float64      `json:"p99"`
	Max        []*float64      `json:"max"`
	PerSecond  []*float64      `json:"rate"`
	Open       []float64       `json:"open"`
	RSS        []*float64      `json:"rss"`
	Heap       []*float64      `json:"heap"`
	CPU        []*float64      `json:"cpu"`
	Generator  []*float64      `json:"generator"`
	Percentile []latency.Point `json:"percentiles"`
	Warmup     float64         `json:"warmup"`
	Nodes      []nodePlot      `json:"nodes,omitempty"`
	Faults     []faultPlot     `json:"faults,omitempty"`
}

// faultPlot is an injected fault and the second in which it began.
type faultPlot struct {
	Second float64 `json:"second"`
	What   string  `json:"what"`
}

// nodePlot contains the cores that one node used in each second.
type nodePlot struct {
	Name string     `json:"name"`
	CPU  []*float64 `json:"cpu"`
}

// unquoted matches texts that a shell takes literally.
var unquoted = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quoted returns a command in a form that can be copied into a shell.
func quoted(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		if words[i] = a; !unquoted.MatchString(a) {
			words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// HTML returns the result as a single self-contained page.
func (r *Result) HTML() ([]byte, error) {
	data, err := json.Marshal(r.plots())
	if err != nil {
		return nil, fmt.Errorf("encode plots: %w", err)
	}
	v := view{
		Result: r, Style: template.CSS(pageStyle), PlotStyle: template.CSS(plotStyle),
		Script: template.JS(pageScript), PlotScript: template.JS(plotScript), Data: template.JS(data),
		Tiles: r.tiles(), Rows: r.rows(), Facts: r.facts(), Line: quoted(r.Command),
		Harmed: r.harmed(),
	}
	v.Word, v.Kind = r.word()
	for _, name := range slices.Sorted(maps.Keys(r.Environment)) {
		v.Places = append(v.Places, fact{name, r.Environment[name]})
	}
	for _, op := range r.Operations {
		if op.Complaint != "" {
			v.Notes = append(v.Notes, op.Name+": "+op.Complaint)
		}
	}
	var b bytes.Buffer
	if err := page.Execute(&b, v); err != nil {
		return nil, fmt.Errorf("write page: %w", err)
	}
	return b.Bytes(), nil
}

// WriteHTML writes the page to a file.
func (r *Result) WriteHTML(path string) error {
	b, err := r.HTML()
	if err != nil {
		return err
	}
	return write(path, b)
}

// word returns the verdict in a few words, and its severity: good, doubt or bad.
func (r *Result) word() (word, kind string) {
	switch {
	case len(r.Verdict.Failures) > 0:
		return "Failed", "bad"
	case !r.Verdict.Valid():
		return "Invalid", "doubt"
	case r.Interrupted:
		return "Interrupted", "doubt"
	case len(r.Verdict.Allowed) > 0:
		return "Passed with a late generator", "doubt"
	}
	return "Passed", "good"
}

// tiles returns the most important numbers.
func (r *Result) tiles() []tile {
	var out []tile
	add := func(name, value, unit string) { out = append(out, tile{name, value, unit}) }
	if r.Latency.Count > 0 {
		add(r.Subject+", p50", fmt.Sprintf("%.2f", r.Latency.P50), "ms")
		add("p99", fmt.Sprintf("%.2f", r.Latency.P99), "ms")
		add("slowest", fmt.Sprintf("%.2f", r.Latency.Max), "ms")
	}
	if r.Messages > 0 {
		add("messages", grouped(r.Messages), "")
	}
	if r.DeliveriesPerSecond > 0 {
		add("deliveries", grouped(int64(r.DeliveriesPerSecond)), "per second")
	}
	for _, f := range r.Figures[:min(len(r.Figures), 4)] {
		value, unit := f.text()
		add(f.Name, value, unit)
	}
	if r.Audit.Writes != nil || r.Deliveries > 0 {
		add("lost, duplicated, reordered", fmt.Sprintf("%d, %d, %d", r.Audit.Lost(), r.Audit.Doubled(), r.Audit.Reordered), "")
	}
	if r.Server != nil {
		add("server", fmt.Sprintf("%.2f", r.Server.CPU), "cores")
		add("server, resident", fmt.Sprintf("%.0f", mebibytes(r.Server.RSS)), "MiB")
	}
	return out
}

func (r *Result) plots() plots {
	p := plots{Warmup: r.Warmup, Percentile: []latency.Point{}}
	if r.Counts != nil {
		p.Percentile = append(p.Percentile, r.Counts.Curve()...)
	}
	for _, n := range r.Nodes {
		p.Nodes = append(p.Nodes, nodePlot{Name: n.Name})
	}
	for i := range r.Series {
		s := &r.Series[i]
		// A second without a measurement becomes a gap in the line.
		var p50, p99, most, cpu, own, rate *float64
		if s.timed() {
			p50, p99, most = &s.P50, &s.P99, &s.Max
		}
		if s.weighed() {
			cpu = &s.CPU
		}
		if s.looked() {
			own = &s.Generator
		}
		if r.whole(s) {
			v := float64(s.Deliveries)
			rate = &v
		}
		p.Seconds = append(p.Seconds, s.Second)
		p.P50, p.P99, p.Max = append(p.P50, p50), append(p.P99, p99), append(p.Max, most)
		p.PerSecond = append(p.PerSecond, rate)
		p.Open = append(p.Open, float64(s.Open))
		p.RSS, p.Heap = append(p.RSS, weighed(s.RSS)), append(p.Heap, weighed(s.Heap))
		for k := range p.Nodes {
			var cpu *float64
			if k < len(s.Nodes) {
				cpu = &s.Nodes[k].CPU
			}
			p.Nodes[k].CPU = append(p.Nodes[k].CPU, cpu)
		}
		p.CPU, p.Generator = append(p.CPU, cpu), append(p.Generator, own)
		if s.Fault != "" {
			p.Faults = append(p.Faults, faultPlot{s.Second, s.Fault})
		}
	}
	return p
}

// whole reports whether the load covered the whole second. A second with half of the load would
// look like a slower server.
func (r *Result) whole(s *Sample) bool {
	const fuzzy = 0.001
	return r.Duration == 0 || s.Second > -fuzzy && s.Second+1 < r.Warmup+r.Duration+fuzzy
}

// weighed converts bytes to MiB. It returns nil if the server was not measured.
func weighed(n int64) *float64 {
	if n == 0 {
		return nil
	}
	v := mebibytes(n)
	return &v
}
