//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fasthttp/websocket"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"atelier/bench/report"
)

// hall is a server with another protocol. A client that has sent "enter alice" receives a reply
// and then every message from any client. A deaf hall omits every third message. If showsOut is
// set, it disconnects one listener. A mute hall forwards nothing.
type hall struct {
	mu       sync.Mutex
	in       map[*websocket.Conn]bool
	deaf     bool
	mute     bool
	showsOut bool
	n        int
}

func (h *hall) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Key") != "sesame" {
		w.WriteHeader(401)
		return
	}
	upgrader := websocket.Upgrader{}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer ws.Close()
	defer func() { h.mu.Lock(); defer h.mu.Unlock(); delete(h.in, ws) }()
	for {
		_, p, err := ws.ReadMessage()
		if err != nil {
			return
		}
		h.mu.Lock()
		if string(p) == "enter\nalice" {
			h.in[ws] = true
			_ = ws.WriteMessage(websocket.TextMessage, []byte("welcome"))
		} else {
			for c := range h.in {
				if h.showsOut && c != ws && h.n > 30 {
					h.showsOut = false
					delete(h.in, c)
					_ = c.Close()
					continue
				}
				if h.n++; h.mute || h.deaf && h.n%3 == 0 {
					continue
				}
				_ = c.WriteMessage(websocket.BinaryMessage, append([]byte("said: "), p...))
			}
		}
		h.mu.Unlock()
	}
}

// runAgainst runs the command against the hall and returns its exit code and report.
func runAgainst(t *testing.T, h *hall, args ...string) (int, map[string]any, string) {
	t.Helper()
	h.in = map[*websocket.Conn]bool{}
	srv := httptest.NewServer(h)
	defer srv.Close()
	defer srv.CloseClientConnections()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if !slices.ContainsFunc(args, func(arg string) bool { return arg == "--duration" || arg == "--stages" }) {
		args = append(args, "--duration", "1s")
	}
	code := run(append([]string{
		args[0], "--generic", "--url", strings.Replace(srv.URL, "http", "ws", 1) + "/x", "--header", "X-Key: sesame", "--hello", `enter\nalice`, "--ready", "^welcome$",
		"--send", "{{stamp}}:{{seq}}:{{pad}}", "--match", `said: (?P<stamp>\d+):(?P<seq>\d+):`,
		"--connect", "0s", "--settle", "0s", "--drain", "30s", "--allow-lag", "--max-busy", "0",
		"--json", at("json"), "--csv", at("csv"), "--html", at("html"), "--hdr", at("hdr"), "--junit", at("junit"),
	}, args[1:]...))
	for _, name := range []string{"json", "csv", "html", "hdr", "junit"} {
		if info, err := os.Stat(at(name)); err != nil || info.Size() == 0 {
			t.Fatalf("%s was not written: %v", name, err)
		}
	}
	b, err := os.ReadFile(at("json"))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("sesame")) {
		t.Error("the report contains a header's value")
	}
	return code, got, string(b)
}

func TestAnyServerCanBeMeasured(t *testing.T) {
	t.Parallel()
	code, r, text := runAgainst(t, &hall{}, "fanout", "--subscribers", "5", "--publishers", "2", "--rate", "50", "--warmup", "100ms", "--size", "80",
		"--threshold", "deliveries>=50", "--threshold", "p99<10s")
	if code != 0 || r["lost"] != 0.0 || r["deliveries"].(float64) < 50 || r["deliveries"] != 5*r["messages"].(float64) || r["valid"] != true {
		t.Errorf("the run ended with %d: %.2000s", code, text)
	}
	conforms(t, text)
}

// conforms verifies that a report conforms to its schema.
func conforms(t *testing.T, text string) {
	t.Helper()
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", schema); err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err == nil {
		err = c.MustCompile("schema.json").Validate(v)
	}
	if err != nil {
		t.Error(err)
	}
}

