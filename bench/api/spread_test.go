package api

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

func TestOnlySafeRequestsAreRepeatedOnAnotherNode(t *testing.T) {
	lost, unsent := errors.New("lost"), error(dialError{errors.New("refused")})
	status := func(n int) *Answer { return &Answer{Status: n} }
	for _, c := range []struct {
		name  string
		r     Request
		a     *Answer
		err   error
		again bool
	}{
		{"a response", Request{Method: "GET"}, status(200), nil, false},
		{"a refusal", Request{Method: "GET"}, status(500), nil, false},
		{"a read that is unavailable", Request{Method: "GET"}, status(503), nil, true},
		{"a read without a response", Request{Method: "GET"}, nil, lost, true},
		{"a write that is unavailable", Request{Method: "POST"}, status(503), nil, false},
		{"a write without a response", Request{Method: "POST"}, nil, lost, false},
		{"a write that was not sent", Request{Method: "POST"}, nil, unsent, true},
		{"a write without a connection", Request{Method: "POST"}, nil, fasthttp.ErrNoFreeConns, true},
		{"an idempotent write", Request{Method: "POST", Again: true}, nil, lost, true},
		{"an idempotent write, unavailable", Request{Method: "POST", Again: true}, status(503), nil, true},
		{"an idempotent write, refused", Request{Method: "POST", Again: true}, status(409), nil, false},
	} {
		if got := again(&c.r, c.a, c.err); got != c.again {
			t.Errorf("%s: repeated is %v, want %v", c.name, got, c.again)
		}
	}
}

// spread returns a client of one node per handler. A nil handler is a node that refuses
// connections.
func spread(t *testing.T, nodes ...http.HandlerFunc) *Spread {
	t.Helper()
	var clients []*Client
	for _, f := range nodes {
		srv := httptest.NewServer(f)
		if f == nil {
			srv.Close()
		} else {
			t.Cleanup(srv.Close)
		}
		c, err := New(srv.URL, "", 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, c)
	}
	s := NewSpread(clients...)
	t.Cleanup(s.Close)
	return s
}

func TestARequestGoesToTheNextNode(t *testing.T) {
	var asked atomic.Int32
	busy := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	well := func(http.ResponseWriter, *http.Request) { asked.Add(1) }
	s := spread(t, well, nil, busy)
	a, trip, err := s.Do(1, &Request{Method: "GET", Path: "/x"})
	if err != nil || !a.OK() || trip != (Trip{Node: 0, Repeated: 2}) || asked.Load() != 1 {
		t.Errorf("the response is %+v, the trip %+v, %v; asked %d times", a, trip, err, asked.Load())
	}
	// If a node is gone, a POST goes to the next node. A POST that was answered is not repeated,
	// because it could then count twice.
	a, trip, err = s.Do(1, &Request{Method: "POST", Path: "/x"})
	if err != nil || a.Status != 503 || trip != (Trip{Node: 2, Repeated: 1}) || asked.Load() != 1 {
		t.Errorf("the response is %+v, the trip %+v, %v; asked %d times", a, trip, err, asked.Load())
	}
	// The nodes are used in a cycle.
	if _, trip, err := s.Do(3, &Request{Method: "POST", Path: "/x"}); err != nil || trip != (Trip{}) {
		t.Errorf("the trip is %+v, %v", trip, err)
	}
}

func TestASingleServerIsAskedOnce(t *testing.T) {
	var asked atomic.Int32
	s := spread(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	if a, trip, err := s.Do(0, &Request{Method: "GET", Path: "/x"}); err != nil || a.Status != 503 || trip != (Trip{}) || asked.Load() != 1 {
		t.Errorf("the response is %+v, the trip %+v, %v", a, trip, err)
	}
}
