package schema

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

const maxExtensions = 64

// ComposeOptions configures Compose.
type ComposeOptions struct {
	View View
	// Bundle includes every referenced document, so that the result is self-contained. Otherwise
	// references to documents that were not given remain, as absolute addresses.
	Bundle bool
	// Protocol is the version with which requirements on the protocol are compared. "" leaves these
	// requirements unchecked.
	Protocol string
}

// Compose applies extensions to a base. A value that is valid for the result is also valid for the
// base and for the additions of every extension. The additions are under $defs[<parent's name>]. If
// the view has a direction, the annotations then decide which members are omitted and required. The
// order of the extensions does not matter. Errors are as in Bundle. They can also name an extension
// that does not fit, has a missing parent, or has unmet requirements (transport/commerce/RULES.md,
// "Variants").
func Compose(lib *Library, base *Resource, extensions []*Resource, opts ComposeOptions) (map[string]any, error) {
	if err := opts.View.Check(); err != nil {
		return nil, err
	}
	opts.View = opts.View.DefaultOperation()
	return whileScoped(func(scoped bool) (map[string]any, error) { return compose(lib, base, extensions, opts, scoped) })
}

func compose(lib *Library, base *Resource, extensions []*Resource, opts ComposeOptions, scoped bool) (map[string]any, error) {
	additions, err := lay(base, extensions, opts.Protocol)
	if err != nil {
		return nil, err
	}
	shape, err := shapeIn(base, opts.View)
	if err != nil {
		return nil, err
	}
	additions = within(additions, shape)
	b := newBundler(lib, opts.View, opts.Bundle)
	b.base, b.shape, b.scoped = base, shape, scoped
	b.given[base] = true
	for _, e := range extensions {
		b.given[e] = true
	}
	if cycle := b.costs.Check(base); cycle != nil {
		return nil, cycle
	}
	root, err := b.root(base)
	if err != nil {
		return nil, err
	}
	for i, a := range additions {
		if err := b.fits(base, additions[:i], a); err != nil {
			return nil, err
		}
		if err := b.add(root, a); err != nil {
			return nil, err
		}
	}
	if opts.View.Direction != "" {
		if err := b.overrule(root, additions); err != nil {
			return nil, err
		}
	}
	if err := b.finish(root); err != nil {
		return nil, err
	}
	if opts.View.Direction != "" {
		prune(root)
	}
	return root, b.check(root)
}

// root copies the base, whose content becomes the root of the result.
func (b *bundler) root(base *Resource) (map[string]any, error) {
	if own, ok := base.Doc.Value.(map[string]any); ok {
		defs, _ := own["$defs"].(map[string]any)
		for name := range defs {
			b.taken[name] = true
		}
	}
	c := copier{bundler: b, unit: b.unit(Target{Resource: base}, scope{}), atRoot: b.shape == ""}
	start, _ := Lookup(base.Doc.Value, b.shape)
	value, err := c.schema(b.shape, start)
	if err != nil {
		return nil, err
	}
	root, ok := value.(map[string]any)
	if !ok {
		return map[string]any{"$schema": Draft, "allOf": []any{value}}, nil
	}
	root["$schema"] = Draft
	return root, nil
}

// addition is one extension's addition to one of its parents.
type addition struct {
	extension *Resource
	parent    string
	// pointer is the position of schema in the document of the extension.
	pointer string
	schema  map[string]any
}

// add appends an addition to the allOf of root, without the branch that only repeats the base,
// because root is the base.
func (b *bundler) add(root map[string]any, a addition) error {
	pointer := a.pointer
	if cycle := b.costs.Check(a.extension); cycle != nil {
		return cycle
	}
	stripped := maps.Clone(a.schema)
	if branches, ok := stripped["allOf"].([]any); ok {
		kept := slices.Clone(branches)
		kept = slices.DeleteFunc(kept, func(branch any) bool { return b.repeatsBase(a.extension, pointer, branch) })
		delete(stripped, "allOf")
		if len(kept) > 0 {
			stripped["allOf"] = kept
		}
	}
	c := copier{bundler: b, unit: b.unit(Target{Resource: a.extension}, scope{}.enterIf(b.scoped, b.base))}
	value, err := c.schema(pointer, stripped)
	if err != nil {
		return err
	}
	all, _ := root["allOf"].([]any)
	root["allOf"] = append(slices.Clone(all), value)
	return nil
}

