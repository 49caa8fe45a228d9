package powercut

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"text/tabwriter"

	"atelier/cmd/internal/servertest"
	"atelier/persistence/powercut"
)

var (
	live     = flag.Bool("live", false, "record on a mounted disk, and let it fail; otherwise replay the traces in testdata")
	toRecord = flag.Bool("record", false, "record the traces of testdata again")
	points   = flag.Int("points", 60, "number of power cuts to try")
	point    = flag.Int("point", -1, "try only this power cut, of the trace in testdata or of the last live run")
	seed     = flag.Uint64("seed", 1, "decides which unsynced changes survive; in a live run it also decides the load")
	oneFault = flag.String("fault", "", "try only this fault, with its name in the table")
	last     = flag.String("last", "", "a folder where a live run keeps its traces, so that a point can be repeated")
)

// variants lists the places where a server stores files.
var variants = []struct {
	name   string
	shared bool
}{{"local", false}, {"shared", true}}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	servertest.Remove()
	os.Exit(code)
}

func binary(t *testing.T, shared bool) *program {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the binary")
	}
	path, err := servertest.Build()
	if err != nil {
		t.Fatal(err)
	}
	return &program{path, shared}
}

// The test cuts the power at points of a trace. The server that starts on the remaining data must
// have everything that was acknowledged before the cut.
func TestPowerCuts(t *testing.T) {
	seen := map[place]int{}
	acknowledged := map[string]int{}
	for i, v := range variants {
		p := binary(t, v.shared)
		trace := traceOf(t, v.name, p, acknowledged)
		for at, n := range places(trace) {
			seen[at] += n
		}
		n := *points / len(variants)
		var cuts []powercut.Cut
		for k := range n {
			s := *seed*1000 + uint64(k)
			r := rand.New(rand.NewPCG(s, uint64(i)))
			cuts = append(cuts, powercut.Cut{Point: 1 + (k*len(trace)+r.IntN(len(trace)))/n, Seed: s, Order: powercut.Order(k % 2)})
		}
		if *point >= 0 {
			if *point > len(trace) {
				continue
			}
			cuts = []powercut.Cut{{Point: *point, Seed: *seed, Order: powercut.Order(*seed % 2)}}
		}
		checked, refused := 0, 0
		inParallel(cuts, func(c powercut.Cut) {
			verdict, err := tryCut(p, trace, c, t.TempDir())
			if err != nil {
				t.Errorf("%s, %+v: %v", v.name, c, err)
			} else if len(verdict.wrong) > 0 {
				t.Errorf("%s\n%s", v.name, verdict.story())
			} else if *point >= 0 {
				t.Logf("%s\n%s  everything is correct\n", v.name, verdict.story())
			}
			checks.Lock()
			defer checks.Unlock()
			checked += verdict.checked
			if verdict.refused != "" {
				refused++
			}
		})
		t.Logf("%s: %d calls, %d power cuts, %d items checked, %d refusals that led to a recovery", v.name, len(trace), len(cuts), checked, refused)
	}
	if *point >= 0 {
		return
	}
	for _, w := range missing(seen) {
		t.Error(w)
	}
	for _, k := range kindsOfItems {
		for _, did := range []string{added, removed} {
			if acknowledged[did+" "+k.name] == 0 && (did == added || k.remove != nil) {
				t.Errorf("no %s was %s", k.name, did)
			}
		}
	}
	t.Logf("calls by kind of file:\n%s", table(seen))
}

var checks sync.Mutex

// recorded contains the traces of this run.
var recorded = map[string]powercut.Trace{}

// canLive reports whether a live run was requested and is possible on this machine.
var canLive = sync.OnceValue(func() bool {
	if !*live {
		return false
	}
	at, err := os.MkdirTemp("", "atelier-powercut-*")
	if err == nil {
		var disk *powercut.Disk
		if disk, err = powercut.Mount(at); err == nil {
			err = disk.Unmount()
		}
		_ = os.Remove(at)
	}
	if err != nil {
		fmt.Printf("cannot mount a disk, so only the recorded traces are replayed, without faults: %v\n", err)
	}
	return err == nil
})

