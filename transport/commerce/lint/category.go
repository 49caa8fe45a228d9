package lint

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
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
	if root["ucp"] != nil || slices.ContainsFunc(registries, func(r string) bool { return root[r] != nil }) {
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
func (s *subject) categorize() category {
	defs, _ := s.root["$defs"].(map[string]any)
	hasVariants := false
	for _, variant := range variantsOf[capability] {
		def, ok := defs[variant].(map[string]any)
		if !ok {
			continue
		}
		hasVariants = true
		for _, ref := range allOfRefs(def) {
			if c, _ := metaRef(ref); c != unknown {
				return c
			}
		}
	}
	_, named := s.root["name"]
	_, versioned := s.root["version"]
	switch {
	case s.inFolder("meta"):
		return meta
	case s.inFolder("types"):
		return plain
	case named && versioned:
		return unknown
	case s.isMetaFile():
		return meta
	case hasVariants:
		return unknown
	}
	return plain
}

func (s *subject) inFolder(folder string) bool {
	file := filepath.ToSlash(s.doc.File)
	return path.Base(path.Dir(file)) == folder || path.Base(path.Dir(s.res.ID)) == folder
}

func (s *subject) isMetaFile() bool {
	switch filepath.Base(s.doc.File) {
	case "entity.json", "ucp.json", "capability.json", "service.json", "payment_handler.json", "profile.json":
		return true
	}
	return false
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
// ../meta/capability.json#/$defs/platform_schema.
func metaRef(ref string) (c category, variant string) {
	file, fragment, _ := strings.Cut(ref, "#")
	c = category(strings.TrimSuffix(path.Base(file), ".json"))
	if variantsOf[c] == nil {
		return unknown, ""
	}
	return c, strings.TrimPrefix(fragment, "/$defs/")
}
