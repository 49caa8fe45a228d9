package powercut

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

const aFile, aFolder = syscall.S_IFREG | 0o600, syscall.S_IFDIR | 0o700

func page(text string) []byte { return bytes.Repeat([]byte(text), PageBytes) }

// states returns the states of a folder after cuts at the end of a trace, with 400 seeds. A state
// has "name=contents" for each file, with one letter per page.
func states(t Trace, order Order) []string {
	seen := map[string]bool{}
	for seed := range uint64(400) {
		f := t.Rebuild(Cut{Point: len(t), Seed: seed, Order: order})
		var all []string
		for name, number := range f.files[0].names {
			text := name + "="
			for data := f.files[number].data; len(data) > 0; data = data[min(PageBytes, len(data)):] {
				one := bytes.TrimLeft(data[:min(PageBytes, len(data))], "\x00")
				if len(one) == 0 {
					one = []byte("0")
				}
				text += string(one[:1])
			}
			all = append(all, text)
		}
		slices.Sort(all)
		seen[strings.Join(all, " ")] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

func TestStatesAfterAPowerCut(t *testing.T) {
	create := Op{Kind: Create, File: 1, Name: "a", Size: aFile}
	other := Op{Kind: Create, File: 2, Name: "b", Size: aFile}
	write := Op{Kind: Write, File: 1, Data: page("x")}
	sync, names := Op{Kind: Sync, File: 1}, Op{Kind: SyncFolder}
	failed, failedNames := Op{Kind: Sync, File: 1, Failed: true}, Op{Kind: SyncFolder, Failed: true}
	rename := Op{Kind: Rename, File: 2, Name: "b", NewName: "a"}
	for name, c := range map[string]struct {
		trace     Trace
		journaled []string
		unordered []string // nil if the states are the same as with Journaled
	}{
		"a synced file without a synced name": {Trace{create, write, sync}, []string{"", "a=x"}, nil},
		"a synced name of an unsynced file":   {Trace{create, write, names}, []string{"a=", "a=x"}, nil},
		"all synced":                          {Trace{create, write, sync, names}, []string{"a=x"}, nil},
		"a write is torn by pages": {
			Trace{create, sync, names, {Kind: Write, File: 1, Data: append(page("x"), page("y")...)}},
			[]string{"a=", "a=0y", "a=x", "a=xy"}, nil},
		"a write that overlaps pages is torn where they meet": {
			Trace{create, names, {Kind: Truncate, File: 1, Size: 2 * PageBytes}, sync, {Kind: Write, File: 1, Offset: PageBytes - 1, Data: []byte("xy")}},
			[]string{"a=00", "a=0y", "a=x0", "a=xy"}, nil},
		"a failed sync makes nothing durable":       {Trace{create, names, write, failed}, []string{"a=", "a=x"}, nil},
		"no later sync makes up for a failed one":   {Trace{create, names, write, failed, sync}, []string{"a=", "a=x"}, nil},
		"a write after a failed sync can be synced": {Trace{create, names, failed, write, sync}, []string{"a=x"}, nil},
		"a failed sync of a folder keeps no name":   {Trace{create, failedNames}, []string{"", "a="}, nil},
		"a later sync of a folder makes up for it":  {Trace{create, failedNames, names, failedNames}, []string{"a="}, nil},
		"names are journaled in order": {
			Trace{create, other}, []string{"", "a=", "a= b="}, []string{"", "a=", "a= b=", "b="}},
		"a synced folder includes earlier changes elsewhere": {
			Trace{{Kind: Mkdir, File: 3, Name: "d", Size: aFolder}, {Kind: Create, File: 1, Folder: 3, Name: "a", Size: aFile}, {Kind: SyncFolder, File: 3}},
			[]string{"d="}, []string{"", "d="}},
		"a rename is complete or absent": {
			Trace{create, write, sync, other, names, rename}, []string{"a=", "a=x b="}, nil},
		"a removed name can reappear": {
			Trace{create, names, {Kind: Unlink, File: 1, Name: "a"}}, []string{"", "a="}, nil},
		"a removal does not overtake a name": {
			Trace{create, write, sync, names, other, {Kind: Unlink, File: 1, Name: "a"}}, []string{"a=x", "a=x b=", "b="}, nil},
		"a truncation does not overtake a name": {
			Trace{create, write, sync, names, other, {Kind: Truncate, File: 1}}, []string{"a= b=", "a=x", "a=x b="}, nil},
		"a link is a second name": {
			Trace{create, write, sync, names, {Kind: Link, File: 1, Name: "b"}, names, {Kind: Unlink, File: 1, Name: "a"}, names}, []string{"b=x"}, nil},
		"a truncation can be lost": {
			Trace{create, write, sync, names, {Kind: Truncate, File: 1}}, []string{"a=", "a=x"}, nil},
		"an allocation that keeps the size changes nothing": {
			Trace{create, names, {Kind: Allocate, File: 1, Offset: 9}}, []string{"a="}, nil},
		"an allocation can make a file longer": {
			Trace{create, names, {Kind: Allocate, File: 1, Size: PageBytes}, sync}, []string{"a=0"}, nil},
	} {
		if c.unordered == nil {
			c.unordered = c.journaled
		}
		for order, want := range map[Order][]string{Journaled: c.journaled, Unordered: c.unordered} {
			if got := states(c.trace, order); !slices.Equal(got, want) {
				t.Errorf("%s (%s): %q, want %q", name, order, got, want)
			}
		}
	}
}

// Data in mapped memory can be on disk before a sync, but not before an earlier call of the
// program.
func TestMappedWritesCanReachTheDiskEarly(t *testing.T) {
	mapped := Op{Kind: Write, File: 1, Mapped: true, Data: page("x")}
	before := Trace{{Kind: Create, File: 1, Name: "a", Size: aFile}, {Kind: SyncFolder}}
	for name, c := range map[string]struct {
		behind Trace
		reach  []int
	}{
		"mapped":            {Trace{mapped, {Kind: Sync, File: 1}}, []int{2, 3}},
		"written":           {Trace{{Kind: Write, File: 1, Data: page("x")}}, []int{2}},
		"after a call":      {Trace{{Kind: Create, File: 2, Name: "b", Size: aFile}, mapped}, []int{2}},
		"after a note":      {Trace{{Kind: Note}, mapped}, []int{2}},
		"two mapped writes": {Trace{mapped, mapped}, []int{2, 3, 4}},
	} {
		seen := map[int]bool{}
		for seed := range uint64(100) {
			f := append(slices.Clone(before), c.behind...).Rebuild(Cut{Point: len(before), Seed: seed})
			seen[f.Reach] = true
			if got := len(f.files[1].data) > 0; got != (f.Reach > len(before)) {
				t.Errorf("%s: content %t, reach %d", name, got, f.Reach)
			}
		}
		if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, c.reach) {
			t.Errorf("%s: reaches %v, want %v", name, got, c.reach)
		}
	}
}

// randomTrace draws calls that a disk could have recorded.
func randomTrace(t *rapid.T) Trace {
	var trace Trace
	names := map[string]uint32{}
	next := uint32(0)
	for range rapid.IntRange(1, 60).Draw(t, "calls") {
		name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")
		file, ok := names[name]
		if !ok {
			next++
			names[name] = next
			trace = append(trace, Op{Kind: Create, File: next, Name: name, Size: aFile})
			continue
		}
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			delete(names, name)
			trace = append(trace, Op{Kind: Unlink, File: file, Name: name})
		case 1:
			delete(names, name)
			names["d"] = file
			trace = append(trace, Op{Kind: Rename, File: file, Name: name, NewName: "d"})
		case 2:
			trace = append(trace, Op{Kind: Truncate, File: file, Size: int64(rapid.IntRange(0, 9000).Draw(t, "size"))})
		case 3:
			trace = append(trace, Op{Kind: Sync, File: file})
		case 4:
			trace = append(trace, Op{Kind: SyncFolder})
		default:
			data := bytes.Repeat([]byte{byte(len(trace))}, rapid.IntRange(1, 9000).Draw(t, "bytes"))
			trace = append(trace, Op{Kind: Write, File: file, Offset: int64(rapid.IntRange(0, 9000).Draw(t, "offset")), Data: data})
		}
	}
	return trace
}

