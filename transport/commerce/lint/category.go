package lint

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"atelier/transport/commerce/schema"
)

// kind is the kind of a file.
type kind int

const (
	notObject kind = iota
	schemaKind
	// profileKind has registries: a profile, or an answer with a ucp member.
	profileKind
	// descriptionKind is an OpenAPI or OpenRPC document.
	descriptionKind
)

func kindOf(root map[string]any) kind {
	if root == nil {
		return notObject
	}
	if root["openapi"] != nil || root["openrpc"] != nil {
		return descriptionKind
	}
	if root["$schema"] != nil || root["$id"] != nil || root["properties"] != nil || root["$defs"] != nil {
		return schemaKind
	}
	_, profile := root["ucp"]
	if profile || slices.ContainsFunc(schema.Registries, func(r string) bool { _, ok := root[r]; return ok }) {
		return profileKind
	}
	return schemaKind
}

// category is the kind of entity that a schema describes.
type category string

const (
	capability category = "capability"
	service    category = "service"
	handler    category = "payment_handler"
	plain      category = "type or component"
	meta       category = "meta schema"
	// unknown is the category of a schema that has a name, a version or variants, like an entity,
	// but refers to no known meta schema.
	unknown category = ""
)

// variantsOf contains the variants of each category of entity. categoryIn contains the category of
// the entities in each registry.
var (
	variantsOf = map[category][]string{}
	categoryIn = map[string]category{}
)

func init() {
	for _, c := range schema.Categories {
		variantsOf[category(c.Name)], categoryIn[c.Registry] = c.Variants, category(c.Name)
	}
}

// categorize returns the category of a schema. For an entity, the meta schema to which its variants
// refer decides. For other schemas, their folder and their members decide.
func (l *linter) categorize(res *schema.Resource) category {
	root, _ := res.Root().(map[string]any)
	defs, _ := root["$defs"].(map[string]any)
	hasVariants, builds := false, false
	for _, variant := range variantsOf[capability] {
		def, ok := defs[variant].(map[string]any)
		if !ok {
			continue
		}
		hasVariants = true
		from := res.At(schema.Pointer("$defs", variant))
		for _, ref := range allOfRefs(def) {
			if c, _ := l.metaRef(from, ref); c != unknown {
				return c
			}
			builds = builds || !strings.HasPrefix(ref, "#")
		}
	}
	_, named := root["name"]
	_, versioned := root["version"]
	switch {
	case inFolder(res, "meta"):
		return meta
	// A schema is a meta schema if it has variants, no version and no name, and does not build on
	// another meta schema.
	case hasVariants && !named && !versioned && !builds:
		return meta
	case inFolder(res, "types"):
		return plain
	case named || versioned || hasVariants:
		return unknown
	}
	return plain
}

func inFolder(res *schema.Resource, folder string) bool {
	file := filepath.ToSlash(res.Doc.File)
	return path.Base(path.Dir(file)) == folder || path.Base(path.Dir(res.ID)) == folder
}

// allOfRefs returns the references in the allOf of a schema.
func allOfRefs(node map[string]any) (refs []string) {
	branches, _ := node["allOf"].([]any)
	for _, b := range branches {
		branch, _ := b.(map[string]any)
		if ref, ok := branch["$ref"].(string); ok {
			refs = append(refs, ref)
		}
	}
	return refs
}

