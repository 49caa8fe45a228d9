package timeline

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"atelier/bench/latency"
	"atelier/bench/report"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scrape requests a path and returns the status and the body.
func scrape(t *testing.T, url string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// The counts are served unchanged, and Prometheus' own linter reports nothing.
func TestMetricsOfARunAreServed(t *testing.T) {
	m := &Meter{}
	at, stop, err := Serve("127.0.0.1:0", m)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	h := latency.New()
	for _, d := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond, 2 * time.Minute} {
		h.Record(d)
	}
	m.Add(report.Sample{Messages: 3, Deliveries: 4, Errors: 1, Counts: h})
	m.Add(report.Sample{Messages: 2})
	m.Open(7)
	status, text := scrape(t, "http://"+at.String()+"/metrics")
	for _, line := range []string{
		"atelier_bench_messages_sent_total 5", "atelier_bench_deliveries_total 4", "atelier_bench_errors_total 1", "atelier_bench_connections_open 7",
		`atelier_bench_delivery_latency_seconds_bucket{le="0.0005"} 0`, `atelier_bench_delivery_latency_seconds_bucket{le="0.001"} 1`,
		`atelier_bench_delivery_latency_seconds_bucket{le="0.01"} 1`, `atelier_bench_delivery_latency_seconds_bucket{le="0.025"} 3`,
		`atelier_bench_delivery_latency_seconds_bucket{le="60"} 3`, `atelier_bench_delivery_latency_seconds_bucket{le="+Inf"} 4`,
		"atelier_bench_delivery_latency_seconds_count 4", "atelier_bench_delivery_latency_seconds_sum 120.0",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("the metrics lack %q", line)
		}
	}
	if status != 200 || t.Failed() {
		t.Errorf("the metrics have the status %d: %s", status, text)
	}
	if status, _ := scrape(t, "http://"+at.String()+"/"); status != 404 {
		t.Errorf("the root has status %d, want 404", status)
	}
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	check := exec.Command(tool, "check", "metrics")
	check.Stdin = strings.NewReader(text)
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool: %v: %s", err, out)
	}
}

// The number of connections served concurrently is limited, and silent connections end with the
// run.
func TestConnectionsAreLimited(t *testing.T) {
	at, stop, err := Serve("127.0.0.1:0", &Meter{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Serve(at.String(), &Meter{}); err == nil || !strings.Contains(err.Error(), "serve metrics: ") {
		t.Errorf("a second listener at the same address: %v", err)
	}
	var all []net.Conn
	for range maxConnections + 1 {
		c, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		all = append(all, c)
	}
	ask := func(c net.Conn, within time.Duration) error {
		if _, err := io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			return err
		}
		_ = c.SetReadDeadline(time.Now().Add(within))
		_, err := c.Read(make([]byte, 1))
		return err
	}
	if err := ask(all[maxConnections-1], time.Minute); err != nil {
		t.Errorf("the last allowed connection: %v", err)
	}
	if err := ask(all[maxConnections], 100*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("one connection too many: %v", err)
	}
	stop()
	if c, err := net.Dial("tcp", at.String()); err == nil {
		_ = c.Close()
		t.Error("the metrics are still served after the end")
	}
}
