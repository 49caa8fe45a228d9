package schema

import (
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Draft is the dialect of every schema that this package generates.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// Limits of one bundle.
const (
	maxDocuments = 128
	maxNodes     = 100_000
)

// Bundle returns one schema with a target and everything that the target references. References in
// this schema lead to places inside it, or to JSON Schema itself. The error names the unresolved
// reference (*RefError), the cycle (*CycleError) or the unknown operation. Bundle refuses schemas
// that are too large.
func Bundle(lib *Library, target Target, view View) (map[string]any, error) {
	if target.Resource == nil {
		return map[string]any{"$schema": Draft, "$ref": target.External}, nil
	}
	if target.Pointer == "" {
		return Compose(lib, target.Resource, nil, ComposeOptions{View: view, Bundle: true})
	}
	return whileScoped(func(scoped bool) (map[string]any, error) { return bundlePart(lib, target, view, scoped) })
}

// bundlePart is Bundle for a target inside a document. scoped is bundler.scoped.
func bundlePart(lib *Library, target Target, view View, scoped bool) (map[string]any, error) {
	b := newBundler(lib, view, true)
	b.scoped = scoped
	ref, err := b.refer(target, scope{})
	if err != nil {
		return nil, err
	}
	root := map[string]any{"$schema": Draft, "$ref": ref}
	if err := b.finish(root); err != nil {
		return nil, err
	}
	return root, b.check(root)
}

// check refuses faults that are visible only in the whole bundle: endless dynamic references, and
// unknown operations.
func (b *bundler) check(root map[string]any) error {
	if b.scoped {
		lib := NewLibrary(b.lib.ctx, LibraryOptions{})
		if cycle := lib.NewCosts().Check(lib.Add(&Document{File: "bundle", Value: root})); cycle != nil {
			return cycle
		}
	}
	return b.checkOperation()
}

// checkOperation refuses a view for an operation that neither the protocol nor any annotation has.
// Otherwise a mistyped operation would yield a schema without the annotations for single operations.
func (b *bundler) checkOperation() error {
	op := b.view.Operation
	if b.view.Direction == "" || b.shape != "" || IsOperation(op) || b.operations[op] {
		return nil
	}
	known := maps.Clone(b.operations)
	for _, o := range slices.Concat(Operations, ContainerOperations) {
		known[o] = true
	}
	return fmt.Errorf("operation %q is unknown; known operations are %s", Brief(op), BriefList(slices.Sorted(maps.Keys(known))))
}

// bundler copies documents into the $defs of a root.
type bundler struct {
	lib  *Library
	view View
	// all includes every referenced document. Without it, only the given documents are included,
	// and references to other documents become absolute.
	all bool
	// base is the document whose content becomes the root, or nil.
	base *Resource
	// shape is the position of that content in the base. It is "", or the position of a shape in a
	// container.
	shape string
	given map[*Resource]bool

	// prefix precedes the name of a document in a reference to it.
	prefix string

	// scoped copies each resource once per dynamic scope in which it is reached, so that a
	// $dynamicRef becomes a plain reference.
	scoped bool

	scopes map[string]*scope // by key

	names map[unit]string
	taken map[string]bool
	queue []unit
	defs  map[string]any
	nodes int
	costs *Costs

	// operations are the operations in annotations, collected for a view.
	operations map[string]bool
}

func newBundler(lib *Library, view View, all bool) *bundler {
	return &bundler{lib: lib, view: view, all: all, given: map[*Resource]bool{}, prefix: inDefs,
		names: map[unit]string{}, scopes: map[string]*scope{}, taken: map[string]bool{}, defs: map[string]any{}, costs: lib.NewCosts(), operations: map[string]bool{}}
}

// inDefs is the prefix of references to a bundle's documents.
const inDefs = "#/$defs/"

// copier copies one unit; atRoot means that its content becomes the root.
type copier struct {
	*bundler
	unit
	atRoot bool
}

// finish copies referenced units until no new units are found, and adds them to the $defs of root.
func (b *bundler) finish(root map[string]any) error {
	for len(b.queue) > 0 {
		u := b.queue[0]
		b.queue = b.queue[1:]
		c := copier{bundler: b, unit: u}
		value, err := c.schema(u.entry.Pointer, u.entry.Root())
		if err != nil {
			return err
		}
		b.defs[b.names[u]] = value
	}
	if len(b.defs) == 0 {
		return nil
	}
	own, _ := root["$defs"].(map[string]any)
	defs := make(map[string]any, len(own)+len(b.defs))
	for name, def := range own {
		defs[name] = def
	}
	for name, def := range b.defs {
		defs[name] = def
	}
	root["$defs"] = defs
	return nil
}

// refer returns a reference to a target that is reached in a dynamic scope. It leads to a place in
// the bundle, or to an absolute address if the bundle does not include the target's document.
func (b *bundler) refer(t Target, from scope) (string, error) {
	if t.Resource == nil {
		return t.External, nil
	}
	if !b.all && !b.given[t.Resource] {
		id := t.Resource.ID
		if id == "" {
			return "", fmt.Errorf("%s cannot be referenced, because it has no $id; bundle it", t.Resource.Doc.File)
		}
		if t.Pointer != "" {
			id += "#" + fragment(t.Pointer)
		}
		return id, nil
	}
	u := b.unit(t, from)
	name, ok := b.names[u]
	if !ok {
		if b.prefix == inDefs && len(b.names) >= maxDocuments {
			return "", fmt.Errorf("more than %d documents belong to one schema", maxDocuments)
		}
		if cycle := b.costs.Check(t.Resource); cycle != nil {
			return "", cycle
		}
		name = b.name(u.entry)
		b.names[u] = name
		b.queue = append(b.queue, u)
	}
	below := fragment(strings.TrimPrefix(t.Pointer, u.entry.Pointer))
	if b.prefix != inDefs {
		return b.prefix + name + "#" + below, nil
	}
	return inDefs + name + below, nil
}

// name derives a member name of $defs from the last two segments of an address.
func (b *bundler) name(r *Resource) string {
	address := r.ID
	if address == "" {
		address = r.Doc.File
	}
	address = strings.TrimSuffix(address, ".json")
	stem := path.Base(path.Dir(address)) + "_" + path.Base(address)
	stem = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			return c
		}
		return '_'
	}, stem)
	name := stem
	for i := 2; b.taken[name]; i++ {
		name = fmt.Sprintf("%s_%d", stem, i)
	}
	b.taken[name] = true
	return name
}

