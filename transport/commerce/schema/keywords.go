package schema

import (
	"maps"
	"slices"
	"strconv"
)

// Place is the part of an instance to which a subschema applies.
type Place int

const (
	// Nowhere is a definition, which applies only through a reference.
	Nowhere Place = iota
	// Same is the instance to which the parent applies.
	Same
	// Inside is a member or an item of that instance.
	Inside
)

// shape is the way in which a keyword contains subschemas.
type shape int

const (
	single shape = iota
	list
	byName
)

// keyword is a keyword with subschemas.
type keyword struct {
	Place Place
	shape shape
}

// Named reports whether the subschemas have names or indices.
func (k keyword) Named() bool { return k.shape != single }

// keywords are all keywords of draft 2020-12 with subschemas, and definitions, the name of $defs in
// earlier drafts. The value of any other keyword is data, even if it looks like a schema.
var keywords = map[string]keyword{
	"$defs":                 {Nowhere, byName},
	"definitions":           {Nowhere, byName},
	"properties":            {Inside, byName},
	"patternProperties":     {Inside, byName},
	"dependentSchemas":      {Same, byName},
	"allOf":                 {Same, list},
	"anyOf":                 {Same, list},
	"oneOf":                 {Same, list},
	"prefixItems":           {Inside, list},
	"not":                   {Same, single},
	"if":                    {Same, single},
	"then":                  {Same, single},
	"else":                  {Same, single},
	"items":                 {Inside, single},
	"contains":              {Inside, single},
	"additionalProperties":  {Inside, single},
	"unevaluatedProperties": {Inside, single},
	"unevaluatedItems":      {Inside, single},
	"propertyNames":         {Inside, single},
	"contentSchema":         {Inside, single},
}

// Subschemas calls visit for every subschema directly under node, with its pointer from node, in a
// fixed order.
func Subschemas(node map[string]any, visit func(pointer string, place Place, child any)) {
	for _, key := range slices.Sorted(maps.Keys(node)) {
		keyword, ok := keywords[key]
		if !ok {
			continue
		}
		at := "/" + Escape(key)
		keyword.Each(node[key], func(token string, child any) {
			if keyword.Named() {
				visit(at+"/"+Escape(token), keyword.Place, child)
				return
			}
			visit(at, keyword.Place, child)
		})
	}
}

// Each calls visit for every subschema in the value of a keyword, with its member name or index.
// The token is "" if the value itself is the subschema.
func (k keyword) Each(value any, visit func(token string, child any)) {
	switch v := value.(type) {
	case map[string]any:
		if k.shape == single {
			visit("", v)
			return
		}
		if k.shape == byName {
			for _, name := range slices.Sorted(maps.Keys(v)) {
				visit(name, v[name])
			}
		}
	case []any:
		if k.shape == list {
			for i, child := range v {
				visit(strconv.Itoa(i), child)
			}
		}
	case bool:
		if k.shape == single {
			visit("", v)
		}
	}
}

// Map returns the value of a keyword with every subschema replaced. A keyword whose whole value is
// true or false stays unchanged.
func (k keyword) Map(value any, replace func(token string, child any) (any, error)) (any, error) {
	switch v := value.(type) {
	case map[string]any:
		if k.shape == single {
			return replace("", v)
		}
		if k.shape != byName {
			return v, nil
		}
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			c, err := replace(name, v[name])
			if err != nil {
				return nil, err
			}
			out[name] = c
		}
		return out, nil
	case []any:
		if k.shape != list {
			return v, nil
		}
		out := make([]any, len(v))
		for i, child := range v {
			c, err := replace(strconv.Itoa(i), child)
			if err != nil {
				return nil, err
			}
			out[i] = c
		}
		return out, nil
	}
	return value, nil
}

// Walk visits every schema object below and including value, each with its pointer from value. It
// does not follow references.
func Walk(value any, visit func(pointer string, node map[string]any)) {
	walk("", value, visit)
}

func walk(pointer string, value any, visit func(pointer string, node map[string]any)) {
	node, ok := value.(map[string]any)
	if !ok {
		return
	}
	visit(pointer, node)
	Subschemas(node, func(at string, _ Place, child any) { walk(pointer+at, child, visit) })
}
