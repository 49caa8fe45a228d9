package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// columns lists the columns of the CSV file, which has one row per second. A value that was not
// measured is empty, because a 0 would look like a measurement.
var columns = []struct {
	name  string
	value func(*Sample) string
}{
	{"second", func(s *Sample) string { return decimal(s.Second) }},
	{"phase", func(s *Sample) string { return s.Phase }},
	{"messages", func(s *Sample) string { return strconv.FormatInt(s.Messages, 10) }},
	{"deliveries", func(s *Sample) string { return strconv.FormatInt(s.Deliveries, 10) }},
	{"p50_ms", func(s *Sample) string { return unless(!s.timed(), decimal(s.P50)) }},
	{"p99_ms", func(s *Sample) string { return unless(!s.timed(), decimal(s.P99)) }},
	{"max_ms", func(s *Sample) string { return unless(!s.timed(), decimal(s.Max)) }},
	{"errors", func(s *Sample) string { return strconv.FormatInt(s.Errors, 10) }},
	{"open", func(s *Sample) string { return strconv.Itoa(s.Open) }},
	{"server_cores", func(s *Sample) string { return unless(!s.weighed(), decimal(s.CPU)) }},
	{"server_rss_bytes", func(s *Sample) string { return positive(s.RSS) }},
	{"server_heap_bytes", func(s *Sample) string { return positive(s.Heap) }},
	{"server_goroutines", func(s *Sample) string { return positive(s.Goroutines) }},
	{"server_gc_pause_ms", func(s *Sample) string { return unless(s.Goroutines == 0, decimal(s.GC)) }},
	{"server_queued", func(s *Sample) string { return unless(s.Goroutines == 0, strconv.FormatInt(s.Queued, 10)) }},
	{"generator_cores", func(s *Sample) string { return unless(!s.looked(), decimal(s.Generator)) }},
}

// more returns the additional columns of a run with faults or with several servers. They follow the
// other columns.
func (r *Result) more() []string {
	if !r.harmed() && len(r.Nodes) == 0 {
		return nil
	}
	out := []string{"fault"}
	for _, n := range r.Nodes {
		out = append(out, n.Name+"_cores", n.Name+"_rss_bytes")
	}
	return out
}

// harmed reports whether any fault was injected.
func (r *Result) harmed() bool {
	return slices.ContainsFunc(r.Series, func(s Sample) bool { return s.Fault != "" })
}

// values returns the values of the additional columns for one second. If the nodes were not
// measured in this second, their values are empty.
func (r *Result) values(s *Sample, more int) []string {
	if more == 0 {
		return nil
	}
	out := []string{s.Fault}
	for i := range r.Nodes {
		if i < len(s.Nodes) {
			out = append(out, decimal(s.Nodes[i].CPU), positive(s.Nodes[i].RSS))
		} else {
			out = append(out, "", "")
		}
	}
	return out
}

// positive formats a count. A count of 0 was not measured, so its text is empty.
func positive(n int64) string { return unless(n == 0, strconv.FormatInt(n, 10)) }

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

// WriteCSV writes the timeline of the run, one row per second. If the run is invalid, the header is
// followed by a line that begins with # for each reason.
func (r *Result) WriteCSV(path string) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	row := make([]string, len(columns))
	for i, c := range columns {
		row[i] = c.name
	}
	// A buffer does not fail, so errors are not checked.
	more := r.more()
	_ = w.Write(append(row, more...))
	w.Flush()
	for _, why := range r.Verdict.Invalid {
		fmt.Fprintf(&b, "# INVALID: %s\n", why)
	}
	// Some scenarios do not report their connections.
	followed := slices.ContainsFunc(r.Series, func(s Sample) bool { return s.Open > 0 })
	for i := range r.Series {
		for k, c := range columns {
			if row[k] = c.value(&r.Series[i]); c.name == "open" && !followed {
				row[k] = ""
			}
		}
		_ = w.Write(append(row, r.values(&r.Series[i], len(more))...))
	}
	w.Flush()
	return write(path, b.Bytes())
}

// WriteHDR writes the histograms of each second as a log file for HDR tools. Values are in
// microseconds.
func (r *Result) WriteHDR(path string) error {
	var b bytes.Buffer
	if err := r.hdrLog(&b); err != nil {
		return fmt.Errorf("encode histogram log: %w", err)
	}
	return write(path, b.Bytes())
}

func (r *Result) hdrLog(w io.Writer) error {
	log := hdr.NewHistogramLogWriter(w)
	for _, why := range r.Verdict.Invalid {
		if err := log.OutputComment("INVALID: " + why); err != nil {
			return err
		}
	}
	if err := log.OutputLogFormatVersion(); err != nil {
		return err
	}
	if err := log.OutputStartTime(r.Started.UnixMilli()); err != nil {
		return err
	}
	if err := log.OutputLegend(); err != nil {
		return err
	}
	for i := range r.Series {
		s := &r.Series[i]
		if s.Counts == nil {
			continue
		}
		from := r.Zero.Add(time.Duration(s.Second * float64(time.Second)))
		if err := s.Counts.Log(log, from, from.Add(time.Second)); err != nil {
			return err
		}
	}
	return nil
}
