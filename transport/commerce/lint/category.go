package lint

import (
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"atelier/transport/commerce/document"
	"atelier/transport/commerce/library"
	"atelier/transport/commerce/naming"
	"atelier/transport/commerce/schemas"
)

// kind is what a file is.
type kind int

const (
	notObject kind = iota
	schemaKind
	// profileKind has registries: a profile, or an answer with a ucp member.
	profileKind
	// descriptionKind is an OpenAPI or OpenRPC document.
	descriptionKind
)

var registries = []string{"services", "capabilities", "payment_handlers"}

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
	if profile || slices.ContainsFunc(registries, func(r string) bool { _, ok := root[r]; return ok }) {
		return profileKind
	}
	return schemaKind
}

// category is what a schema describes.
type category string

const (
	capability category = "capability"
	service    category = "service"
	handler    category = "payment_handler"
	plain      category = "type or component"
	meta       category = "meta schema"
	// unknown is an entity by its name or variants, of no known category.
	unknown category = ""
)

// variantsOf are the variants of each category of entity.
var variantsOf = map[category][]string{
	capability: {"platform_schema", "business_schema", "response_schema"},
	service:    {"platform_schema", "business_schema"},
	handler:    {"platform_schema", "business_schema", "response_schema"},
}

// categorize tells the category of a schema: an entity by the meta schema its
// variants refer to, the others by where they are and what they leave out.
func (l *linter) categorize(res *library.Resource) category {
	root, _ := res.Root().(map[string]any)
	defs, _ := root["$defs"].(map[string]any)
	hasVariants := false
	for _, variant := range variantsOf[capability] {
		def, ok := defs[variant].(map[string]any)
		if !ok {
			continue
		}
		hasVariants = true
		from := res.At(document.Pointer("$defs", variant))
		for _, ref := range allOfRefs(def) {
			if c, _ := l.metaRef(from, ref); c != unknown {
				return c
			}
		}
	}
	_, named := root["name"]
	_, versioned := root["version"]
	switch {
	case inFolder(res, "meta"):
		return meta
	case inFolder(res, "types"):
		return plain
	case named || versioned || hasVariants:
		return unknown
	}
	return plain
}

func inFolder(res *library.Resource, folder string) bool {
	file := filepath.ToSlash(res.Doc.File)
	return path.Base(path.Dir(file)) == folder || path.Base(path.Dir(res.ID)) == folder
}

// allOfRefs are the references in the allOf of a schema.
func allOfRefs(schema map[string]any) (refs []string) {
	branches, _ := schema["allOf"].([]any)
	for _, b := range branches {
		branch, _ := b.(map[string]any)
		if ref, ok := branch["$ref"].(string); ok {
			refs = append(refs, ref)
		}
	}
	return refs
}

// metaRef reads a reference to a variant of a meta schema, such as
// ../meta/capability.json#/$defs/platform_schema. The meta schemas are the
// published ones, wherever a reference finds them, and copies: documents of
// that name that are no entity and have the variant. What a copy leaves out of
// a variant, the rules for variants tell.
func (l *linter) metaRef(from *library.Resource, ref string) (c category, variant string) {
	file, fragment, _ := strings.Cut(ref, "#")
	c = category(strings.TrimSuffix(path.Base(file), ".json"))
	variant, inDefs := strings.CutPrefix(fragment, "/$defs/")
	if !inDefs || !slices.Contains(variantsOf[c], variant) {
		return unknown, ""
	}
	target, err := l.lib.Resolve(from, ref)
	if err != nil {
		// Not at hand: the protocol's own address is taken at its word, and the
		// rules for references tell the rest.
		if e := (*library.RefError)(nil); errors.As(err, &e) && e.Kind == library.Unknown && l.protocols(file) {
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

// protocols tells whether an address is one at which the protocol publishes a
// meta schema, under this base or the default one.
func (l *linter) protocols(address string) bool {
	for _, base := range []string{l.published.Base(), schemas.DefaultBase} {
		rest, ok := strings.CutPrefix(address, base+"/")
		version, file, _ := strings.Cut(rest, "/")
		if ok && naming.IsVersion(version) && path.Dir(file) == "meta" {
			return true
		}
	}
	return false
}
