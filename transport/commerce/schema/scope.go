package schema

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// errScope is returned when a copy without dynamic scopes reaches a $dynamicRef.
var errScope = errors.New("$dynamicRef depends on the dynamic scope")

// whileScoped composes a schema without dynamic scopes, and again with them if it has a
// $dynamicRef. Few schemas have a $dynamicRef, and without scopes each document is copied only
// once.
func whileScoped(compose func(scoped bool) (map[string]any, error)) (map[string]any, error) {
	root, err := compose(false)
	if errors.Is(err, errScope) {
		return compose(true)
	}
	return root, err
}

// scope is a dynamic scope, reduced to the outermost resource for each $dynamicAnchor. A scope is
// immutable, and the zero scope is empty.
type scope struct {
	outermost map[string]*Resource
	// key is equal for equal scopes.
	key string
}

// enter returns the scope inside a resource that is reached in s.
func (s scope) enter(r *Resource) scope {
	r.findAnchors()
	var added []string
	for name := range r.dynamic {
		if s.outermost[name] == nil {
			added = append(added, name)
		}
	}
	if len(added) == 0 {
		return s
	}
	inner := scope{outermost: maps.Clone(s.outermost)}
	if inner.outermost == nil {
		inner.outermost = map[string]*Resource{}
	}
	for _, name := range added {
		inner.outermost[name] = r
	}
	var key strings.Builder
	for _, name := range slices.Sorted(maps.Keys(inner.outermost)) {
		fmt.Fprintf(&key, "%q=%p;", name, inner.outermost[name])
	}
	inner.key = key.String()
	return inner
}

// enterIf does the same as enter if scoped is true, and returns s otherwise.
func (s scope) enterIf(scoped bool, r *Resource) scope {
	if !scoped {
		return s
	}
	return s.enter(r)
}

// dynamic returns the target of a $dynamicRef. initial is its target when it is read as a $ref. If
// initial is a $dynamicAnchor, the target is the outermost anchor with this name in the scope.
func (s scope) dynamic(initial Target, ref string) Target {
	_, name, _ := strings.Cut(ref, "#")
	node, _ := initial.Value.(map[string]any)
	if name == "" || node["$dynamicAnchor"] != name {
		return initial
	}
	r := s.outermost[name]
	if r == nil {
		return initial
	}
	pointer := r.dynamic[name]
	value, _ := Lookup(r.Doc.Value, pointer)
	return Target{Resource: r.Top, Pointer: pointer, Value: value}
}

// unit is a part that a bundle copies as a whole. It is a document or, if the bundle follows
// dynamic scopes, a resource in a scope.
type unit struct {
	// doc is the resource of the whole document.
	doc   *Resource
	entry *Resource
	scope *scope
}

// unit returns the unit of a target that is reached in a scope.
func (b *bundler) unit(t Target, from scope) unit {
	if !b.scoped {
		return unit{doc: t.Resource, entry: t.Resource}
	}
	entry := t.Resource.At(t.Pointer)
	inside := from.enter(entry)
	if b.scopes[inside.key] == nil {
		b.scopes[inside.key] = &inside
	}
	return unit{t.Resource, entry, b.scopes[inside.key]}
}

// scopeAt returns the dynamic scope of the schema at pointer. It consists of the scope of the unit,
// and the resources that enclose the pointer.
func (c copier) scopeAt(pointer string) scope {
	if c.scope == nil {
		return scope{}
	}
	s := *c.scope
	for i := len(c.entry.Pointer) + 1; i <= len(pointer); i++ {
		if i < len(pointer) && pointer[i] != '/' {
			continue
		}
		if nested := c.doc.nested[pointer[:i]]; nested != nil {
			s = s.enter(nested)
		}
	}
	return s
}

// dynamic adds the target of a $dynamicRef at pointer.
func (c copier) dynamic(copied map[string]any, pointer string, value any) error {
	if !c.all {
		return fmt.Errorf("%s#%s: the target of $dynamicRef depends on the documents that refer to it: take all documents into the result (--bundle)", c.doc.Doc.File, pointer)
	}
	if !c.scoped {
		return errScope
	}
	ref, err := c.reference(pointer, "$dynamicRef", value)
	if err != nil {
		return err
	}
	if _, both := copied["$ref"]; !both {
		copied["$ref"] = ref
		return nil
	}
	branches, _ := copied["allOf"].([]any)
	copied["allOf"] = append(slices.Clone(branches), map[string]any{"$ref": ref})
	return nil
}

// ownDefinitions returns the value of $defs. If scopes are followed, it omits the definitions that
// are resources, because these are copied as separate units.
func (c copier) ownDefinitions(pointer string, value any) any {
	defs, ok := value.(map[string]any)
	if !ok || !c.scoped {
		return value
	}
	own := maps.Clone(defs)
	maps.DeleteFunc(own, func(name string, _ any) bool { return c.doc.nested[pointer+"/"+Escape(name)] != nil })
	return own
}
