//go:build linux

package nodes

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// place is a server behind a balancer. It responds with its name, and is ready while ready is set.
type place struct {
	*httptest.Server
	ready  atomic.Bool
	served atomic.Int64
}

func newPlace(t *testing.T, name string) *place {
	p := &place{}
	p.ready.Store(true)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			if !p.ready.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return
		}
		p.served.Add(1)
		if r.URL.Path == "/die" {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, name)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *place) public() string { return strings.TrimPrefix(p.URL, "http://") }

// ask opens a new connection and returns the name of the server that responded, or "".
func ask(b *Balancer, path string) string {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Post(b.URL()+path, "text/plain", strings.NewReader("x"))
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return string(text)
}

func TestConnectionsGoToReadyNodes(t *testing.T) {
	b, err := Balance("127.0.0.1:0", 2)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if got := ask(b, "/"); got != "" {
		t.Errorf("without a node, %q answered, want none", got)
	}
	one, two := newPlace(t, "one"), newPlace(t, "two")
	b.Put(0, one.public(), one.URL)
	if got := ask(b, "/"); got != "one" {
		t.Errorf("with one node, %q answered, want this node", got)
	}
	b.Put(1, two.public(), two.URL)
	one.ready.Store(false)
	for ready := true; ready; ready, _ = b.State(0) {
		if t.Context().Err() != nil {
			t.FailNow()
		}
	}
	for range 4 {
		if got := ask(b, "/"); got != "two" {
			t.Errorf("%q answered, want the ready node", got)
		}
	}
	one.ready.Store(true)
	for ready := false; !ready; ready, _ = b.State(0) {
		if t.Context().Err() != nil {
			t.FailNow()
		}
	}
	// If a node has ended and the balancer has not detected it yet, the balancer connects the
	// client to another node.
	two.CloseClientConnections()
	two.Close()
	for range 4 {
		if got := ask(b, "/"); got != "one" {
			t.Errorf("after a node died, %q answered, want the other node", got)
		}
	}
	if _, open := b.State(1); open != 0 {
		t.Errorf("a dead node has %d connections, want 0", open)
	}
	// A request that was sent may have been executed, so it is not sent again.
	before := one.served.Load()
	if got := ask(b, "/die"); got != "" || one.served.Load() != before+1 {
		t.Errorf("%q answered after %d attempts, want no answer after one", got, one.served.Load()-before)
	}
	b.Remove(0)
	if got := ask(b, "/"); got != "" {
		t.Errorf("after a node was removed, %q answered, want none", got)
	}
}