// A search reports the highest rate, which can have a threshold. The number of messages per step
// limits the accuracy of the search, and a late generator sends fewer messages than the rate
// requires. The test therefore compares the found rate with the actual steps.
func TestTheSearchFindsTheHighestRate(t *testing.T) {
	long(t, "bench/fanout proves the search")
	t.Parallel()
	search := []string{"fanout", "--subscribers", "2", "--find-max", "--rate", "80", "--regular", "--warmup", "0s", "--duration", "1s", "--threshold", "messages<=100"}
	code, r, text := runAgainst(t, &hall{}, append(search, "--threshold", "highest_messages_per_second>=90", "--threshold", "search.lowest_missed>=100")...)
	found, _ := r["search"].(map[string]any)
	steps, _ := found["steps"].([]any)
	kept, missed := 0.0, math.Inf(1)
	for _, one := range steps {
		step := one.(map[string]any)
		switch messages, rate := step["messages"].(float64), step["rate"].(float64); {
		case messages <= 100 && step["outcome"] == "kept":
			kept = max(kept, rate)
		case messages > 100 && step["outcome"] == "missed":
			missed = min(missed, rate)
		default:
			t.Errorf("a step of %v messages has the outcome %v", messages, step["outcome"])
		}
	}
	if code != 0 || found["limited_by"] != "server" || found["highest_rate"] != kept || found["lowest_missed"] != missed || kept < 90 || kept > missed || missed > 1.1*kept || r["messages"].(float64) > 100 {
		t.Errorf("the run ended with %d: %v", code, found)
	}
	conforms(t, text)
	// There are too few steps for the threshold.
	code, r, text = runAgainst(t, &hall{}, append(search, "--steps", "1", "--threshold", "highest_messages_per_second>=90")...)
	if found, _ := r["search"].(map[string]any); code != 1 || found["limited_by"] != "steps" || !strings.Contains(fmt.Sprint(r["failures"]), "highest_messages_per_second>=90: it is 80") {
		t.Errorf("the run ended with %d: %v, %v", code, found, r["failures"])
	}
	conforms(t, text)
}

// The error of a pattern without a match contains the received text.
func TestPatternsWithoutAMatchShowTheReceivedText(t *testing.T) {
	fanout := []string{"fanout", "--subscribers", "2", "--rate", "50", "--warmup", "0s", "--size", "300", "--drain", "1s"}
	for name, c := range map[string]struct {
		flags []string
		text  string
		mute  bool
	}{
		"messages": {flags: []string{"--match", `heard: (?P<stamp>\d+):(?P<seq>\d+)`}, text: `no received text matches --match heard: (?P<stamp>\d+):(?P<seq>\d+); the first was "said: `},
		"answers":  {flags: []string{"--ack", `took (?P<seq>\d+)`}, text: `no received text matches --ack took (?P<seq>\d+)`},
		"nothing":  {mute: true, text: "no subscriber received anything: perhaps the server does not pass on what a client sends"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, r, _ := runAgainst(t, &hall{mute: c.mute}, slices.Concat(fanout, c.flags)...)
			failures := fmt.Sprint(r["failures"])
			if code != 1 || !strings.Contains(failures, c.text) || strings.Contains(failures, strings.Repeat("x", 200)) {
				t.Errorf("the run ended with %d: %s", code, failures)
			}
		})
	}
}

// Stages divide the measured time, each with its own latencies.
func TestStagesAreMeasuredSeparately(t *testing.T) {
	t.Parallel()
	code, r, text := runAgainst(t, &hall{}, "fanout", "--subscribers", "3", "--regular", "--warmup", "200ms", "--stages", "600ms@50,500ms@100")
	parts, _ := r["parts"].([]any)
	if code != 0 || r["duration_seconds"].(float64) < 1.1 || len(parts) != 2 {
		t.Fatalf("the run ended with %d: %.2000s", code, text)
	}
	all := 0.0
	for i, want := range []struct {
		name  string
		count float64
	}{{"50/s", 3 * 30}, {"100/s", 3 * 50}} {
		part := parts[i].(map[string]any)
		// A message at the border can count for either stage, and a late generator sends fewer
		// messages.
		count := part["latency"].(map[string]any)["count"].(float64)
		if part["name"] != want.name || count <= 0 || count > want.count+3 {
			t.Errorf("stage %v has %v deliveries, want %v with at most %v", part["name"], count, want.name, want.count)
		}
		all += count
	}
	if whole := r["deliveries"].(float64); all > whole+3 || all < whole/2 {
		t.Errorf("the stages have %v deliveries, the whole run %v", all, whole)
	}
}

