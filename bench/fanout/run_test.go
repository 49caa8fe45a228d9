//go:build linux

package fanout

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fasthttp/websocket"
	"go.uber.org/goleak"

	"atelier/bench/broadcast"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/timeline"
	"atelier/bench/workers"
)

// TestMain is also the worker process that a run starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		conn, err := workers.Inherited()
		if err == nil {
			err = workers.Serve(conn)
		}
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// hub sends every message to all clients. change returns the text for one client; with nil, this
// client receives nothing.
type hub struct {
	mu      sync.Mutex
	clients map[string]*websocket.Conn
	change  func(client, from string, message []byte) []byte
	over    bool // new connections are refused
}

// end closes all connections and refuses new ones. It is called with mu held.
func (h *hub) end() {
	h.over = true
	for _, c := range h.clients {
		_ = c.Close()
	}
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	over := h.over
	h.mu.Unlock()
	if over {
		w.WriteHeader(503)
		return
	}
	upgrader := websocket.Upgrader{}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer ws.Close()
	me := r.URL.Query().Get("id")
	h.mu.Lock()
	h.clients[me] = ws
	h.mu.Unlock()
	for {
		_, p, err := ws.ReadMessage()
		if err != nil {
			return
		}
		h.mu.Lock()
		for _, id := range slices.Sorted(maps.Keys(h.clients)) {
			if out := h.change(id, me, p); out != nil {
				_ = h.clients[id].WriteMessage(websocket.TextMessage, out)
			}
		}
		h.mu.Unlock()
	}
}

// hold runs two workers with three subscribers and a publisher each.
func hold(ctx context.Context, t *testing.T, h *hub, change func(*Config)) *report.Result {
	t.Helper()
	h.clients = map[string]*websocket.Conn{}
	srv := httptest.NewServer(h)
	defer srv.Close()
	defer srv.CloseClientConnections()
	address := srv.Listener.Addr().String()
	cfg := &Config{
		Target: &server.Target{}, Scenario: "fanout", Subscribers: 6, Publishing: Publishing{Publishers: 2, Rate: 100, Warmup: 300 * time.Millisecond}, Settle: 100 * time.Millisecond, Seed: 1,
		Duration: time.Second, Drain: time.Second,
		Plan: workers.Plan{Processes: 2, Binary: os.Args[0], Args: []string{"worker"}},
		Prepare: func(context.Context, int, int) (*Endpoint, error) {
			d := &Endpoint{Address: address, Host: address, Dialect: broadcast.Dialect{
				Send: "{{stamp}} {{seq}} x", Match: `^(?P<stamp>\d+) (?P<seq>\d+) x`, Refusal: `^no (?P<seq>\d+)`, Ack: `^\d+ (?P<seq>\d+) x`,
			}}
			for i := range 6 {
				d.Subscribers = append(d.Subscribers, broadcast.Seat{Path: fmt.Sprint("/?id=", i)})
			}
			d.Publishers = []broadcast.Seat{{Path: "/?id=p0"}, {Path: "/?id=p1"}}
			return d, nil
		},
	}
	if change != nil {
		change(cfg)
	}
	r, err := cfg.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if name := Names.Lacks(r); name != "" {
		t.Errorf("%s is not available for thresholds", name)
	}
	return r
}

func all(_, _ string, m []byte) []byte { return m }