// traceOf records a trace, or reads the recorded one.
func traceOf(t *testing.T, name string, p *program, acknowledged map[string]int) powercut.Trace {
	t.Helper()
	path := filepath.Join("testdata", name+".trace")
	if run := filepath.Join(*last, name+".trace"); *last != "" {
		if _, err := os.Stat(run); err == nil || canLive() {
			path = run
		}
	}
	if trace, ok := recorded[name]; ok {
		count(t, trace, acknowledged)
		return trace
	}
	if (canLive() || *toRecord) && *point < 0 {
		trace, l, err := recordTrace(p, t.TempDir(), *seed)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.refused) > 0 {
			t.Errorf("the server refused %d requests, the first was %s", len(l.refused), l.refused[0])
		}
		if *toRecord || *last != "" {
			var b bytes.Buffer
			if err := trace.Encode(&b); err != nil {
				t.Fatal(err)
			}
			if b.Len() > 1<<20 {
				t.Errorf("the trace has %d bytes", b.Len())
			}
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		recorded[name] = trace
		count(t, trace, acknowledged)
		return trace
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	trace, err := powercut.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	count(t, trace, acknowledged)
	return trace
}

// count adds up the load's records in a trace.
func count(t *testing.T, trace powercut.Trace, acknowledged map[string]int) {
	t.Helper()
	steps, err := stepsOf(trace)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		acknowledged[s.Did+" "+s.Item.Kind]++
	}
}

// Each kind of call fails in each way on each kind of file.
func TestServerSurvivesDiskFaults(t *testing.T) {
	if !canLive() {
		t.Skip("needs -live and a disk that can be mounted")
	}
	fired := map[string]int{}
	acknowledged, refusals := 0, 0
	for _, v := range variants {
		p := binary(t, v.shared)
		trace := traceOf(t, v.name, p, map[string]int{})
		plans := plansFor(places(trace), *seed)
		if v.shared { // the other plans ran without a shared store
			plans = onlyShared(plans)
		}
		if *oneFault != "" {
			plans = slices.DeleteFunc(plans, func(pl plan) bool { return pl.String() != *oneFault })
		}
		inParallel(plans, func(pl plan) {
			o, err := tryFault(p, pl, t.TempDir(), t.TempDir())
			// Some calls are rare, such as the removal of a table after a compaction. On a busy
			// machine, they need more steps.
			for _, steps := range []int{120, 480} {
				if err == nil && o.fired == 0 {
					pl.nth, pl.steps, pl.stays = 0, steps, false
					o, err = tryFault(p, pl, t.TempDir(), t.TempDir())
				}
			}
			checks.Lock()
			defer checks.Unlock()
			switch {
			case err != nil:
				t.Errorf("%s after %d calls (stays: %t): %v", pl, pl.nth, pl.stays, err)
			case len(o.wrong) > 0:
				t.Errorf("%s after %d calls (stays: %t, seed %d), occurred %d times\n%s", pl, pl.nth, pl.stays, pl.seed, o.fired, o.story())
			}
			fired[pl.String()] += o.fired
			acknowledged += o.acknowledged
			refusals += len(o.refusals)
		})
	}
	var b bytes.Buffer
	for _, name := range sortedNames(fired) {
		fmt.Fprintf(&b, "%6d  %s\n", fired[name], name)
		if fired[name] == 0 {
			t.Errorf("the fault %s never occurred", name)
		}
	}
	t.Logf("%d requests acknowledged, %d starts refused; how often each fault occurred:\n%s", acknowledged, refusals, &b)
}

// inParallel tries all cases, two concurrently.
func inParallel[T any](all []T, try func(T)) {
	work := make(chan T)
	var done sync.WaitGroup
	for range 2 {
		done.Go(func() {
			for one := range work {
				try(one)
			}
		})
	}
	for _, one := range all {
		work <- one
	}
	close(work)
	done.Wait()
}

func table(seen map[place]int) string {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	file := ""
	for _, p := range sortedPlaces(seen) {
		if p.file != file {
			file = p.file
			fmt.Fprintf(w, "\n%s\t", file)
		}
		fmt.Fprintf(w, "%s %d\t", p.call, seen[p])
	}
	_ = w.Flush()
	return b.String()
}
