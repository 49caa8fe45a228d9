package timeline

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"atelier/bench/report"
)

// bounds contains the upper bounds of the histogram's buckets.
var bounds = [...]time.Duration{
	500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond,
	5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute,
}

// Meter contains the totals of a load test. The zero value is empty. A Meter is safe for concurrent
// use.
type Meter struct {
	mu sync.Mutex
	// Guarded by mu.
	sent, deliveries, errors, open float64
	timed                          uint64
	took                           time.Duration
	// within contains, for each of the bounds, the number of latencies that do not exceed it.
	within [len(bounds)]uint64
}

// Add adds a worker's results of one second.
func (m *Meter) Add(s report.Sample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent += float64(s.Messages)
	m.deliveries += float64(s.Deliveries)
	m.errors += float64(s.Errors)
	if s.Counts == nil {
		return
	}
	m.timed += uint64(s.Counts.Count())
	m.took += s.Counts.Sum()
	for i, n := range s.Counts.Within(bounds[:]) {
		m.within[i] += uint64(n)
	}
}

// Open sets the number of open connections.
func (m *Meter) Open(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open = float64(n)
}

var (
	sent       = describe("messages_sent_total", "Messages that were sent, including those of the warm-up.")
	deliveries = describe("deliveries_total", "Messages that reached a subscriber, including those of the warm-up.")
	failures   = describe("errors_total", "Connections that ended, messages that could not be sent or were refused, and spoiled deliveries.")
	open       = describe("connections_open", "Subscribers who are connected.")
	took       = describe("delivery_latency_seconds", "From the planned time of a message to its delivery, in the measured time.")
)

func describe(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("atelier_bench_"+name, help, nil, nil)
}

// Describe implements prometheus.Collector.
func (m *Meter) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{sent, deliveries, failures, open, took} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (m *Meter) Collect(out chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	buckets := make(map[float64]uint64, len(bounds))
	for i, bound := range bounds {
		buckets[bound.Seconds()] = m.within[i]
	}
	out <- prometheus.MustNewConstMetric(sent, prometheus.CounterValue, m.sent)
	out <- prometheus.MustNewConstMetric(deliveries, prometheus.CounterValue, m.deliveries)
	out <- prometheus.MustNewConstMetric(failures, prometheus.CounterValue, m.errors)
	out <- prometheus.MustNewConstMetric(open, prometheus.GaugeValue, m.open)
	out <- prometheus.MustNewConstHistogram(took, m.timed, m.took.Seconds(), buckets)
}