// schema copies a subschema at a pointer of the document.
func (c copier) schema(pointer string, value any) (any, error) {
	if c.nodes++; c.nodes > maxNodes {
		return nil, fmt.Errorf("the schema has more than %d parts", maxNodes)
	}
	node, ok := value.(map[string]any)
	if !ok {
		return value, nil
	}
	out := make(map[string]any, len(node))
	// The keywords are visited in sorted order, so that the same fault is reported each time.
	for _, key := range slices.Sorted(maps.Keys(node)) {
		if c.drops(pointer, key) {
			continue
		}
		copied, err := c.keyword(pointer, key, node[key])
		if err != nil {
			return nil, err
		}
		out[key] = copied
	}
	if ref, ok := node["$dynamicRef"]; ok {
		if err := c.dynamic(out, pointer, ref); err != nil {
			return nil, err
		}
	}
	if c.view.Direction == "" {
		return out, nil
	}
	if err := c.visible(out, node); err != nil {
		return nil, fmt.Errorf("%s#%s: %w", c.doc.Doc.File, pointer, err)
	}
	return out, nil
}

// drops reports whether the copy must not have a keyword. The value does not decide this, because
// null is valid for "const", "default" and others.
func (c copier) drops(pointer, key string) bool {
	switch key {
	case "$schema", "$id", "$anchor", "$dynamicAnchor", "$vocabulary":
		// References inside a bundle are pointers, and an $id would change their base.
		return true
	case "$dynamicRef":
		return true // dropped, because the reference becomes a plain reference
	case RequestKey, ResponseKey, "examples":
		// The examples are for the unresolved schema.
		return c.view.Direction != ""
	case "name", "version", "extends", "requires":
		// A document's metadata is not a keyword of a plain schema.
		return c.view.Direction != "" && pointer == ""
	}
	return false
}

