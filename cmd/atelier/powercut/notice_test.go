package powercut

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier/persistence/powercut"
)

// The test removes the syncs of one kind of file from a trace, as if the server did not sync these
// files. At least one power cut must then show a loss.
func TestMissingSyncsAreDetected(t *testing.T) {
	if *live {
		t.Skip("this test needs the traces of testdata")
	}
	for file, shared := range map[string]bool{
		"write-ahead log": false, "table": false, "MANIFEST": false, "store's folder": false, "keys": false, "files": false, "code": false, "objects": true, "data folder": false,
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			p := binary(t, shared)
			trace := traceOf(t, map[bool]string{false: "local", true: "shared"}[shared], p, map[string]int{})
			careless := without(trace, file)
			for k := range 40 {
				cut := powercut.Cut{Point: len(careless) * (k%8 + 1) / 8, Seed: uint64(k), Order: powercut.Unordered}
				v, err := tryCut(p, careless, cut, t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				if len(v.wrong) > 0 || v.refused != "" {
					t.Logf("detected by power cut %d: %s %s", k+1, v.refused, slices.Concat(v.wrong, []string{""})[0])
					return
				}
			}
			t.Errorf("a missing sync of %s is not detected", file)
		})
	}
}

// without returns a trace without the syncs of a kind of file.
func without(trace powercut.Trace, file string) (careless powercut.Trace) {
	trace.At(func(_ int, op *powercut.Op, path string) {
		if sync := op.Kind == powercut.Sync || op.Kind == powercut.SyncFolder; !sync || fileKind(path) != file {
			careless = append(careless, *op)
		}
	})
	return careless
}

// The test covers the oracle: its expectations after a cut.
func TestExpectationsFollowTheNotesBeforeACut(t *testing.T) {
	lab, message := item{Kind: "codelab", Key: "l"}, item{Kind: "message", Codelab: "l", Key: "m"}
	var trace powercut.Trace
	for _, s := range []step{{added, lab}, {added, message}, {removing, message}, {removed, message}, {removing, lab}, {removed, lab}} {
		trace = append(trace, powercut.Op{Kind: powercut.Note, Data: s.encode()})
	}
	for point, want := range []struct{ there, gone []item }{
		{}, {there: []item{lab}}, {there: []item{lab, message}}, {there: []item{lab}}, {there: []item{lab}, gone: []item{message}}, {}, {gone: []item{lab}},
	} {
		e, err := expect(trace, point, point)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(e.there, want.there) || !slices.Equal(e.gone, want.gone) {
			t.Errorf("after %d notes, the expectation is %+v, want %+v", point, e, want)
		}
	}
	// The removal request may already have had an effect.
	if e, err := expect(trace, 2, 3); err != nil || !slices.Equal(e.there, []item{lab}) || len(e.gone) > 0 {
		t.Errorf("after the second note, the expectation is %+v, %v", e, err)
	}
	if _, err := expect(powercut.Trace{{Kind: powercut.Note, Data: []byte("{")}}, 1, 1); err == nil {
		t.Error("an invalid note is accepted")
	}
}

func TestMissingPowerCutsAreListed(t *testing.T) {
	all := map[place]int{}
	for _, k := range powercut.Kinds() {
		for _, f := range filesOnDisk {
			all[place{f.kind, k}] = 1
		}
	}
	if got := missing(all); len(got) > 0 {
		t.Errorf("nothing is missing, got %q", got)
	}
	for p := range all {
		if p.call == powercut.Rename || p.file == "mark" {
			delete(all, p)
		}
	}
	all[place{fileKind("data/strange"), powercut.Write}] = 1
	want := []string{"no call used a file of the kind mark", "no call was a rename", "unknown: data/strange: no kind of file matches it"}
	if got := slices.Sorted(slices.Values(missing(all))); !slices.Equal(got, want) {
		t.Errorf("missing are %q", got)
	}
}

// A recovery gives the store a new stream id. In an earlier version, the folder of shared objects
// then seemed to belong to another installation. The server refused to start with the very flag
// that its first refusal had recommended.
func TestARecoveryKeepsSharedFiles(t *testing.T) {
	if *live {
		t.Skip("this test needs the traces of testdata")
	}
	p := binary(t, true)
	trace := traceOf(t, "shared", p, map[string]int{})
	root := filepath.Join(t.TempDir(), "disk")
	if err := trace.Rebuild(powercut.Cut{Point: len(trace)}).Make(root); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dataIn(root), "store", "MANIFEST")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.start(dataIn(root)); !isRefusal(err) || !strings.Contains(err.Error(), recoverFlag) {
		t.Fatalf("starting without the MANIFEST: %v", err)
	}
	e, err := expect(trace, len(trace), len(trace))
	if err != nil {
		t.Fatal(err)
	}
	e.there = slices.DeleteFunc(e.there, func(it item) bool { return it.Kind == "token" })
	e.gone = nil // without the MANIFEST, removed items in old tables can reappear, and the log reports this
	for _, flags := range [][]string{{recoverFlag}, nil} {
		s, err := p.start(dataIn(root), flags...)
		if err != nil {
			t.Fatalf("the start with %q failed: %v", flags, err)
		}
		if wrong := newView(s).check(e); len(wrong) > 0 {
			t.Errorf("after a start with %q: %q", flags, wrong)
		}
		s.kill()
	}
}
