package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// column is one figure of a table.
type column struct {
	title string
	// value returns the value for a run; NaN if there is none.
	value func(*report) float64
	show  func(float64) string
	// ofFloor shows the ratio to the floor's value of the same round instead of the value.
	ofFloor bool
	// worst shows the largest of all rounds instead of the median.
	worst bool
}

var (
	deliveries = column{title: "deliveries/s", value: func(r *report) float64 { return r.DeliveriesPerSecond }, show: thousands}
	p50        = column{title: "p50, ms", value: func(r *report) float64 { return r.P50 }, show: decimal}
	p99        = column{title: "p99, ms", value: func(r *report) float64 { return r.P99 }, show: decimal}
	perMillion = column{title: "server CPU, s per million", value: figure("cpu_per_million"), show: decimal}
	resident   = column{title: "RSS, MiB", value: func(r *report) float64 {
		if r.Server == nil {
			return math.NaN()
		}
		return r.Server.RSS / (1 << 20)
	}, show: whole}
	lost    = column{title: "lost", value: func(r *report) float64 { return float64(r.Lost) }, show: whole, worst: true}
	doubled = column{title: "doubled", value: func(r *report) float64 { return float64(r.Duplicated) }, show: whole, worst: true}

	fanoutColumns = []column{deliveries, deliveries.of(), p50, p99, perMillion, perMillion.of(), resident, lost, doubled}
	// At a given rate all servers deliver the same number.
	pacedColumns = []column{deliveries, p50, p99, perMillion, perMillion.of(), resident, lost, doubled}
	idleColumns  = []column{
		{title: "bytes per connection", value: figure("bytes_per_connection"), show: thousands},
		resident,
		{title: "cores", value: figure("idle_cores"), show: decimal},
	}
	requests    = column{title: "requests/s", value: figure("requests_per_second"), show: thousands}
	perRequests = column{title: "server CPU, s per million", value: func(r *report) float64 {
		if r.Server == nil {
			return math.NaN()
		}
		return r.Server.CPU / figure("requests_per_second")(r) * 1e6
	}, show: decimal}
	restColumns = []column{requests, requests.of(), p50, p99, perRequests, perRequests.of(), resident}
)

// of returns the column with the ratio to the floor.
func (c column) of() column {
	c.title, c.ofFloor, c.show = "of the floor", true, decimal
	return c
}

func figure(key string) func(*report) float64 {
	return func(r *report) float64 {
		if f, ok := r.Figures[key]; ok {
			return f.Value
		}
		return math.NaN()
	}
}

// cell returns the column's value of a contestant over all rounds.
func (c *column) cell(name, floor string, all []outcome) string {
	var values []float64
	for _, o := range all {
		if o.contestant != name || o.report == nil {
			continue
		}
		v := c.value(o.report)
		if c.ofFloor {
			v /= c.base(floor, o.round, all)
		}
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			values = append(values, v)
		}
	}
	switch {
	case len(values) == 0:
		return "–"
	case c.worst:
		return c.show(slices.Max(values))
	}
	return c.show(median(values))
}

// base returns the result of the floor in a round.
func (c *column) base(floor string, round int, all []outcome) float64 {
	for _, o := range all {
		if o.contestant == floor && o.round == round && o.report != nil {
			return c.value(o.report)
		}
	}
	return math.NaN()
}

// table returns the results of a scenario in Markdown.
func table(s *scenario, names []string, all []outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n| |", s.title)
	for _, c := range s.columns {
		b.WriteString(" " + c.title + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(s.columns)) + "\n")
	var notes []string
	for _, name := range names {
		runs, full := 0, 0
		var failed, wrong string
		for _, o := range all {
			switch {
			case o.contestant != name:
				continue
			case o.report == nil:
				failed = o.failed
			case len(o.report.Failures) > 0:
				wrong = strings.Join(o.report.Failures, ", ")
			}
			if o.report != nil && o.report.full() {
				full++
			}
			runs++
		}
		if runs == 0 {
			continue
		}
		mark := ""
		if full > 0 {
			mark = " ¹"
		}
		if failed != "" {
			notes = append(notes, fmt.Sprintf("%s was not measured in every round: %s.", name, failed))
		}
		if wrong != "" {
			notes = append(notes, fmt.Sprintf("The generator reports for %s: %s.", name, wrong))
		}
		fmt.Fprintf(&b, "| %s%s |", name, mark)
		for _, c := range s.columns {
			b.WriteString(" " + c.cell(name, s.floor, all) + " |")
		}
		b.WriteString("\n")
	}
	for _, note := range notes {
		b.WriteString("\n" + note + "\n")
	}
	return b.String()
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

func whole(v float64) string { return strconv.FormatFloat(math.Round(v), 'f', 0, 64) }

// decimal formats a number with about three digits.
func decimal(v float64) string {
	switch {
	case v >= 100:
		return whole(v)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 0.1 || v == 0:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// thousands formats a number with commas. From 10,000 on, it has three significant digits.
func thousands(v float64) string {
	if v >= 10_000 {
		unit := math.Pow(10, math.Floor(math.Log10(v))-2)
		v = math.Round(v/unit) * unit
	}
	digits := whole(v)
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return sign + digits
}