func TestMissedThresholdsAndLossFail(t *testing.T) {
	fanout := []string{"fanout", "--subscribers", "3", "--rate", "50", "--warmup", "0s", "--size", "0"}
	inParallel(t, "a missed threshold", func(t *testing.T) {
		if code, r, _ := runAgainst(t, &hall{}, slices.Concat(fanout, []string{"--threshold", "p99<1us"})...); code != 1 || r["passed"] != false {
			t.Errorf("the run ended with %d", code)
		}
	})
	inParallel(t, "a deaf server", func(t *testing.T) {
		// The run waits the whole time for messages that never arrive.
		code, r, _ := runAgainst(t, &hall{deaf: true}, slices.Concat(fanout, []string{"--drain", "3s"})...)
		if sent := r["messages"].(float64) * 3; code != 1 || r["lost"].(float64) < sent/4 || r["lost"].(float64) > sent/2 {
			t.Errorf("the run ended with %d: %v of %v lost", code, r["lost"], sent)
		}
	})
	inParallel(t, "a threshold of an operation that did not occur", func(t *testing.T) {
		if code, _, _ := runAgainst(t, &hall{}, slices.Concat(fanout, []string{"--threshold", "resume.p99<1s"})...); code != 1 {
			t.Errorf("the run ended with %d, want 1", code)
		}
	})
}

// inParallel runs a part of a test in parallel. A measurement mostly waits and needs little
// processor time.
func inParallel(t *testing.T, name string, part func(*testing.T)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		part(t)
	})
}

// long skips a test that measures for seconds unless LONG_TESTS=1 is set. Its second parameter
// names the test that covers the same behaviour in every run.
func long(t *testing.T, _ string) {
	if os.Getenv("LONG_TESTS") == "" {
		t.Skip("runs with LONG_TESTS=1 only")
	}
}

// Missed messages of a client that the server has disconnected are a failure, unless a threshold
// allows them.
func TestMessagesMissedWhileDisconnectedFailTheRun(t *testing.T) {
	fanout := []string{"fanout", "--subscribers", "3", "--rate", "200", "--warmup", "0s"}
	for bound, want := range map[string]int{"lost==0": 1, "away<=1000": 0, "away<=1": 1} {
		inParallel(t, bound, func(t *testing.T) {
			code, r, text := runAgainst(t, &hall{showsOut: true}, slices.Concat(fanout, []string{"--threshold", bound})...)
			if audit := r["audit"].(map[string]any); code != want || r["lost"] != 0.0 || audit["away"].(float64) < 2 {
				t.Errorf("the run ended with %d: %.2000s", code, text)
			}
		})
	}
}

func TestOtherScenariosWorkWithAnyServer(t *testing.T) {
	// No client sends anything, so nothing was timed. That does not count as 0 ms.
	inParallel(t, "a latency without samples", func(t *testing.T) {
		if code, _, text := runAgainst(t, &hall{}, "idle", "--connections", "2", "--threshold", "p99<1ms"); code != 1 {
			t.Errorf("the run ended with %d: %.1000s", code, text)
		}
	})
	inParallel(t, "idle", func(t *testing.T) {
		if code, r, text := runAgainst(t, &hall{}, "idle", "--connections", "7"); code != 0 || r["connections"].(map[string]any)["open"] != 7.0 {
			t.Errorf("the run ended with %d: %.1000s", code, text)
		}
	})
	inParallel(t, "reconnect", func(t *testing.T) {
		code, r, text := runAgainst(t, &hall{}, "reconnect", "--subscribers", "4", "--every", "1s", "--spread", "90ms", "--duration", "1100ms", "--rate", "500")
		if resumed, _ := r["operations"].(map[string]any)["resume"].(map[string]any); code != 0 || resumed["done"] != 4.0 || r["audit"].(map[string]any)["away"] == nil {
			t.Errorf("the run ended with %d: %.2000s", code, text)
		}
	})
	inParallel(t, "slow", func(t *testing.T) {
		if code, _, text := runAgainst(t, &hall{}, "slow", "--subscribers", "4", "--stalled", "25", "--part", "1s", "--duration", "2s", "--rate", "50"); code != 0 {
			t.Errorf("the run ended with %d: %.2000s", code, text)
		}
	})
}

// Other programs can read the schema.
func TestSchemaIsPrinted(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stdout
	os.Stdout = w
	code := run([]string{"schema"})
	os.Stdout = old
	_ = w.Close()
	b, err := io.ReadAll(r)
	if err != nil || code != 0 || !json.Valid(b) || !bytes.Contains(b, []byte(`"deliveries"`)) {
		t.Errorf("exit code %d, %v: %.100s", code, err, b)
	}
}
