package compare

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// outcome is the result of one run: a report, or the reason why there is none.
type outcome struct {
	contestant string
	round      int
	report     *report
	failed     string
}

// report contains the parts of the generator's report that are used.
type report struct {
	Environment         map[string]string `json:"environment"`
	Invalid             []string          `json:"invalid"`
	Failures            []string          `json:"failures"`
	Lost                int               `json:"lost"`
	Duplicated          int               `json:"duplicated"`
	Reordered           int               `json:"reordered"`
	P50                 float64           `json:"p50"`
	P99                 float64           `json:"p99"`
	DeliveriesPerSecond float64           `json:"deliveries_per_second"`
	Generator           struct {
		CPU  float64 `json:"cpu"`
		Busy float64 `json:"busy"`
	} `json:"generator"`
	Server *struct {
		CPU float64 `json:"cpu"`
		RSS float64 `json:"rss"`
	} `json:"server"`
	Figures map[string]struct {
		Value float64 `json:"value"`
	} `json:"figures"`
}

// format is the supported report format.
const format = "atelier-bench/1"

func readReport(path string) (*report, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	var r struct {
		Format string `json:"format"`
		report
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	if r.Format != format {
		return nil, fmt.Errorf("the report is a %q, not a %q", r.Format, format)
	}
	return &r.report, nil
}

// full reports whether the generator was at its limit, in which case the server can be faster than
// measured, or whether the run is invalid.
func (r *report) full() bool { return r.Generator.Busy > fullAt || len(r.Invalid) > 0 }

// fullAt is the busy share above which a generator counts as full.
const fullAt = 0.97

// brief returns the outcome as one line.
func (o *outcome) brief() string {
	if o.report == nil {
		return o.failed
	}
	r := o.report
	line := fmt.Sprintf("%.0f per second, p50 %.2f ms, p99 %.2f ms, generator %.2f cores", max(r.DeliveriesPerSecond, r.Figures["requests_per_second"].Value), r.P50, r.P99, r.Generator.CPU)
	if r.full() {
		line += ", full or late"
	}
	if r.Server != nil {
		line += fmt.Sprintf(", server %.2f cores, %.0f MiB", r.Server.CPU, r.Server.RSS/(1<<20))
	}
	return strings.Join(append([]string{line}, r.Failures...), "; ")
}
