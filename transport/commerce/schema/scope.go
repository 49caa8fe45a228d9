package schema

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// errScope ends a copy that does not follow dynamic scopes at a $dynamicRef.
var errScope = errors.New("$dynamicRef depends on the dynamic scope")

// whileScoped makes a schema, and once more in dynamic scopes if it has a
// $dynamicRef. Nearly none has one, and without scopes each document is copied
// once.
func whileScoped(compose func(scoped bool) (map[string]any, error)) (map[string]any, error) {
	root, err := compose(false)
	if errors.Is(err, errScope) {
		return compose(true)
	}
	return root, err
}

// scope is a dynamic scope, as far as it matters: for each $dynamicAnchor the
// outermost resource that has it. Immutable; the zero scope is empty.
type scope struct {
	outermost map[string]*Resource
	// key is the same for equal scopes.
	key string
}

// enter is the scope inside a resource that is reached in this one.
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

// enterIf enters a resource if scopes are followed at all.
func (s scope) enterIf(scoped bool, r *Resource) scope {
	if !scoped {
		return s
	}
	return s.enter(r)
}

// dynamic is where a $dynamicRef leads that resolves to initial when it is read
// as a $ref: if that is a $dynamicAnchor, the outermost of this name.
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

// unit is what a bundle copies as one: a document, or in a dynamic scope the
// resource in which it is entered.
type unit struct {
	// doc is the resource of the whole document.
	doc   *Resource
	entry *Resource
	scope *scope
}

// unit finds the one of a target that is reached in a scope.
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

// scopeAt is the dynamic scope of the schema at pointer: that of the unit, and
// the resources around the pointer.
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

// dynamic adds what a $dynamicRef at pointer leads to.
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

// ownDefinitions leaves out the definitions that are resources: in a dynamic
// scope those are copied as units of their own.
func (c copier) ownDefinitions(pointer string, value any) any {
	defs, ok := value.(map[string]any)
	if !ok || !c.scoped {
		return value
	}
	own := maps.Clone(defs)
	maps.DeleteFunc(own, func(name string, _ any) bool { return c.doc.nested[pointer+"/"+Escape(name)] != nil })
	return own
}