// The results of all workers are combined. The last recipient of a message is the last one among
// the clients of all workers.
func TestResultsOfWorkersAreCombined(t *testing.T) {
	lost, refused := 0, 0
	h := &hub{}
	h.change = func(client, from string, m []byte) []byte {
		_, seq, _ := bytes.Cut(bytes.TrimSuffix(m, []byte(" x")), []byte(" "))
		switch number := string(seq); {
		case strings.HasSuffix(number, "7") || strings.HasSuffix(number, "4"):
			// Messages of both publishers are refused: only the publisher gets a response.
			if client != from {
				return nil
			}
			refused++
			return []byte("no " + number)
		case len(number) > 1 && number[len(number)-1] == '2' && (client == "1" || client == "5"):
			lost++
			return nil
		case client == "0":
			// This client of the first worker gets messages later than all clients of the second.
			conn, late := h.clients["0"], bytes.Clone(m)
			time.AfterFunc(60*time.Millisecond, func() {
				h.mu.Lock()
				defer h.mu.Unlock()
				_ = conn.WriteMessage(websocket.TextMessage, late)
			})
			return nil
		}
		return m
	}
	r := hold(t.Context(), t, h, func(c *Config) { c.Drain = 5 * time.Second })
	h.mu.Lock()
	defer h.mu.Unlock()
	publish := r.Operations[slices.IndexFunc(r.Operations, func(o report.Operation) bool { return o.Name == "publish" })]
	if r.Audit.Missed != lost || lost == 0 || publish.Refused != refused || refused == 0 || r.Audit.Duplicated != 0 {
		t.Errorf("%d lost and %d refused, found %d and %d; %+v", lost, refused, r.Audit.Missed, publish.Refused, r.Audit)
	}
	if r.Latency.Count != r.Deliveries || r.Deliveries < 4*r.Messages/2 || r.Messages < 20 || r.Connections.Open != 6 {
		t.Errorf("%d timed of %d deliveries of %d messages, %d open", r.Latency.Count, r.Deliveries, r.Messages, r.Connections.Open)
	}
	if r.Last == nil || r.Last.P50 < 60 || r.Latency.P50 >= r.Last.P50 {
		t.Errorf("the latency of the last recipient is %+v, of all %+v", r.Last, r.Latency)
	}
	if g := r.Generator; g.Busy <= 0 || g.Lag.Count < r.Messages || g.Workers != 2 {
		t.Errorf("the generator is %+v", g)
	}
	sent, open := int64(0), 0
	for _, s := range r.Series {
		sent, open = sent+s.Messages, max(open, s.Open)
	}
	if sent < r.Messages || open != 6 {
		t.Errorf("%d of %d messages are in the seconds, %d connections open", sent, r.Messages, open)
	}
}

// The number of clients that stop reading is the configured one for all workers together.
func TestStalledClientsAreSpreadOverTheWorkers(t *testing.T) {
	r := hold(t.Context(), t, &hub{change: all}, func(c *Config) { c.Scenario, c.Stalled, c.Part, c.Duration = "slow", 2, time.Second, 2*time.Second })
	if r.Audit.Stalled.People != 2 || r.Deliveries != 4*r.Messages || r.Audit.Lost() != 0 {
		t.Errorf("%+v, %d deliveries of %d messages", r.Audit.Stalled, r.Deliveries, r.Messages)
	}
}

