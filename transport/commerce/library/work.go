package library

import (
	"errors"
	"strconv"
	"strings"

	"atelier/transport/commerce/document"
)

// Limits of holding one value against one schema.
const (
	// maxWork is how many times a schema may be applied to some part of the
	// value. A large payload against the checkout takes some hundred thousand.
	maxWork = 20_000_000
	// maxPairs bounds the memory of finding that out.
	maxPairs = 2_000_000
)

// ErrTooMuchWork is a schema whose recursion multiplies with every level of a
// value: thirty levels are enough to keep a validator busy for years.
var ErrTooMuchWork = errors.New("holding this value against this schema would take too long")

// work counts how often schemas are applied to parts of a value. What is known
// of a pair of schema and part is not counted through again, so that the
// count itself stays small where the work would not.
type work struct {
	library *Library
	known   map[pair]int
	active  map[pair]bool
}

type pair struct {
	schema spot
	part   string
}

// CheckWork says whether a value can be held against a target in reasonable
// time. It errs on the side of more work: every branch counts as taken.
func (l *Library) CheckWork(target Target, value any) error {
	if target.Resource == nil {
		return nil
	}
	w := &work{l, map[pair]int{}, map[pair]bool{}}
	_, err := w.count(spot{target.Resource, target.Pointer}, target.Value, "", value)
	return err
}

func (w *work) count(at spot, schema any, part string, value any) (int, error) {
	node, ok := schema.(map[string]any)
	if !ok {
		return 1, nil
	}
	p := pair{at, part}
	if n, ok := w.known[p]; ok {
		return n, nil
	}
	if w.active[p] || len(w.known) > maxPairs {
		return 0, ErrTooMuchWork
	}
	w.active[p] = true
	defer delete(w.active, p)
	sum := 1
	var failed error
	add := func(next spot, schema any, part string, value any) {
		if failed != nil {
			return
		}
		n, err := w.count(next, schema, part, value)
		if sum += n; err == nil && sum > maxWork {
			err = ErrTooMuchWork
		}
		failed = err
	}
	if ref, ok := node["$ref"].(string); ok {
		if t, err := w.library.Resolve(at.resource.At(at.pointer), ref); err == nil && t.Resource != nil {
			add(spot{t.Resource, t.Pointer}, t.Value, part, value)
		}
	}
	Subschemas(node, func(pointer string, place Place, child any) {
		next := spot{at.resource, at.pointer + pointer}
		switch place {
		case Same:
			add(next, child, part, value)
		case Inside:
			inside(pointer, value, func(step string, inner any) { add(next, child, part+"/"+step, inner) })
		}
	})
	if failed != nil {
		return 0, failed
	}
	w.known[p] = sum
	return sum, nil
}

// inside visits the parts of a value a subschema may be applied to: for a
// property the one of that name, for all else every member or item.
func inside(pointer string, value any, visit func(step string, part any)) {
	switch v := value.(type) {
	case map[string]any:
		if token, ok := strings.CutPrefix(pointer, "/properties/"); ok {
			name := document.Unescape(token)
			if inner, ok := v[name]; ok {
				visit(name, inner)
			}
			return
		}
		for name, inner := range v {
			visit(name, inner)
		}
	case []any:
		for i, inner := range v {
			visit(strconv.Itoa(i), inner)
		}
	}
}
