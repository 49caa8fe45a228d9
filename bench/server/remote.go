package server

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Remote reads the state of a server from the server's internal listener. The run need not have
// started the server.
type Remote struct {
	// URL is the address of the internal listener, without a path.
	URL string
	// Within is the timeout of a request; 0 means 5 s.
	Within time.Duration
}

// remoteWithin is the timeout of a request to the internal listener.
const remoteWithin = 5 * time.Second

// Ready returns an error if the server is not ready.
func (r *Remote) Ready(ctx context.Context) error {
	body, err := r.get(ctx, "/readyz")
	if err != nil {
		return fmt.Errorf("ask for readiness: %w", err)
	}
	return body.Close()
}

// Usage reads the process values from the server's metrics.
func (r *Remote) Usage() (Usage, error) {
	in, err := r.Inside()
	if err != nil {
		return Usage{}, fmt.Errorf("read the server's usage: %w", err)
	}
	return in.Usage, nil
}

// Inside contains the values that a server reports about itself. Missing values are zero.
type Inside struct {
	Usage
	// Heap is the heap in use, in bytes.
	Heap int64
	// Goroutines is the number of goroutines of the process.
	Goroutines int64
	// GCPause is the longest of the recent garbage collection pauses.
	GCPause time.Duration
	// Queued is the number of bytes that are queued and not yet on disk.
	Queued int64
	// Bus counts the server's messages to other nodes.
	Bus Bus
	// Nodes contains the individual values if this is the sum of several nodes. Otherwise it is
	// nil.
	Nodes []Inside
}

// Inside reads the server's metrics.
func (r *Remote) Inside() (Inside, error) {
	body, err := r.get(context.Background(), "/metrics")
	if err != nil {
		return Inside{}, fmt.Errorf("read metrics: %w", err)
	}
	defer body.Close()
	return metrics(body), nil
}

// metrics parses the Prometheus text format. It ignores values that are not used.
func metrics(text io.Reader) Inside {
	var in Inside
	for lines := bufio.NewScanner(text); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue
		}
		switch name {
		case "process_resident_memory_bytes":
			in.RSS = int64(n)
		case "process_cpu_seconds_total":
			in.CPU = time.Duration(n * float64(time.Second))
		case "go_memstats_heap_inuse_bytes":
			in.Heap = int64(n)
		case "go_goroutines":
			in.Goroutines = int64(n)
		case `go_gc_duration_seconds{quantile="1"}`:
			in.GCPause = time.Duration(n * float64(time.Second))
		case "atelier_journal_queue_bytes":
			in.Queued = int64(n)
		default:
			// Metrics of the traffic between nodes can have labels. The values of all labels are
			// added up.
			family, _, _ := strings.Cut(name, "{")
			switch family {
			case "atelier_bus_sent_total":
				in.Bus.Sent += int64(n)
			case "atelier_bus_received_total":
				in.Bus.Received += int64(n)
			case "atelier_bus_bytes_total":
				in.Bus.Bytes += int64(n)
			}
		}
	}
	// The server does not report the peak. The current value is a lower bound of the peak.
	in.PeakRSS = in.RSS
	return in
}

func (r *Remote) get(ctx context.Context, path string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(r.URL, "/")+path, nil)
	if err != nil {
		return nil, err
	}
	// Compression would cost the server CPU time and 3 MB, which do not belong to the load.
	client := http.Client{Timeout: cmp.Or(r.Within, remoteWithin), Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("%s: status %d", path, resp.StatusCode)
	}
	return resp.Body, nil
}