// A changed message counts as a failure of its own kind, for every worker and client. It is not
// timed and not counted as any other kind.
func TestChangedMessagesFailTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(stamp, seq string) string
		text string // %d is the number of harmed deliveries
	}{
		"a larger stamp":    {func(stamp, seq string) string { return "9" + stamp + " " + seq }, "%d deliveries with a stamp that nobody sent"},
		"a smaller stamp":   {func(stamp, seq string) string { return stamp[1:] + " " + seq }, "%d deliveries with a stamp that nobody sent"},
		"no time":           {func(_, seq string) string { return "0 " + seq }, "%d deliveries with a stamp that nobody sent"},
		"a number too high": {func(stamp, _ string) string { return stamp + " 77777777" }, "%d deliveries of messages that nobody sent in this run"},
	} {
		t.Run(name, func(t *testing.T) {
			harmed := 0
			h := &hub{}
			h.change = func(client, _ string, m []byte) []byte {
				stamp, rest, _ := strings.Cut(string(m), " ")
				seq, _, _ := strings.Cut(rest, " ")
				if n := len(seq); n < 2 || seq[n-1] != '5' || client[0] == 'p' {
					return m
				}
				harmed++
				return []byte(c.harm(stamp, seq) + " x")
			}
			r := hold(t.Context(), t, h, nil)
			err := r.Judge(&report.Limits{})
			h.mu.Lock()
			defer h.mu.Unlock()
			a := &r.Audit
			// The changed message replaces a real one, which counts as missed.
			if err != nil || a.Forged+a.Foreign != harmed || a.Missed != a.Foreign || a.Duplicated+a.Reordered != 0 || harmed == 0 {
				t.Errorf("%d deliveries changed, found %+v", harmed, a)
			}
			if want := fmt.Sprintf(c.text, harmed); r.ExitCode() != report.ExitFailed || !slices.Contains(r.Verdict.Failures, want) {
				t.Errorf("the failures are %q, want %q", r.Verdict.Failures, want)
			}
			if r.Latency.Max > 5000 || r.Latency.Count != r.Deliveries {
				t.Errorf("the latency is %+v for %d deliveries", r.Latency, r.Deliveries)
			}
		})
	}
}

// A server that refuses all clients is not measured. The report contains the reason once.
func TestAServerThatRefusesEverybodyIsReported(t *testing.T) {
	hello := &hub{
		clients: map[string]*websocket.Conn{},
		change:  func(_, _ string, m []byte) []byte { return append([]byte("\n\x00sesame, "), m...) },
	}
	for name, c := range map[string]struct {
		server http.Handler
		change func(*Endpoint)
		text   string
	}{
		"silence":             {http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), nil, "accepts connections and does not respond: 2 of 2 wait"},
		"not a WebSocket":     {http.NotFoundHandler(), nil, "refused with status 404"},
		"not an event stream": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("x")) }), func(d *Endpoint) { d.Stream = true }, "not an event stream"},
		"echoed secrets": {http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Content-Type", r.Header.Get("X-Key")) }), func(d *Endpoint) {
			d.Stream, d.Dialect.Headers = true, []string{"X-Key: sesame"}
		}, `answer is not an event stream: it is "***"`},
		"an unexpected message": {hello, func(d *Endpoint) {
			d.Dialect.Ready, d.Dialect.Hello, d.Dialect.Headers = "^welcome", "let me in", []string{"X-Key: sesame"}
		}, `matches --ready ^welcome; the last was "  ***, ***"`},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(c.server)
			defer srv.Close()
			defer srv.CloseClientConnections()
			drain := time.Second
			if name == "not a WebSocket" {
				drain = time.Hour // the error comes at once, because another attempt would not help
			}
			_, err := (&Config{
				Target: &server.Target{}, Scenario: "fanout", Subscribers: 1, Publishing: Publishing{Publishers: 1, Rate: 100}, Duration: time.Second, Drain: drain,
				Prepare: func(context.Context, int, int) (*Endpoint, error) {
					address := srv.Listener.Addr().String()
					d := &Endpoint{Address: address, Host: address, Subscribers: []broadcast.Seat{{Path: "/?id=1"}}, Publishers: []broadcast.Seat{{Path: "/?id=2"}}}
					d.Dialect = broadcast.Dialect{Send: "{{stamp}} {{seq}}", Match: `(?P<stamp>\d+) (?P<seq>\d+)`}
					if c.change != nil {
						c.change(d)
					}
					return d, nil
				},
			}).Run(t.Context())
			if err == nil || !strings.HasPrefix(err.Error(), "nobody could connect: ") || !strings.Contains(err.Error(), c.text) {
				t.Errorf("the error is %v, want one that contains %q", err, c.text)
			}
		})
	}
}

