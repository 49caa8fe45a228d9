package report

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTheJUnitFileContainsEachCheck(t *testing.T) {
	limits := Limits{MaxLag: 10 * time.Millisecond, Thresholds: []Threshold{must(t, "p99<100ms"), must(t, "p50<1ms"), must(t, "lost==0")}}
	r := sample()
	r.Operations, r.Restarts, r.About = nil, nil, `1000 <attendees> & "more"`
	r.Audit.Missed, r.Audit.Forged = 3, 2
	r.Generator.Lag.P99 = 50
	if err := r.Judge(&limits); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "junit.xml")
	if err := r.WriteJUnit(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got junitSuites
	if err := xml.Unmarshal(b, &got); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	s := got.Suites[0]
	if s.Name != "atelier-bench.workshop" || s.Tests != 4 || s.Failures != 3 || s.Errors != 0 || s.Time != "30.004" || s.Timestamp != "2026-01-02T03:04:05" {
		t.Errorf("the suite is %+v", s)
	}
	for i, want := range []struct{ name, failure, out string }{
		{"run", "2 deliveries with a stamp that nobody sent", r.About},
		{"p99<100ms", "", "it is 17.89 ms"},
		{"p50<1ms", "p50<1ms: it is 6.02 ms", "it is 6.02 ms"},
		{"lost==0", "lost==0: it is 3", "it is 3"},
	} {
		c := s.Cases[i]
		failure := ""
		if c.Failure != nil {
			failure = c.Failure.Message
		}
		if c.Name != want.name || failure != want.failure || c.Out != want.out || c.Class != s.Name {
			t.Errorf("case %d: %+v, failure %q", i, c, failure)
		}
	}

	// An invalid run is an error, and a threshold without a measurement fails.
	r = sample()
	r.Operations, r.Restarts = nil, nil
	r.Generator.Lag.P99 = 50
	if err := r.Judge(&Limits{MaxLag: 10 * time.Millisecond, Thresholds: []Threshold{must(t, "nothing<1ms")}}); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteJUnit(path); err != nil {
		t.Fatal(err)
	}
	b, err = os.ReadFile(path)
	got = junitSuites{}
	if err == nil {
		err = xml.Unmarshal(b, &got)
	}
	if s := got.Suites; err != nil || s[0].Errors != 1 || s[0].Failures != 1 || s[0].Cases[0].Error == nil || s[0].Cases[1].Failure == nil {
		t.Errorf("the JUnit file of an invalid run: %v\n%s", err, b)
	}
}
