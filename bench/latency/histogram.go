package latency

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Bounds of what is told apart: 1 us to 10 minutes, to three significant digits.
// One histogram takes 180 kB.
const (
	unit    = time.Microsecond
	longest = 10 * time.Minute
	digits  = 3
)

// Histogram counts latencies. It is for one goroutine at a time. Values beyond
// ten minutes count as ten minutes, negative ones as zero.
type Histogram struct {
	counts *hdrhistogram.Histogram
}

// New returns an empty histogram.
func New() *Histogram {
	return &Histogram{hdrhistogram.New(1, int64(longest/unit), digits)}
}

// Record counts one latency.
func (h *Histogram) Record(d time.Duration) {
	// The range is closed by the clamp, so there is no error left to handle.
	_ = h.counts.RecordValue(int64(min(max(d, 0), longest) / unit))
}

// Merge adds the counts of another histogram.
func (h *Histogram) Merge(other *Histogram) { h.counts.Merge(other.counts) }

// Count is how many latencies were recorded.
func (h *Histogram) Count() int64 { return h.counts.TotalCount() }

// Quantile returns the latency that this share of the values, 0..1, does not
// exceed; 0 without values.
func (h *Histogram) Quantile(q float64) time.Duration {
	return time.Duration(h.counts.ValueAtQuantile(q*100)) * unit
}

// Max is the largest latency, to the precision of the histogram.
func (h *Histogram) Max() time.Duration { return time.Duration(h.counts.Max()) * unit }

// Summary is a histogram in a few numbers, milliseconds.
type Summary struct {
	Count int64   `json:"count"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p999"`
	Max   float64 `json:"max"`
}

// Summary returns the numbers of a report.
func (h *Histogram) Summary() Summary {
	return Summary{
		Count: h.Count(),
		P50:   Milliseconds(h.Quantile(0.50)),
		P90:   Milliseconds(h.Quantile(0.90)),
		P99:   Milliseconds(h.Quantile(0.99)),
		P999:  Milliseconds(h.Quantile(0.999)),
		Max:   Milliseconds(h.Max()),
	}
}

// Milliseconds returns d as a number of milliseconds.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