// metaRef parses a reference to a variant of a meta schema, such as
// ../meta/capability.json#/$defs/platform_schema. It accepts the published meta schemas and copies
// of them. A copy is a document that has the file name of a meta schema and the variant, and is not
// an entity. If a copy omits parts, the rules for variants report this. For any other reference
// metaRef returns unknown.
func (l *linter) metaRef(from *schema.Resource, ref string) (c category, variant string) {
	file, fragment, _ := strings.Cut(ref, "#")
	c = category(strings.TrimSuffix(path.Base(file), ".json"))
	variant, inDefs := strings.CutPrefix(fragment, "/$defs/")
	if !inDefs || !slices.Contains(variantsOf[c], variant) {
		return unknown, ""
	}
	target, err := l.lib.Resolve(from, ref)
	if err != nil {
		// The document is not available. The protocol's own address is accepted nevertheless, and
		// the rules for references report any other address.
		if e := (*schema.RefError)(nil); errors.As(err, &e) && e.Kind == schema.RefUnknown && l.protocols(file) {
			return c, variant
		}
		return unknown, ""
	}
	if target.Resource == nil {
		return unknown, ""
	}
	root, _ := target.Resource.Root().(map[string]any)
	if root["name"] != nil || root["version"] != nil {
		return unknown, ""
	}
	return c, variant
}

// protocols reports whether an address has the form of the protocol's meta schemas, under the base
// of the published schemas or the default base. It does not verify that the document exists.
func (l *linter) protocols(address string) bool {
	for _, base := range []string{l.published.Base(), schema.DefaultBase} {
		rest, ok := strings.CutPrefix(address, base+"/")
		version, file, _ := strings.Cut(rest, "/")
		if ok && schema.IsVersion(version) && path.Dir(file) == "meta" {
			return true
		}
	}
	return false
}

// demanded contains the members that each variant must require. The variants of a payment handler
// must also require an id.
var demanded = map[string][]string{
	schema.PlatformVariant: {"version", "spec", "schema"},
	schema.BusinessVariant: {"version"},
	schema.ResponseVariant: {"version"},
}

// variants checks that an entity has the variants of its category, each built on the same variant
// of the meta schema.
func (s *subject) variants() {
	defs, _ := s.root["$defs"].(map[string]any)
	for _, variant := range variantsOf[s.category] {
		def, ok := defs[variant].(map[string]any)
		if !ok {
			s.find("variant-missing", "/$defs", fmt.Sprintf("a %s needs $defs/%s", s.category, variant))
			continue
		}
		pointer := schema.Pointer("$defs", variant)
		builtOn := func(ref string) bool {
			c, v := s.metaRef(s.res.At(pointer), ref)
			return c == s.category && v == variant
		}
		if !slices.ContainsFunc(allOfRefs(def), builtOn) {
			s.find("variant-ref", pointer, fmt.Sprintf("want an allOf with a $ref to %s.json#/$defs/%s of the protocol's meta schemas", s.category, variant))
			continue
		}
		for _, member := range demanded[variant] {
			if !s.demands(s.res, pointer, def, member, 0) {
				s.find("variant-ref", pointer, fmt.Sprintf("the variant does not require %s, so it is not built on the meta schema %s", member, s.category))
			}
		}
		if s.category == handler && !s.demands(s.res, pointer, def, "id", 0) {
			s.find("handler-id", pointer, "the variant does not require an instance id, which every entry of a handler must have")
		}
	}
}

// demands reports whether a schema requires a member, following references and allOf. A reference
// that cannot be followed, or is nested too deeply, counts as requiring the member. Other rules
// report the reference.
func (s *subject) demands(res *schema.Resource, pointer string, node map[string]any, member string, depth int) bool {
	if depth > schema.MaxDepth {
		return true
	}
	required, _ := node["required"].([]any)
	if slices.Contains(required, any(member)) {
		return true
	}
	if ref, ok := node["$ref"].(string); ok {
		target, err := s.lib.Resolve(res.At(pointer), ref)
		if err != nil || target.Resource == nil {
			return true
		}
		if next, ok := target.Value.(map[string]any); ok && s.demands(target.Resource, target.Pointer, next, member, depth+1) {
			return true
		}
	}
	branches, _ := node["allOf"].([]any)
	for i, b := range branches {
		branch, ok := b.(map[string]any)
		if ok && s.demands(res, fmt.Sprintf("%s/allOf/%d", pointer, i), branch, member, depth+1) {
			return true
		}
	}
	return false
}