// Connections that were open and then closed are reported as such.
func TestConnectionsThatEndedAreReported(t *testing.T) {
	h, delivered := &hub{}, 0
	h.change = func(client, _ string, m []byte) []byte {
		if delivered++; delivered == 200 {
			h.end()
		}
		return m
	}
	r := hold(t.Context(), t, h, nil)
	err := r.Judge(&report.Limits{})
	if want := "6 connections had ended and could not be opened again"; err != nil || !slices.Contains(r.Verdict.Failures, want) || r.Connections.Gone != 6 {
		t.Errorf("the connections are %+v, the failures %q", r.Connections, r.Verdict.Failures)
	}
}

// If the server's memory shrank by more than its connections used, the report states that the
// memory per connection is unknown.
func TestUnmeasurableMemoryIsReportedAsSuch(t *testing.T) {
	var reads atomic.Int64
	for name, c := range map[string]struct {
		change int64
		text   string
	}{"fell": {-1 << 20, "cannot be determined with so few connections"}, "grew": {6 << 20, "1.0 MiB"}} {
		reads.Store(0)
		r := hold(t.Context(), t, &hub{change: all}, func(cfg *Config) {
			prepare := cfg.Prepare
			cfg.Scenario, cfg.Publishers, cfg.Rest = "idle", 0, 30*time.Millisecond
			began := time.Now()
			cfg.Prepare = func(ctx context.Context, subscribers, publishers int) (*Endpoint, error) {
				d, err := prepare(ctx, subscribers, publishers)
				d.Publishers = nil
				return d, err
			}
			cfg.Target.Usage = func() (server.Usage, error) {
				u := server.Usage{RSS: 100 << 20}
				if n := reads.Add(1); n == 1 && time.Since(began) < cfg.Rest {
					t.Error("the server without clients was measured before the wait had ended")
				} else if n > 1 {
					u.RSS += c.change
				}
				return u, nil
			}
		})
		var text bytes.Buffer
		if err := r.Text(&text, report.Style{}); err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`(?m)^memory per connection +` + c.text).Match(text.Bytes()) {
			t.Errorf("%s: the report is %s", name, text.Bytes())
		}
	}
}

// If a run is interrupted before anything is measured, its report has no duration.
func TestARunInterruptedBeforeItBeganHasNoDuration(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	if r := hold(ctx, t, &hub{change: all}, func(c *Config) { c.Warmup, c.Duration = 10*time.Second, time.Minute }); !r.Interrupted || r.Duration != 0 || r.Messages != 0 {
		t.Errorf("interrupted %v, %v s, %d messages", r.Interrupted, r.Duration, r.Messages)
	}
}

// The clock difference of remote workers is reported, even if it is close to zero.
func TestTheReportHasTheClocksOfRemoteWorkers(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	address, done := make(chan string, 1), make(chan error, 1)
	const secret = "a secret of tests only"
	go func() {
		done <- workers.Listen(ctx, "127.0.0.1:0", secret, func(a net.Addr) { address <- a.String() }, func(net.Addr, error) {})
	}()
	plan := workers.Plan{Remote: []string{<-address}, Secret: secret}
	r := hold(ctx, t, &hub{change: all}, func(c *Config) { c.Plan = plan })
	if i := slices.IndexFunc(r.Figures, func(f report.Figure) bool { return f.Key == "clock_error_ms" }); i < 0 || r.Figures[i].Value > 100 {
		t.Errorf("the figures are %+v", r.Figures)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A worker that dies ends the run early.
func TestADeadWorkerEndsTheRun(t *testing.T) {
	h := &hub{change: all, clients: map[string]*websocket.Conn{}}
	srv := httptest.NewServer(h)
	defer srv.Close()
	defer srv.CloseClientConnections()
	// The run must end because of the worker, not because of this timeout.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	_, err := (&Config{
		Target: &server.Target{}, Scenario: "idle", Subscribers: 2, Duration: time.Hour, Drain: time.Second,
		Plan: workers.Plan{Processes: 2, Binary: "/bin/sh", Args: []string{"-c", `"$0" worker & sleep 1; kill $!`, os.Args[0]}},
		Prepare: func(context.Context, int, int) (*Endpoint, error) {
			seats := []broadcast.Seat{{Path: "/?id=1"}, {Path: "/?id=2"}}
			return &Endpoint{Address: srv.Listener.Addr().String(), Host: "x", Subscribers: seats}, nil
		},
	}).Run(ctx)
	if err == nil || ctx.Err() != nil {
		t.Errorf("the run ended with %v, its context with %v", err, ctx.Err())
	}
}

