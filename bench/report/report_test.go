package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"atelier/bench/audit"
	"atelier/bench/latency"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sample returns a run with every field set.
func sample() *Result {
	return &Result{
		Scenario: "workshop", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Command: []string{"atelier-bench", "workshop"},
		Environment: map[string]string{"go": "go1.26"}, Seed: 42, About: "1000 attendees, 2 facilitators", Subject: "chat delivery",
		Attendees: 1000, Facilitators: 2, Joined: 1000, Warmup: 2, Duration: 30.004,
		Latency: latency.Summary{Count: 300000, P50: 6.02, P90: 9.84, P99: 17.89, P999: 42.43, Max: 47.9}, DeliveriesPerSecond: 9920,
		Messages: 300, Deliveries: 300000, Last: &latency.Summary{Count: 300, P50: 9, P90: 11, P99: 20, P999: 47.9, Max: 47.9},
		Figures: []Figure{{"bytes_per_connection", "memory per connection", 3_900, "bytes"}, {"pairs_per_second", "pairs", 9812.5, "per second"}},
		Series:  []Sample{{Second: -1, Phase: "connecting", Open: 500}, {Second: 0, Phase: "warm-up", Messages: 10, Deliveries: 10000, P50: 6, P99: 20, Max: 50, Open: 1000, CPU: 0.2, RSS: 80 << 20, Generator: 0.05, Counts: histogram(6, 20, 50)}},
		Counts:  histogram(6, 7, 8, 18, 47),
		Events:  340094, Acked: 2965,
		Operations: []Operation{
			{Name: "register", Latency: latency.Summary{Count: 1000, P50: 1.94, P90: 3.31, P99: 9.33, P999: 9.92, Max: 10.41}, Done: 1000},
			{Name: "help", Latency: latency.Summary{Count: 29, P50: 1.92, P90: 2.38, P99: 4.89, P999: 4.89, Max: 4.89}, Done: 30, Refused: 1, Unanswered: 2, Complaint: "status 500: oops"},
		},
		Audit: Audit{Stalled: Stalled{People: 50, Closed: 48, Resynced: 40, CaughtUp: 10}, Writes: map[string]audit.Writes{
			"chat": {Acknowledged: 300}, "comments": {Acknowledged: 30, Unanswered: 2, UnansweredApplied: 1},
		}},
		Disconnects: map[string]int{"close 1013": 48, "refused with status 403": 7},
		Restarts:    []Restart{{Ready: 90.6, Resumed: 638.7, AllResumed: true}, {Ready: 70, Resumed: 60000}},
		Generator: Generator{
			Lag: latency.Summary{Count: 2896, P50: 0.67, P90: 1.08, P99: 2.6, P999: 4.39, Max: 9.74},
			CPU: 0.07, Busy: 0.05, Seconds: 30.004,
		},
		Server: &Server{CPU: 0.12, RSS: 82 << 20, PeakRSS: 83 << 20},
	}
}

func histogram(ms ...int) *latency.Histogram {
	h := latency.New()
	for _, v := range ms {
		h.Record(time.Duration(v) * time.Millisecond)
	}
	return h
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; go test ./bench/report -update rewrites it. Got:\n%s", name, got)
	}
}

