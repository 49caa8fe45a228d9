package server

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Health is the response of /readyz.
type Health struct {
	// Ready reports whether the server accepts traffic.
	Ready bool `json:"ready"`
	// Why states the reason as a sentence. Reason is a code of one word: "starting", "stopping",
	// "disk_full", "disk", "clock", "drained", "unreachable", "aside" (this node serves nobody
	// now), "lease", "database" or "store".
	Why    string `json:"why,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Error repeats Why in the member that all other error responses have.
	Error string `json:"error,omitempty"`
	// ReadOnly means that reads work and writes get 503.
	ReadOnly bool `json:"read_only"`
	// Quarantined lists the actors that are suspended after too many failures.
	Quarantined []string `json:"quarantined"`
	// QuarantinedTokens counts the unusable tokens. It does not name them.
	QuarantinedTokens int64 `json:"quarantined_tokens"`
	// Cluster is set on a cluster node.
	Cluster *ClusterHealth `json:"cluster,omitempty"`
}

// ClusterHealth is the state of a node in its cluster.
type ClusterHealth struct {
	Node string `json:"node"`
	// Lease reports whether the node's lease is valid. Alive counts the nodes with a valid lease.
	Lease bool `json:"lease"`
	Alive int  `json:"alive"`
	// Unreachable lists the living nodes that do not answer this node.
	Unreachable []string `json:"unreachable"`
}

// Internal is the internal listener: probes, metrics, profiles.
type Internal struct {
	listener net.Listener
	server   *http.Server
	draining atomic.Bool
}

// ListenInternal opens the internal listener and serves it.
func ListenInternal(addr string, metrics *prometheus.Registry, health func() Health) (*Internal, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, listenError("server.internal_listen", addr, err)
	}
	i := &Internal{listener: l}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		h := health()
		if i.draining.Load() {
			h.Ready, h.Why, h.Reason = false, "stopping", "stopping"
		}
		h.Error = h.Why
		w.Header().Set("Content-Type", "application/json")
		if !h.Ready {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(h)
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	i.server = &http.Server{Handler: byOwnName(mux), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = i.server.Serve(l) }()
	return i, nil
}

// byOwnName refuses requests whose Host is a public domain name. This prevents DNS rebinding: a
// page that is open in a browser on this network could point its own domain at this address and
// read the internal listener. An attacker cannot do this with an IP address, a name without a dot
// or an internal domain. The machine might not know its own domain, so monitoring can also use any
// name whose first label is that of the machine's name. An attacker could know this label, so
// browsers cannot use such a name.
func byOwnName(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		internal, byLabel := ownName(r.Host)
		// Browsers send this header with every request, and a page cannot remove it.
		if browser := r.Header["Accept-Language"] != nil; !internal && (!byLabel || browser) {
			http.Error(w, "this listener is for the operator: use its IP address or the machine's name", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ownName reports whether a Host is an address, a name without a dot, the machine's full name or a
// name in an internal domain. byLabel means that its first label is that of the machine's name.
func ownName(host string) (internal, byLabel bool) {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if _, err := netip.ParseAddr(host); err == nil || !strings.Contains(host, ".") {
		return true, false
	}
	for _, domain := range []string{".localhost", ".local", ".internal", ".intern", ".lan", ".home.arpa", ".svc", ".test"} {
		if strings.HasSuffix(host, domain) {
			return true, false
		}
	}
	machine, err := os.Hostname()
	machine = strings.ToLower(machine)
	first, _, _ := strings.Cut(machine, ".")
	label, _, _ := strings.Cut(host, ".")
	return err == nil && host == machine, err == nil && label == first
}

// Addr returns the listener's address.
func (i *Internal) Addr() net.Addr { return i.listener.Addr() }

// Drain makes /readyz report not ready.
func (i *Internal) Drain() { i.draining.Store(true) }

// Close stops the listener. The address is free when Close returns. http.Server.Close alone does
// not guarantee this, because a server that has not registered the listener yet closes it later.
func (i *Internal) Close() error {
	err := i.server.Close()
	if closed := i.listener.Close(); !errors.Is(closed, net.ErrClosed) {
		err = errors.Join(err, closed)
	}
	return err
}

func asError[T error](err error, target *T) bool { return errors.As(err, target) }

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout() || errors.Is(err, context.DeadlineExceeded)
}