func TestStagesAndPartsDivideARun(t *testing.T) {
	r := &run{cfg: &Config{Stalled: 1, Part: time.Second, Duration: 8 * time.Second, Publishing: Publishing{Warmup: 2 * time.Second, Stages: Stages{
		{During: 3 * time.Second, Rate: 1}, {During: time.Second, Rate: 2}, {During: time.Second, Rate: 3},
	}}}, from: 2 * time.Second, until: 6 * time.Second}
	if s := r.stages(); s[0].During != 5*time.Second || s[1].During != time.Second || s[2].During != 4*time.Second {
		t.Errorf("the stages are %+v", s)
	}
	parts := r.parts()
	for i, p := range parts {
		if p.Stalled != (i%2 == 1) || p.From != r.from+time.Duration(i)*time.Second || p.Until != p.From+time.Second {
			t.Errorf("part %d is %+v", i, p)
		}
	}
	if len(parts) != 4 {
		t.Errorf("there are %d parts, want 4", len(parts))
	}
	r.cfg.Stalled, r.until = 0, 10*time.Second
	from := r.from
	for i, p := range r.parts() {
		until := []time.Duration{5, 6, 10}[i] * time.Second
		if p.Kind != i || p.Stalled || p.From != from || p.Until != until {
			t.Errorf("stage %d is %+v", i, p)
		}
		from = p.Until
	}
	for all := range 20 {
		for workers := 1; workers < 6; workers++ {
			next := 0
			for w := range workers {
				first, count := share(all, workers, w)
				if first != next || count < all/workers || count > all/workers+1 {
					t.Errorf("of %d clients for %d workers, one gets %d from %d", all, workers, count, first)
				}
				next += count
			}
			if next != all {
				t.Errorf("of %d clients for %d workers, %d are assigned", all, workers, next)
			}
		}
	}
}

// The metrics of a run include all its events and its end.
func TestMetricsOfARunIncludeItsEvents(t *testing.T) {
	meter := &timeline.Meter{}
	at, stop, err := timeline.Serve("127.0.0.1:0", meter)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	metered := func() string {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Get("http://" + at.String() + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	meanwhile := ""
	h := &hub{change: func(_, _ string, m []byte) []byte { return m }}
	r := hold(t.Context(), t, h, func(c *Config) {
		c.Duration, c.Meter = 4*time.Second, meter
		c.Progress = func(p Progress) {
			if p.Open == 6 && !strings.Contains(meanwhile, "connections_open 6\n") {
				meanwhile = metered()
			}
		}
	})
	sent, delivered := int64(0), int64(0)
	for _, s := range r.Series {
		sent, delivered = sent+s.Messages, delivered+s.Deliveries
	}
	if !strings.Contains(meanwhile, "atelier_bench_connections_open 6\n") {
		t.Errorf("during the run, the metrics do not show 6 open connections: %s", meanwhile)
	}
	for _, line := range []string{
		fmt.Sprintf("atelier_bench_messages_sent_total %d\n", sent), fmt.Sprintf("atelier_bench_deliveries_total %d\n", delivered),
		fmt.Sprintf("atelier_bench_delivery_latency_seconds_count %d\n", r.Latency.Count), "atelier_bench_connections_open 0\n",
	} {
		if text := metered(); !strings.Contains(text, line) {
			t.Errorf("the metrics lack %q: %s", line, text)
		}
	}
}
