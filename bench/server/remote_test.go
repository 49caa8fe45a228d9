package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestTheUsageOfARemoteServerComesFromItsMetrics(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/metrics":
			fmt.Fprint(w, "# HELP x y\nprocess_cpu_seconds_total 1.5\nother 3\nprocess_resident_memory_bytes 8.5e+07\n")
		case "/readyz":
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer srv.Close()
	remote := Remote{URL: srv.URL + "/"}
	u, err := remote.Usage()
	if err != nil || u.CPU != 1500*time.Millisecond || u.RSS != 85_000_000 {
		t.Errorf("the usage is %+v, %v", u, err)
	}
	if err := remote.Ready(t.Context()); err == nil {
		t.Error("status 503 counts as ready")
	}
}
