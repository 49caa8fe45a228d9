package timeline

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"
)

// Limits of scrapers: concurrent connections, and timeouts.
const (
	maxConnections = 16
	headWithin     = 5 * time.Second
	answerWithin   = 10 * time.Second
)

// Serve answers GET /metrics at an address, host:port, until stop is called. stop does not wait for
// requests in progress. at is the actual address, even if the port was 0.
func Serve(address string, m *Meter) (at net.Addr, stop func(), err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, nil, fmt.Errorf("serve metrics: %w", err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m) // a new registry accepts it
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	s := &http.Server{
		Handler: mux, ReadHeaderTimeout: headWithin, ReadTimeout: headWithin, WriteTimeout: answerWithin, IdleTimeout: answerWithin,
		MaxHeaderBytes: 16 << 10,
	}
	var running sync.WaitGroup
	running.Go(func() { _ = s.Serve(netutil.LimitListener(l, maxConnections)) }) // ends with stop
	return l.Addr(), func() {
		_ = s.Close()
		running.Wait()
	}, nil
}
