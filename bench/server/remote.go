package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Remote is a server that somebody else has started, seen through its internal
// listener.
type Remote struct {
	// URL of the internal listener, without a path.
	URL string
}

// remoteWithin bounds one question to the internal listener.
const remoteWithin = 5 * time.Second

// Ready fails when the server does not say that it is ready.
func (r *Remote) Ready(ctx context.Context) error {
	body, err := r.get(ctx, "/readyz")
	if err != nil {
		return fmt.Errorf("ask for readiness: %w", err)
	}
	return body.Close()
}

// Usage reads what the server's metrics say of its process.
func (r *Remote) Usage() (Usage, error) {
	body, err := r.get(context.Background(), "/metrics")
	if err != nil {
		return Usage{}, fmt.Errorf("weigh server: %w", err)
	}
	defer body.Close()
	return metrics(body), nil
}

// metrics reads the two lines that count from the Prometheus text format.
func metrics(text io.Reader) Usage {
	var u Usage
	for lines := bufio.NewScanner(text); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue
		}
		switch name {
		case "process_resident_memory_bytes":
			u.RSS = int64(n)
		case "process_cpu_seconds_total":
			u.CPU = time.Duration(n * float64(time.Second))
		}
	}
	// The peak is not told; what is seen now is a lower bound of it.
	u.PeakRSS = u.RSS
	return u
}

func (r *Remote) get(ctx context.Context, path string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(r.URL, "/")+path, nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{Timeout: remoteWithin, Transport: &http.Transport{DisableKeepAlives: true}}
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