// fits refuses an addition if no value can match it together with the base and the earlier
// additions.
func (b *bundler) fits(base *Resource, before []addition, a addition) error {
	start, _ := Lookup(base.Doc.Value, b.shape)
	root, _ := start.(map[string]any)
	over := place{a.extension, a.pointer, a.schema}
	against := func(name string, below place) error {
		c := comparer{lib: b.lib, below: base, names: [2]string{name, a.extension.Name()}}
		c.compare(below, over)
		if len(c.found) == 0 {
			return nil
		}
		return errors.New(c.found[0].Reason)
	}
	if err := against(base.Name(), place{base, b.shape, root}); err != nil {
		return err
	}
	for _, other := range before {
		if err := against(other.extension.Name(), place{other.extension, other.pointer, other.schema}); err != nil {
			return err
		}
	}
	return nil
}

func (b *bundler) repeatsBase(extension *Resource, pointer string, branch any) bool {
	node, ok := branch.(map[string]any)
	if !ok || len(node) != 1 {
		return false
	}
	ref, ok := node["$ref"].(string)
	if !ok {
		return false
	}
	target, err := b.lib.Resolve(extension.At(pointer), ref)
	return err == nil && target.Resource == b.base && target.Pointer == b.shape
}

// lay sorts the extensions by name and finds their additions. It refuses extensions with unmet
// requirements, and extensions that extend the base neither directly nor through others.
func lay(base *Resource, extensions []*Resource, protocol string) ([]addition, error) {
	if len(extensions) > maxExtensions {
		return nil, fmt.Errorf("more than %d extensions", maxExtensions)
	}
	active := map[string]*Resource{}
	for _, r := range append([]*Resource{base}, extensions...) {
		name := r.Name()
		if name == "" && len(extensions) == 0 {
			return nil, nil // a single type or component
		}
		if name == "" {
			return nil, fmt.Errorf("%s has no name; only named schemas can be composed", r.Doc.File)
		}
		if active[name] != nil {
			return nil, fmt.Errorf("%s and %s are both named %s", active[name].Doc.File, r.Doc.File, name)
		}
		active[name] = r
	}
	reached := map[string]bool{base.Name(): true}
	for again := true; again; {
		again = false
		for name, r := range active {
			if !reached[name] && slices.ContainsFunc(r.Parents(), func(p string) bool { return reached[p] }) {
				reached[name], again = true, true
			}
		}
	}
	var additions []addition
	for _, name := range slices.Sorted(maps.Keys(active)) {
		r := active[name]
		if r == base {
			continue
		}
		if !reached[name] {
			return nil, fmt.Errorf("%s extends nothing among the given schemas: its parents are %v", name, r.Parents())
		}
		if err := checkRequires(r, active, protocol); err != nil {
			return nil, err
		}
		for _, parent := range r.Parents() {
			if !reached[parent] {
				continue
			}
			defs := r.Root().(map[string]any)["$defs"].(map[string]any)
			schema, ok := defs[parent].(map[string]any)
			if !ok {
				return nil, fmt.Errorf("%s: $defs[%q] is not a schema object", r.Doc.File, parent)
			}
			additions = append(additions, addition{r, parent, Pointer("$defs", parent), schema})
		}
	}
	return additions, nil
}

func checkRequires(r *Resource, active map[string]*Resource, protocol string) error {
	root, _ := r.Root().(map[string]any)
	stated, ok := root["requires"]
	if !ok {
		return nil
	}
	if wrong := CheckRequires(stated); stated == nil {
		return fmt.Errorf("%s: %w", r.Doc.File, wrong[0])
	}
	requires, err := ParseRequires(stated)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Doc.File, err)
	}
	reason := requires.Unmet(protocol, func(name string) (string, bool) {
		other, ok := active[name]
		if !ok {
			return "", false
		}
		return other.Version(), true
	})
	if reason != "" {
		return errors.New(r.Name() + " " + reason)
	}
	return nil
}