// A trace that ends with syncs of everything has only one result, for any seed.
func TestSyncedDataSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trace := randomTrace(t)
		point := len(trace)
		for file := range uint32(point) {
			trace = append(trace, Op{Kind: Sync, File: file + 1})
		}
		trace = append(trace, Op{Kind: SyncFolder})
		want := trace.Rebuild(Cut{Point: len(trace)})
		for seed := range uint64(4) {
			got := trace.Rebuild(Cut{Point: len(trace), Seed: seed, Order: Order(seed % 2)})
			if !maps.Equal(got.files[0].names, want.files[0].names) || len(got.Unsynced) > 0 {
				t.Fatalf("names %v, want %v, unsynced %q", got.files[0].names, want.files[0].names, got.Unsynced)
			}
			for name, file := range want.files[0].names {
				if !bytes.Equal(got.files[file].data, want.files[file].data) {
					t.Fatalf("%s differs", name)
				}
			}
		}
	})
}

// The same cut always yields the same folder, even from a trace that was written to a file and read
// again. A failure can therefore be reproduced.
func TestTheSameCutYieldsTheSameFolder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trace := randomTrace(t)
		var b bytes.Buffer
		if err := trace.Encode(&b); err != nil {
			t.Fatal(err)
		}
		again, err := Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		cut := Cut{Point: rapid.IntRange(0, len(trace)).Draw(t, "point"), Seed: rapid.Uint64().Draw(t, "seed"), Order: Order(rapid.IntRange(0, 1).Draw(t, "order"))}
		one, two := trace.Rebuild(cut), again.Rebuild(cut)
		if fmt.Sprint(one.Unsynced) != fmt.Sprint(two.Unsynced) || !maps.Equal(one.files[0].names, two.files[0].names) {
			t.Fatalf("the first cut leaves %q unsynced, the second %q", one.Unsynced, two.Unsynced)
		}
	})
}

