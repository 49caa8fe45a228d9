//go:build linux

package rest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"
)

// The timeline separates the warm-up from the measured time, as in every scenario.
func TestTheWarmUpIsASeparatePhase(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "0") }))
	defer srv.Close()
	out, err := (&Floor{URL: srv.URL, Connections: 1, Rate: 200, Warmup: 3 * time.Second, Duration: 1200 * time.Millisecond}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var phases []string
	for _, s := range out.Series {
		phases = append(phases, s.Phase)
	}
	if got := slices.Compact(phases); !slices.Equal(got, []string{"warm-up", "load"}) || out.Latency.Count < 100 {
		t.Errorf("the phases are %q, %d requests", got, out.Latency.Count)
	}
}
