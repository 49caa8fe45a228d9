package latency

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Bounds of the values: 1 us to 10 minutes, with three significant digits. One histogram takes
// 180 kB.
const (
	unit    = time.Microsecond
	longest = 10 * time.Minute
	digits  = 3
)

// Histogram counts latencies. It is not safe for concurrent use. Values above ten minutes count as
// ten minutes, and negative values as zero.
type Histogram struct {
	counts *hdrhistogram.Histogram
}

// New returns an empty histogram.
func New() *Histogram {
	return &Histogram{hdrhistogram.New(1, int64(longest/unit), digits)}
}

// Record counts one latency.
func (h *Histogram) Record(d time.Duration) {
	// The value is clamped to the range, so no error is possible.
	_ = h.counts.RecordValue(int64(min(max(d, 0), longest) / unit))
}

// Merge adds the counts of another histogram.
func (h *Histogram) Merge(other *Histogram) { h.counts.Merge(other.counts) }

// Count returns the number of recorded latencies.
func (h *Histogram) Count() int64 { return h.counts.TotalCount() }

// Quantile returns the latency that this share of the values, 0..1, does not exceed; 0 without
// values.
func (h *Histogram) Quantile(q float64) time.Duration {
	return time.Duration(h.counts.ValueAtQuantile(q*100)) * unit
}

// Sum returns the sum of all latencies, to the precision of the histogram.
func (h *Histogram) Sum() time.Duration {
	return time.Duration(h.counts.Mean() * float64(h.Count()) * float64(unit))
}

// Within returns, for each bound, the number of latencies that do not exceed it, to the precision
// of the histogram.
func (h *Histogram) Within(bounds []time.Duration) []int64 {
	out := make([]int64, len(bounds))
	for _, bar := range h.counts.Distribution() {
		for i, bound := range bounds {
			if bar.Count > 0 && time.Duration(bar.From)*unit <= bound {
				out[i] += bar.Count
			}
		}
	}
	return out
}

// Max returns the largest latency, to the precision of the histogram.
func (h *Histogram) Max() time.Duration { return time.Duration(h.counts.Max()) * unit }

// Reset removes all values.
func (h *Histogram) Reset() { h.counts.Reset() }

// MarshalText encodes the counts in the compressed form of the HDR tools (Base64), so a histogram
// can be a JSON value.
func (h *Histogram) MarshalText() ([]byte, error) {
	b, err := h.counts.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, fmt.Errorf("encode histogram: %w", err)
	}
	return b, nil
}

// UnmarshalText decodes the result of MarshalText. It rejects counts with another range or
// precision, because they could not be merged.
func (h *Histogram) UnmarshalText(text []byte) error {
	counts, err := hdrhistogram.Decode(text)
	if err != nil {
		return fmt.Errorf("decode histogram: %w", err)
	}
	if counts.HighestTrackableValue() != int64(longest/unit) || counts.SignificantFigures() != digits {
		return errors.New("decode histogram: it has another range or precision")
	}
	h.counts = counts
	return nil
}

// Log writes the counts of an interval to a histogram log. They are in microseconds; the maximum
// next to them is in seconds.
func (h *Histogram) Log(log *hdrhistogram.HistogramLogWriter, from, until time.Time) error {
	h.counts.SetStartTimeMs(from.UnixMilli())
	h.counts.SetEndTimeMs(until.UnixMilli())
	return log.OutputIntervalHistogram(h.counts)
}

// Point is a point of the percentile curve.
type Point struct {
	// Percentile is 0..100; Milliseconds is the latency that this share of the
	// values does not exceed.
	Percentile   float64 `json:"percentile"`
	Milliseconds float64 `json:"ms"`
}

// Curve returns the histogram as percentiles, closer together in the tail. There are at most 54
// points up to 99.9998, and a point for the maximum. An empty histogram has no points.
func (h *Histogram) Curve() []Point {
	if h.Count() == 0 {
		return nil
	}
	var out []Point
	rest := 1.0
	for h.Count() > 0 && rest > 0.9/float64(h.Count()) && rest >= 0.00001 {
		for _, part := range []float64{1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2} {
			q := 1 - rest*part
			out = append(out, Point{percent(q), Milliseconds(h.Quantile(q))})
		}
		rest /= 10
	}
	return append(out, Point{percent(1 - min(rest, 1/float64(h.Count()))), Milliseconds(h.Max())})
}

// percent returns a share without floating-point noise.
func percent(share float64) float64 { return math.Round(share*1e9) / 1e7 }

// Summary summarizes a histogram, in milliseconds.
type Summary struct {
	Count int64   `json:"count"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p999"`
	Max   float64 `json:"max"`
}

// Summary returns the numbers for a report.
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
