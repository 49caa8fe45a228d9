package powercut

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"atelier/persistence/powercut"
)

// item is something that the server acknowledged, with the data to find it again.
type item struct {
	Kind    string `json:"kind"`              // a row in the table of kinds
	Codelab string `json:"codelab,omitempty"` // the codelab that contains it
	Key     string `json:"key"`               // unique within its kind
	// At is the item's path, and Content is the text that the response must contain.
	At      string `json:"at,omitempty"`
	Content string `json:"content,omitempty"`
	// Until is the item's expiry time, in seconds since 1970. 0 means never.
	Until int64 `json:"until,omitempty"`
}

func (i item) name() string { return i.Kind + " " + i.Codelab + "/" + i.Key }

// step is a record of the load in the trace.
type step struct {
	Did  string `json:"did"` // one of the constants
	Item item   `json:"item"`
}

const (
	added    = "added"    // acknowledged
	removing = "removing" // request in flight
	removed  = "removed"  // acknowledged
)

func (s step) encode() []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // impossible, because a step contains only strings and a number
	}
	return b
}

// expectation states which items must exist and which must be gone after a cut.
type expectation struct {
	there, gone []item
}

// expect reads the load's records in the trace. Items acknowledged before the cut must exist,
// unless a request that can remove them was in flight before reach. Items acknowledged as removed
// must be gone. Items in a codelab that is being removed can be present or gone.
func expect(t powercut.Trace, point, reach int) (expectation, error) {
	type fate struct {
		item           item
		removing, gone bool
	}
	fates := map[string]*fate{}
	steps, err := stepsOf(t[:reach])
	if err != nil {
		return expectation{}, err
	}
	for _, i := range slices.Sorted(maps.Keys(steps)) {
		s := steps[i]
		switch f := fates[s.Item.name()]; {
		case s.Did == added && i < point:
			fates[s.Item.name()] = &fate{item: s.Item}
		case f == nil:
		case s.Did == removing:
			f.removing = true
		case s.Did == removed && i < point:
			f.gone = true
		}
	}
	var e expectation
	for _, f := range fates {
		if lab := fates[codelabItem(f.item.Codelab).name()]; lab != nil && lab.removing {
			continue // the codelab itself is a separate item
		}
		switch {
		case f.gone:
			e.gone = append(e.gone, f.item)
		case !f.removing:
			e.there = append(e.there, f.item)
		}
	}
	byName := func(a, b item) int { return strings.Compare(a.name(), b.name()) }
	slices.SortFunc(e.there, byName)
	slices.SortFunc(e.gone, byName)
	return e, nil
}

// stepsOf returns the load's records in a trace, by position.
func stepsOf(t powercut.Trace) (map[int]step, error) {
	steps := map[int]step{}
	for i, op := range t {
		if op.Kind != powercut.Note {
			continue
		}
		var s step
		if err := json.Unmarshal(op.Data, &s); err != nil {
			return nil, fmt.Errorf("note %d: %w", i, err)
		}
		steps[i] = s
	}
	return steps, nil
}

func codelabItem(id string) item { return item{Kind: "codelab", Key: id} }
