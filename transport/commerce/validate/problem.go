package validate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"atelier/transport/commerce/document"
)

// maxProblems bounds what is said about one value.
const maxProblems = 100

// Problem is one thing wrong with a value.
type Problem struct {
	// Pointer is where, as a JSON Pointer into the value.
	Pointer string
	// Message says what, without the place.
	Message string
}

func (p Problem) String() string {
	if p.Pointer == "" {
		return p.Message
	}
	return p.Pointer + ": " + p.Message
}

// problems reads the tree of a validator as a list: the leaves, each once.
// Where a value fits none of several shapes, the shape it comes nearest to
// speaks, since the others would complain of what it never tried to be.
func problems(root *jsonschema.ValidationError) []Problem {
	list := collect(root)
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Message, b.Message))
	})
	list = slices.Compact(list)
	return list[:min(len(list), maxProblems)]
}

func collect(e *jsonschema.ValidationError) []Problem {
	at := document.Pointer(e.InstanceLocation...)
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		return nearest(e, at)
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return nearest(e, at)
		}
		return []Problem{{at, "fits more than one of the shapes of which it may have one"}}
	case *kind.Not:
		return []Problem{{at, "has a shape that is ruled out"}}
	case *kind.PropertyNames:
		inner := collectAll(e.Causes)
		if len(inner) == 0 {
			return []Problem{{at, "has a member it may not have: " + quote(k.Property)}}
		}
		return []Problem{{at, "member name " + quote(k.Property) + " " + inner[0].Message}}
	}
	if len(e.Causes) > 0 {
		return collectAll(e.Causes)
	}
	return []Problem{{at, say(e.ErrorKind)}}
}

func collectAll(causes []*jsonschema.ValidationError) (list []Problem) {
	for _, c := range causes {
		list = append(list, collect(c)...)
		if len(list) > 4*maxProblems {
			break
		}
	}
	return list
}

// nearest gives the problems of the shape a value comes nearest to.
func nearest(e *jsonschema.ValidationError, at string) []Problem {
	var best []Problem
	var kinds []string
	for _, c := range e.Causes {
		list := collect(c)
		if t := wantedType(c); t != "" {
			kinds = append(kinds, t)
			continue
		}
		if best == nil || distance(list, at) < distance(best, at) {
			best = list
		}
	}
	if best != nil {
		return best
	}
	slices.Sort(kinds)
	return []Problem{{at, "must be " + strings.Join(slices.Compact(kinds), " or ")}}
}

// distance ranks how far a value is from a shape: problems with the value
// itself weigh more than problems deep inside it.
func distance(list []Problem, at string) int {
	d := 0
	for _, p := range list {
		if d++; p.Pointer == at {
			d += 10
		}
	}
	return d
}

// wantedType is the type a shape wants when that is all that is wrong.
func wantedType(e *jsonschema.ValidationError) string {
	for len(e.Causes) == 1 {
		e = e.Causes[0]
	}
	if k, ok := e.ErrorKind.(*kind.Type); ok && len(e.Causes) == 0 {
		return article(k.Want)
	}
	return ""
}