func TestMakeWritesTheRebuiltFiles(t *testing.T) {
	trace := Trace{
		{Kind: Mkdir, File: 1, Name: "d", Size: aFolder},
		{Kind: Create, File: 2, Folder: 1, Name: "a", Size: aFile},
		{Kind: Write, File: 2, Offset: 3 * PageBytes, Data: []byte("end")},
		{Kind: Link, File: 2, Folder: 1, Name: "b"},
		{Kind: Create, File: 3, Name: "socket", Size: syscall.S_IFSOCK | 0o600},
		{Kind: Sync, File: 2}, {Kind: SyncFolder, File: 1}, {Kind: SyncFolder},
	}
	to := filepath.Join(t.TempDir(), "made")
	if err := trace.Rebuild(Cut{Point: len(trace)}).Make(to); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(to, "d/b"))
	if err != nil || len(b) != 3*PageBytes+3 || string(b[3*PageBytes:]) != "end" {
		t.Errorf("the file has %d bytes, %v", len(b), err)
	}
	one, _ := os.Stat(filepath.Join(to, "d/a"))
	two, _ := os.Stat(filepath.Join(to, "d/b"))
	if !os.SameFile(one, two) || one.Mode() != 0o600 {
		t.Errorf("the names are not one file of mode 0600: %v", one.Mode())
	}
	if entries, _ := os.ReadDir(to); len(entries) != 1 {
		t.Errorf("the folder contains %v", entries)
	}
}

func FuzzDecode(f *testing.F) {
	var b bytes.Buffer
	if err := (Trace{{Kind: Create, File: 1, Name: "a", Size: aFile}}).Encode(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, in []byte) {
		if _, err := Decode(bytes.NewReader(in)); err == nil && len(in) == 0 {
			t.Error("an empty input was accepted as a trace")
		}
	})
}
