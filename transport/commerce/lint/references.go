package lint

import (
	"errors"
	"maps"
	"slices"
	"strconv"

	"atelier/transport/commerce/schema"
)

// references checks that every $ref and $dynamicRef of a schema resolves, and that a validator that
// follows them terminates.
func (s *subject) references() {
	schema.Walk(s.doc.Value, func(pointer string, node map[string]any) {
		for _, keyword := range []string{"$ref", "$dynamicRef"} {
			if ref, ok := node[keyword]; ok {
				s.reference(pointer, keyword, ref)
			}
		}
	})
	if cycle := s.costs.Check(s.res); cycle != nil {
		at := cycle.Pointer
		if cycle.Resource != s.res {
			at = ""
		}
		s.find("ref-cycle", at, "schema of "+cycle.Resource.Doc.File+"#"+cycle.Pointer+": "+cycle.Reason)
	}
}

// anyReferences checks that every $ref resolves, in a document in which schemas can be at any
// position.
func (s *subject) anyReferences() { s.anyBelow("", s.doc.Value) }

func (s *subject) anyBelow(pointer string, value any) {
	switch v := value.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			s.reference(pointer, "$ref", ref)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			s.anyBelow(pointer+"/"+schema.Escape(key), v[key])
		}
	case []any:
		for i, item := range v {
			s.anyBelow(pointer+"/"+strconv.Itoa(i), item)
		}
	}
}

func (s *subject) reference(pointer, keyword string, value any) {
	at := pointer + "/" + schema.Escape(keyword)
	ref, ok := value.(string)
	if !ok {
		s.find("ref-malformed", at, keyword+" is not a string")
		return
	}
	_, err := s.lib.Resolve(s.res.At(pointer), ref)
	if err == nil {
		return
	}
	code := "ref-missing"
	if e := (*schema.RefError)(nil); errors.As(err, &e) {
		switch e.Kind {
		case schema.RefMalformed:
			code = "ref-malformed"
		case schema.RefNoPlace:
			code = "ref-place"
		case schema.RefUnknown:
			code = "ref-unchecked"
		}
	}
	s.find(code, at, "reference "+err.Error())
}