// keyword copies the value of a keyword.
func (c copier) keyword(pointer, key string, value any) (any, error) {
	if key == "$ref" {
		return c.reference(pointer, key, value)
	}
	holds, ok := keywords[key]
	if !ok {
		return value, nil
	}
	at := pointer + "/" + Escape(key)
	if holds.Place == Nowhere {
		value = c.ownDefinitions(at, value)
	}
	return holds.Map(value, func(token string, child any) (any, error) {
		if holds.Named() {
			return c.schema(at+"/"+Escape(token), child)
		}
		return c.schema(at, child)
	})
}

func (c copier) reference(pointer, keyword string, value any) (string, error) {
	ref, ok := value.(string)
	if !ok {
		return "", fmt.Errorf("%s#%s: %s is not a string", c.doc.Doc.File, pointer, keyword)
	}
	from := c.doc.At(pointer)
	target, err := c.lib.Resolve(from, ref)
	if err != nil {
		return "", fmt.Errorf("%s#%s: reference %w", c.doc.Doc.File, pointer, err)
	}
	here := c.scopeAt(pointer)
	if keyword == "$dynamicRef" {
		target = here.dynamic(target, ref)
	}
	if c.atRoot && target.Resource == c.doc && c.bundler.unit(target, here) == c.unit {
		return "#" + fragment(target.Pointer), nil
	}
	return c.refer(target, here)
}

// visible applies the annotations of original's properties to copied, which no longer has them.
func (c copier) visible(copied, original map[string]any) error {
	properties, _ := copied["properties"].(map[string]any)
	if properties == nil {
		return nil
	}
	annotated, _ := original["properties"].(map[string]any)
	for _, value := range annotated {
		property, _ := value.(map[string]any)
		for _, key := range []string{RequestKey, ResponseKey} {
			byOperation, _ := property[key].(map[string]any)
			for operation := range byOperation {
				c.operations[operation] = true
			}
		}
	}
	omitted, required, err := c.view.carry(original)
	if err != nil {
		return err
	}
	for _, name := range omitted {
		delete(properties, name)
	}
	delete(copied, "required")
	if len(required) > 0 {
		copied["required"] = required
	}
	return nil
}

// linker copies documents one by one, each under an address of its own to which references lead. If
// many targets share documents, as in a lint run, linker copies each document once. Bundle would
// copy each document once per target. It is not safe for concurrent use.
type linker struct{ b *bundler }

// newLinker returns an empty linker.
func newLinker(lib *Library) *linker {
	b := newBundler(lib, View{}, true)
	b.prefix = "urn:commerce:document:"
	return &linker{b}
}

// Link returns the address of a target, and the required documents that were not returned before,
// by address. If one of these documents cannot be copied, Link returns the others with the error.
func (l *linker) Link(target Target) (address string, added map[string]any, err error) {
	if target.Resource == nil {
		return target.External, nil, nil
	}
	if address, err = l.b.refer(target, scope{}); err != nil {
		return "", nil, err
	}
	added = map[string]any{}
	for len(l.b.queue) > 0 {
		u := l.b.queue[0]
		l.b.queue = l.b.queue[1:]
		l.b.nodes = 0
		value, failed := copier{bundler: l.b, unit: u}.schema("", u.doc.Doc.Value)
		if failed != nil {
			// Continue, because other documents are still needed; only this one remains missing.
			err = failed
			continue
		}
		added[l.b.prefix+l.b.names[u]] = value
	}
	return address, added, err
}

// fragment encodes a JSON Pointer as the fragment of a URI reference.
func fragment(pointer string) string {
	return fragmentEscaper.Replace(pointer)
}

var fragmentEscaper = strings.NewReplacer("%", "%25", " ", "%20", "\"", "%22", "<", "%3C", ">", "%3E",
	"#", "%23", "^", "%5E", "{", "%7B", "}", "%7D", "[", "%5B", "]", "%5D", "|", "%7C", "\\", "%5C", "`", "%60")

// unfragment decodes one token of a pointer in a fragment.
func unfragment(token string) string {
	if plain, err := url.PathUnescape(token); err == nil {
		token = plain
	}
	return Unescape(token)
}
