//go:build linux

package tokens

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"atelier/bench/latency"
	"atelier/bench/pacing"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/timeline"
)

// vault is a server that returns each credential at most the number of times in its field times. A
// correct server has 1.
type vault struct {
	times int

	mu   sync.Mutex
	uses map[string]int
}

func (v *vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := make([]byte, r.ContentLength)
	_, _ = r.Body.Read(body)
	if strings.HasSuffix(r.URL.Path, "/tokenize") {
		_, number, _ := strings.Cut(string(body), `"number":"`)
		_, _ = w.Write([]byte(`{"token":"` + number[:16] + `"}`))
		return
	}
	_, token, _ := strings.Cut(string(body), `"token":"`)
	token = token[:16]
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.uses[token]++; v.uses[token] > v.times {
		w.WriteHeader(http.StatusGone)
		return
	}
	_, _ = w.Write([]byte(`{"type":"card","card_number_type":"fpan","number":"` + token + `","expiry_month":12,"expiry_year":2031,"cvc":"123"}`))
}

// Audits count the winners of each token, and the timeline includes all seconds of the run.
func TestWinnersAreCountedInTheAuditAndTheTimeline(t *testing.T) {
	for name, c := range map[string]struct {
		times int
		want  report.Tokens
	}{
		"once":  {1, report.Tokens{Begun: 8, Timed: 4, Contested: 4, Raced: 5, OneWinner: 5}},
		"twice": {2, report.Tokens{Begun: 8, Timed: 4, Contested: 4, Raced: 5, TwoWinners: 5}},
		"never": {0, report.Tokens{Begun: 8, Contested: 4, Raced: 5, NoWinner: 5}},
	} {
		srv := httptest.NewServer(&vault{times: c.times, uses: map[string]int{}})
		clients, err := (&server.Target{URL: srv.URL}).Clients()
		if err != nil {
			t.Fatal(err)
		}
		cfg := &Config{Reuse: 50, Connections: 1}
		r := &run{cfg: cfg, clock: pacing.NewClock(), clients: clients, result: newResult(cfg), parties: []party{{}}, target: &server.Target{}}
		r.timeline = timeline.New(r.clock.Now)
		w := newWorker(r, 0)
		for pair := range int64(10) {
			w.do(pair, r.clock.Now(), pair >= 2) // the first two are the warm-up
		}
		w.conn.Close()
		w.rival.Close()
		r.conclude([]*worker{w}, timeline.Weight{}, timeline.Weight{})
		if got := *r.result.Audit.Tokens; got != c.want {
			t.Errorf("%s: the audit is %+v, want %+v", name, got, c.want)
		}
		sent, done, counts := int64(0), int64(0), latency.New()
		for _, s := range r.timeline.Samples() {
			sent, done = sent+s.Messages, done+s.Deliveries
			if s.Counts != nil {
				counts.Merge(s.Counts)
			}
		}
		if sent != 10 || c.times > 0 && (done != 5 || counts.Count() != int64(c.want.Timed)) {
			t.Errorf("%s: the timeline has %d tokens, %d pairs, %d times", name, sent, done, counts.Count())
		}
		clients.Close()
		srv.Close()
	}
}