func TestTheTextReportIsUnchanged(t *testing.T) {
	for name, colour := range map[string]bool{"report.txt": false, "report-colour.txt": true} {
		r := sample()
		judge(t, r, &Limits{MaxLag: 10 * time.Millisecond, Thresholds: []Threshold{must(t, "p99<50ms"), must(t, "max<40ms")}})
		var b bytes.Buffer
		if err := r.Text(&b, Style{Colour: colour}); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
}

func TestTheJSONReportIsUnchanged(t *testing.T) {
	r := sample()
	judge(t, r, &Limits{})
	b, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report.json", b)
}

// Users' scripts read these names.
func TestKeysReadByScriptsExist(t *testing.T) {
	r := sample()
	r.Audit.Missed, r.Audit.Duplicated, r.Audit.Reordered = 1, 2, 3
	judge(t, r, &Limits{})
	b, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"lost": 1.0, "duplicated": 2.0, "reordered": 3.0, "p50": 6.02, "p90": 9.84, "p99": 17.89, "p999": 42.43, "max": 47.9,
		"deliveries": 300000.0, "deliveries_per_second": 9920.0, "attendees": 1000.0, "acked": 2965.0, "resyncs": 0.0, "kills": 2.0, "valid": true, "seed": 42.0,
	} {
		if got[key] != want {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
	generator, _ := got["generator"].(map[string]any)
	if generator["lag"] == nil || generator["cpu"] != 0.07 {
		t.Errorf("the generator is %v", generator)
	}
}

func TestVerdictsFollowFromTheResult(t *testing.T) {
	thresholds := Limits{MaxLag: 10 * time.Millisecond, MaxBusy: 0.95, Thresholds: []Threshold{must(t, "p99<100ms"), must(t, "p999<0.2s")}}
	passing := func() *Result {
		r := sample()
		r.Operations, r.Restarts = nil, nil
		return r
	}
	for name, c := range map[string]struct {
		harm func(*Result, *Limits)
		code int
		text string
	}{
		"nothing":      {func(*Result, *Limits) {}, ExitPassed, ""},
		"missed event": {func(r *Result, _ *Limits) { r.Audit.Missed = 1 }, ExitFailed, "1 lost"},
		"lost write":   {func(r *Result, _ *Limits) { r.Audit.Writes["chat"] = audit.Writes{Lost: 2} }, ExitFailed, "2 lost"},
		"allowed loss": {func(r *Result, t *Limits) {
			r.Audit.Missed, t.Thresholds = 3, []Threshold{{metric: "lost", operator: "<=", bound: 3, text: "lost<=3"}}
		}, ExitPassed, ""},
		"unpublished":     {func(r *Result, _ *Limits) { r.Audit.Unpublished = 1 }, ExitFailed, "1 lost"},
		"doubled write":   {func(r *Result, _ *Limits) { r.Audit.Writes["chat"] = audit.Writes{Doubled: 1} }, ExitFailed, "1 duplicated"},
		"reordered":       {func(r *Result, _ *Limits) { r.Audit.Reordered = 1 }, ExitFailed, "1 reordered"},
		"leak":            {func(r *Result, _ *Limits) { r.Audit.Misdirected = 1 }, ExitFailed, "1 event sent to the wrong people"},
		"forged":          {func(r *Result, _ *Limits) { r.Audit.Forged = 3 }, ExitFailed, "3 deliveries with a stamp"},
		"foreign":         {func(r *Result, _ *Limits) { r.Audit.Foreign = 2 }, ExitFailed, "2 deliveries of messages that nobody sent"},
		"away":            {func(r *Result, _ *Limits) { r.Audit.Away = 7 }, ExitFailed, "7 sent while a subscriber was away"},
		"away on purpose": {func(r *Result, _ *Limits) { r.Audit.Away, r.Audit.AwayMeant = 7, true }, ExitPassed, ""},
		"away and allowed": {func(r *Result, l *Limits) {
			r.Audit.Away, l.Thresholds = 7, []Threshold{must(t, "away<=7")}
		}, ExitPassed, ""},
		"phantom":        {func(r *Result, _ *Limits) { r.Audit.Writes["help"] = audit.Writes{Phantom: 1} }, ExitFailed, "1 write refused or never sent, but applied"},
		"resync":         {func(r *Result, _ *Limits) { r.Audit.Resyncs = 1 }, ExitFailed, "1 resync of somebody"},
		"missing people": {func(r *Result, _ *Limits) { r.Joined = 999 }, ExitFailed, "999 of 1000"},
		"slow":           {func(r *Result, _ *Limits) { r.Latency.P99 = 101 }, ExitFailed, "p99<100ms: it is 101"},
		"slow tail":      {func(r *Result, _ *Limits) { r.Latency.P999 = 201 }, ExitFailed, "p999<0.2s: it is 0.201 s"},
		"refusal":        {func(r *Result, _ *Limits) { r.Operations = []Operation{{Refused: 1}} }, ExitFailed, "1 operation refused"},
		"no answer":      {func(r *Result, _ *Limits) { r.Operations = []Operation{{Unanswered: 1}} }, ExitFailed, "unanswered"},
		"answer of a kill": {func(r *Result, _ *Limits) {
			r.Restarts, r.Operations = []Restart{{AllResumed: true}}, []Operation{{Unanswered: 1}}
		}, ExitPassed, ""},
		"not resumed":    {func(r *Result, _ *Limits) { r.Restarts = []Restart{{}} }, ExitFailed, "after kill 1"},
		"late generator": {func(r *Result, _ *Limits) { r.Generator.Lag.P99 = 11 }, ExitInvalid, "was late"},
		"allowed lag":    {func(r *Result, t *Limits) { r.Generator.Lag.P99, t.AllowLag = 11, true }, ExitPassed, ""},
		"full generator": {func(r *Result, _ *Limits) { r.Generator.Busy = 0.96 }, ExitInvalid, "was full"},
		"not connected":  {func(r *Result, _ *Limits) { r.Connections = &Connections{Wanted: 10, Open: 9} }, ExitFailed, "1 connection could not"},
		"hung up":        {func(r *Result, _ *Limits) { r.Connections = &Connections{Wanted: 10, Open: 6, Lost: 9, Gone: 4} }, ExitFailed, "4 connections had ended"},
		"no files": {func(r *Result, _ *Limits) {
			r.Connections, r.Generator.Unopened, r.Generator.Lack = &Connections{Wanted: 10, Open: 8}, 2, "too many open files"
		}, ExitInvalid, "2 connections are missing at the end: too many open files"},
		"shed":           {func(r *Result, _ *Limits) { r.Generator.Shed = 5 }, ExitInvalid, "5 planned operations"},
		"late and lossy": {func(r *Result, _ *Limits) { r.Generator.Lag.P99, r.Audit.Missed = 11, 1 }, ExitFailed, "1 lost"},
		"interrupted":    {func(r *Result, _ *Limits) { r.Interrupted, r.Joined = true, 5 }, ExitInterrupted, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, limits := passing(), thresholds
			c.harm(r, &limits)
			judge(t, r, &limits)
			if got := r.ExitCode(); got != c.code {
				t.Errorf("exit code %d, want %d", got, c.code)
			}
			reasons := strings.Join(slices.Concat(r.Verdict.Failures, r.Verdict.Invalid), "\n")
			if !strings.Contains(reasons, c.text) || c.text == "" && reasons != "" {
				t.Errorf("the failures are %q, want %q", reasons, c.text)
			}
		})
	}
}

func must(t *testing.T, text string) Threshold {
	t.Helper()
	parsed, err := ParseThreshold(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func judge(t *testing.T, r *Result, limits *Limits) {
	t.Helper()
	if err := r.Judge(limits); err != nil {
		t.Fatal(err)
	}
}

func TestThresholdsAreParsedAndJudged(t *testing.T) {
	for text, passes := range map[string]bool{
		"p99<50ms": true, "p99 < 17ms": false, "p99<=0.01789s": true, "max>=47.9": true, "max>47.9": false, "lost==0": true,
		"deliveries_per_second>=9000": true, "server.rss<=82MiB": true, "server.rss<82MiB": false, "server.cpu<15%": true,
		"help.p99<4ms": false, "operations.help.latency.p99<5ms": true, "generator.lag.p99<3ms": true, "last_recipient.p99<20.1ms": true,
		"pairs_per_second>=8000": true, "figures.bytes_per_connection.value<=4kB": true, "refused<=3": true, "refused<3": false,
	} {
		r := sample()
		r.Restarts = nil
		if err := r.Judge(&Limits{Thresholds: []Threshold{must(t, text)}}); err != nil {
			t.Error(err)
		}
		if len(r.Verdict.Checks) != 1 || r.Verdict.Checks[0].Passed != passes {
			t.Errorf("%s: the checks are %+v", text, r.Verdict.Checks)
		}
	}
	for _, text := range []string{"", "p99", "p99<", "<5", "p99<5 parsecs", "p99!5", "p99<fast", "p99<5ms and max<6ms"} {
		if _, err := ParseThreshold(text); err == nil {
			t.Errorf("%q is accepted as a threshold", text)
		}
	}
}

// A threshold without a measurement is missed, even if the report contains a 0.
func TestThresholdsWithoutAMeasurementAreMissed(t *testing.T) {
	for text, reason := range map[string]string{
		"p98<5ms": "no such number", "help.p99<5ms": "nothing was timed", "operations.help.latency.max<5ms": "nothing was timed",
		"p99<1ms": "nothing was timed", "last_recipient.p50<1ms": "no such number", "generator.lag.p99<1ms": "nothing was timed",
		"slowdown<10%": "no such number", "growth<1MiB": "no such number", "missing_connections==0": "no such number", "recovery<1s": "no such number",
	} {
		r := &Result{Scenario: "idle", Operations: []Operation{{Name: "help"}}}
		judge(t, r, &Limits{Thresholds: []Threshold{must(t, text)}})
		if want := text + ": "; r.ExitCode() != ExitFailed || len(r.Verdict.Failures) != 1 || !strings.HasPrefix(r.Verdict.Failures[0], want) || !strings.Contains(r.Verdict.Failures[0], reason) {
			t.Errorf("with %s, the run ended with %d: %q", text, r.ExitCode(), r.Verdict.Failures)
		}
	}
	// Counts are known even without timed operations.
	r := &Result{Scenario: "idle"}
	if judge(t, r, &Limits{Thresholds: []Threshold{must(t, "count==0")}}); r.ExitCode() != ExitPassed {
		t.Errorf("the failures are %q", r.Verdict.Failures)
	}
	// Parts without a memory measurement do not count as zero growth.
	r = &Result{Scenario: "slow", Parts: []Part{{}, {}}}
	if judge(t, r, &Limits{Thresholds: []Threshold{must(t, "growth<1MiB")}}); r.ExitCode() != ExitFailed {
		t.Error("a threshold of unmeasured memory passed")
	}
}

// The schema contains each field that a report can have, and allows no other.
func TestTheReportFollowsItsSchema(t *testing.T) {
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	full := sample()
	full.Connections, full.Audit.Away, full.Audit.Tokens = &Connections{}, 3, &Tokens{Raced: 1}
	full.Nodes = []Node{{Name: "n1", CPU: 0.5, RSS: 1, PeakRSS: 2, Deliveries: 3, CPUPerMillion: 4, Sent: 5, Received: 6, Bytes: 7}}
	full.Series[1].Nodes, full.Series[1].Fault = []NodeSample{{CPU: 0.5, RSS: 1}}, "cut:1-db"
	full.Restarts = append(full.Restarts, Restart{
		Fault: "cut", What: "cut:1-db", Nodes: []string{"n1"}, At: 3, Lasted: 10_000, Recovery: 1900, Recovered: true, Repeated: 2, Failed: 1, FailedBy: map[string]int{"help": 1},
	})
	full.Operations[0].Repeated, full.Operations[0].Failed = 2, 1
	full.Parts, full.Memory = []Part{{Name: "with"}}, []Weight{{Second: 1}}
	for name, r := range map[string]*Result{"full": full, "empty": {Scenario: "idle"}} {
		judge(t, r, &Limits{Thresholds: []Threshold{must(t, "p99<50ms")}})
		b, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(v); err != nil {
			t.Errorf("%s does not follow the schema: %v", name, err)
		}
	}
}

// An invalid run is marked as invalid in every output.
func TestEveryOutputShowsThatARunIsInvalid(t *testing.T) {
	r := sample()
	r.Generator.Lag.P99 = 11
	judge(t, r, &Limits{MaxLag: 10 * time.Millisecond})
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	var text bytes.Buffer
	for name, err := range map[string]error{
		"text": r.Text(&text, Style{}), "json": r.WriteJSON(at("json")), "csv": r.WriteCSV(at("csv")), "html": r.WriteHTML(at("html")), "hdr": r.WriteHDR(at("hdr")),
	} {
		out := text.Bytes()
		if name != "text" && err == nil {
			out, err = os.ReadFile(at(name))
		}
		if err != nil || !bytes.Contains(out, []byte("the generator was late")) {
			t.Errorf("%s: %v: the output does not show that the run is invalid: %.300s", name, err, out)
		}
	}
}

// An interrupted run does not pass, and neither does one whose threshold has no measurement.
func TestIncompleteRunsDoNotPass(t *testing.T) {
	cut := sample()
	cut.Operations, cut.Restarts, cut.Interrupted = nil, nil, true
	judge(t, cut, &Limits{})
	vague := sample()
	vague.Operations, vague.Restarts = nil, nil
	judge(t, vague, &Limits{Thresholds: []Threshold{must(t, "p98<5ms")}})
	for name, r := range map[string]*Result{"interrupted": cut, "vague": vague} {
		var b bytes.Buffer
		if err := r.Text(&b, Style{}); err != nil || strings.Contains(b.String(), "PASS") {
			t.Errorf("%s: an incomplete run passes: %v\n%s", name, err, b.String())
		}
	}
}

func TestCSVAndHDRContainTheCourseOfARun(t *testing.T) {
	r := sample()
	r.Zero = r.Started.Add(7 * time.Second)
	path := filepath.Join(t.TempDir(), "timeline")
	if err := r.WriteCSV(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report.csv", b)
	if err := r.WriteHDR(path); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := hdr.NewHistogramLogReader(f).NextIntervalHistogram()
	if err != nil || h.TotalCount() != 3 || h.Max()/1000 != 50 {
		t.Fatalf("the first interval of the log is %v, %v", h, err)
	}
	// The run began before its load, but seconds count from the load.
	if from := time.UnixMilli(h.StartTimeMs()); !from.Equal(r.Zero) {
		t.Errorf("the first interval of the log began at %v", from)
	}
}

// A cell is empty without a measurement, and 0 if 0 was measured.
func TestCellsWithoutMeasurementAreEmpty(t *testing.T) {
	r := &Result{Series: []Sample{
		{Phase: "connecting", Deliveries: 7},
		{Phase: "load", Generator: 0.1, RSS: 5, Goroutines: 3, Counts: histogram(0)},
	}}
	for want, open := range map[string]int{"\n0.000,connecting,0,7,,,,0,,,,,,,,\n": 0, "\n0.000,load,0,0,0.000,0.000,0.000,0,0,0.000,5,,3,0.000,0,0.100\n": 2} {
		r.Series[0].Open = open
		path := filepath.Join(t.TempDir(), "timeline")
		if err := r.WriteCSV(path); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%q is not in %q, %v", want, b, err)
		}
	}
}

// A count of one uses the singular, an absent number is omitted, and the subject of a run has one
// row.
func TestTheWordingOfAReportFitsItsNumbers(t *testing.T) {
	textOf := func(r *Result) string {
		var b bytes.Buffer
		if err := r.Text(&b, Style{}); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(b.String()), " ")
	}
	request := latency.Summary{Count: 7, P50: 1, P90: 1, P99: 1, P999: 1, Max: 1}
	for name, c := range map[string]struct {
		r        *Result
		want     string
		unwanted string
	}{
		"one":            {&Result{Connections: &Connections{Wanted: 1, Open: 1, Publishers: 1}}, "1 of 1 open, 1 publisher", "publishers"},
		"many":           {&Result{Connections: &Connections{Publishers: 2}}, "2 publishers", ""},
		"no socket loop": {&Result{}, "generator 0.00 cores", "socket loop"},
		"a socket loop":  {&Result{Generator: Generator{Turns: request}}, "busiest socket loop 0 % busy", ""},
		"one row":        {&Result{Subject: "request", Latency: request, Operations: []Operation{{Name: "request", Latency: request, Refused: 3, Unanswered: 4}}}, "request 7 1.00 1.00 1.00 1.00 1.00 3 4 generator", "4 request"},
		"two rows":       {&Result{Subject: "request", Latency: request, Operations: []Operation{{Name: "read", Latency: request}}}, "read 7", ""},
		"parts":          {&Result{Parts: []Part{{Latency: request}, {Latency: latency.Summary{Count: 5, P99: 1.5}}}}, "compared p99 +50 %, computed from 7 and 5 deliveries", "memory"},
		"heavy parts":    {&Result{Parts: []Part{{Highest: 1 << 20}, {Highest: 3 << 20}}}, "deliveries; highest memory +2 MiB", ""},
	} {
		if got := textOf(c.r); !strings.Contains(got, c.want) || c.unwanted != "" && strings.Contains(got, c.unwanted) {
			t.Errorf("%s: the report is %s", name, got)
		}
	}
}

// The page loads no other files, so that it opens without a network.
func TestThePageLoadsNoOtherFiles(t *testing.T) {
	r := sample()
	r.About, r.Command = "<script>alert(1)</script>", []string{"atelier-bench", "</pre><img src=x>"}
	judge(t, r, &Limits{})
	b, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("alert(1)</script>")) || bytes.Contains(b, []byte("<img")) {
		t.Error("the page runs a script from a name")
	}
	if m := regexp.MustCompile(`(?i)<(link|img|iframe|script)[^>]*(src|href)=|@import|url\(`).Find(b); m != nil {
		t.Errorf("the page loads %q", m)
	}
}
