package schema

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxProblems bounds the problems reported about one value.
const maxProblems = 100

// Problem is a fault of a value.
type Problem struct {
	// Pointer is the position in the value, as a JSON Pointer.
	Pointer string
	// Message describes the problem, without the position.
	Message string
}

func (p Problem) String() string {
	if p.Pointer == "" {
		return p.Message
	}
	return p.Pointer + ": " + p.Message
}

// problems returns the leaves of a validator's tree as a list without duplicates. If a value
// matches none of several shapes, only the problems with the nearest shape are listed, because
// problems with other shapes would mislead.
func problems(root *jsonschema.ValidationError, value any) []Problem {
	r := reader{value, map[int]map[string]string{}}
	list := r.read(root)
	for i := range list {
		list[i].Message = BriefMessage(list[i].Message)
	}
	sortProblems(list)
	list = slices.Compact(list)
	return list[:min(len(list), maxProblems)]
}

func sortProblems(list []Problem) {
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Message, b.Message))
	})
}

// reader reads the errors about one value.
type reader struct {
	value any
	// holders has, per depth and member, the pointer of the first object with this member.
	holders map[int]map[string]string
}

func (r reader) read(e *jsonschema.ValidationError) []Problem {
	at := Pointer(e.InstanceLocation...)
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		return r.nearest(e, at)
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return r.nearest(e, at)
		}
		return []Problem{{at, "matches more than one of the shapes, but must match exactly one"}}
	case *kind.Not:
		return []Problem{{at, "matches a shape that is not allowed"}}
	case *kind.PropertyNames:
		return []Problem{{r.holder(len(e.InstanceLocation), k.Property), r.memberName(e, k.Property)}}
	}
	if len(e.Causes) > 0 {
		return r.readAll(e.Causes)
	}
	return []Problem{{at, describeFailure(e.ErrorKind)}}
}

func (r reader) memberName(e *jsonschema.ValidationError, name string) string {
	inner := r.readAll(e.Causes)
	if len(inner) == 0 {
		return "has a member that is not allowed: " + quote(name)
	}
	return "member name " + quote(name) + " " + inner[0].Message
}

// holder returns the pointer of the first object that has a member, among the objects at a depth.
// The validator's own path to a wrong name cannot be used: it shares memory with the path of the
// walk, and is overwritten before it is read. Only its depth is correct.
func (r reader) holder(depth int, member string) string {
	byMember, ok := r.holders[depth]
	if !ok {
		byMember = map[string]string{}
		r.holders[depth] = byMember
		collect("", r.value, depth, byMember)
	}
	return byMember[member]
}

// collect records the members of objects at a depth of a value, each with the first such object in
// the order of names.
func collect(at string, value any, depth int, byMember map[string]string) {
	switch v := value.(type) {
	case map[string]any:
		if depth == 0 {
			for name := range v {
				if _, ok := byMember[name]; !ok {
					byMember[name] = at
				}
			}
			return
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			collect(at+Pointer(name), v[name], depth-1, byMember)
		}
	case []any:
		for i, item := range v {
			if depth > 0 {
				collect(at+"/"+strconv.Itoa(i), item, depth-1, byMember)
			}
		}
	}
}

func (r reader) readAll(causes []*jsonschema.ValidationError) (list []Problem) {
	for _, c := range causes {
		list = append(list, r.read(c)...)
		if len(list) > 4*maxProblems {
			break
		}
	}
	return list
}

// nearest returns the problems of the shape that is nearest to the value. If the value has the
// wrong type for every shape, it returns one problem with the types of all shapes.
func (r reader) nearest(e *jsonschema.ValidationError, at string) []Problem {
	var best []Problem
	var kinds []string
	for _, c := range e.Causes {
		if t := wantedType(c, len(e.InstanceLocation)); t != "" {
			kinds = append(kinds, t)
			continue
		}
		list := r.read(c)
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

// distance returns how far a value is from a shape: problems of the value itself weigh more than
// problems deep inside it.
func distance(list []Problem, at string) int {
	d := 0
	for _, p := range list {
		if d++; p.Pointer == at {
			d += 10
		}
	}
	return d
}

// wantedType returns the type that a shape requires, if the only problem is the type of the value
// itself. depth is the depth of this value. Otherwise wantedType returns "".
func wantedType(e *jsonschema.ValidationError, depth int) string {
	for len(e.Causes) == 1 {
		e = e.Causes[0]
	}
	if k, ok := e.ErrorKind.(*kind.Type); ok && len(e.Causes) == 0 && len(e.InstanceLocation) == depth {
		return article(k.Want)
	}
	return ""
}
