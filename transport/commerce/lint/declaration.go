package lint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"atelier/transport/commerce/schema"
)

// declaration checks an entry against its schema, if the schema is available. The declared version
// must be the version in the schema. A date in the schema's address does not count.
func (e entry) declaration(parents []string) {
	address, _ := e.fields["schema"].(string)
	if address == "" {
		return
	}
	at := e.at + "/schema"
	target, err := e.lib.Resolve(e.res, address)
	if r := (*schema.RefError)(nil); errors.As(err, &r) {
		if r.Kind != schema.RefUnknown && r.Kind != schema.RefMalformed {
			e.find("ref-missing", at, "schema "+err.Error())
		}
		return
	}
	if target.Resource == nil {
		e.find("declaration-category", at, "the schema there is one of JSON Schema itself, not of a "+string(categoryIn[e.registry]))
		return
	}
	root, ok := target.Resource.Root().(map[string]any)
	if !ok {
		e.find("declaration-name", at, "the document there is not a schema")
		return
	}
	if kindOf(root) == descriptionKind {
		if e.registry != schema.Services {
			e.find("declaration-category", at, fmt.Sprintf("the document there describes a service, not a %s", categoryIn[e.registry]))
			return
		}
		info, _ := root["info"].(map[string]any)
		e.agree("declaration-version", at, "version", e.fields["version"], info["version"])
		return
	}
	e.agree("declaration-name", at, "name", e.name, root["name"])
	e.agree("declaration-version", at, "version", e.fields["version"], root["version"])
	e.agree("declaration-id", at, "$id", address, root["$id"])
	if c := e.categorize(target.Resource); root["name"] == e.name && c != categoryIn[e.registry] {
		e.misplaced(at, c)
		return
	}
	e.hasParents(e.at+"/extends", root, parents)
}

// misplaced reports an entity whose category does not match its registry. A schema that is no
// entity is reported when the schema itself is linted.
func (e entry) misplaced(at string, c category) {
	if variantsOf[c] != nil {
		e.find("declaration-category", at, fmt.Sprintf("its schema describes a %s, but an entry of %s must be a %s", c, e.registry, categoryIn[e.registry]))
	}
}

func (e entry) agree(code, at, what string, declared, stated any) {
	if declared == stated {
		return
	}
	if stated == nil {
		e.find(code, at, fmt.Sprintf("%s %s is declared, but the schema there states none", what, briefValue(declared)))
		return
	}
	e.find(code, at, fmt.Sprintf("%s %s is declared, but the schema there states %s", what, briefValue(declared), briefValue(stated)))
}

// briefValue returns a member's value, shortened for messages.
func briefValue(value any) string {
	if text, ok := value.(string); ok {
		return schema.Brief(text)
	}
	return "something that is not a text"
}

// fit checks an entry, mainly its config, against the variant of its own schema. This is the schema
// at the entry's address, or otherwise an available schema with the entry's name and version.
func (e entry) fit(side Side) {
	version, _ := e.fields["version"].(string)
	address, _ := e.fields["schema"].(string)
	if e.registry == schema.Services {
		address = "" // the address is that of a transport's description, not of a schema
	}
	res, err := e.lib.Entity(e.name, version, address)
	if err != nil {
		return // not available, or the rules for addresses report the fault
	}
	if c := e.categorize(res); c != categoryIn[e.registry] {
		e.misplaced(e.at, c)
		return
	}
	if side != "" {
		for _, p := range e.against(res, side) {
			e.find("declaration-config", e.at+p.Pointer, "the declaration "+p.Message)
		}
		return
	}
	// The side is unknown. Constraints of a variant on members of config apply; a member is
	// required only if both sides require it.
	platform, business := e.against(res, Platform), e.against(res, Business)
	for _, p := range slices.Concat(platform, business) {
		inside := strings.HasPrefix(p.Pointer, "/config/")
		if inside || slices.Contains(platform, p) && slices.Contains(business, p) {
			e.find("declaration-config", e.at+p.Pointer, "the declaration "+p.Message)
		}
	}
}

// against returns the reasons why the entry does not match the variant of a side.
func (e entry) against(res *schema.Resource, side Side) []schema.Problem {
	pointer := schema.Pointer("$defs", string(side)+"_schema")
	variant, ok := schema.Lookup(res.Root(), pointer)
	if !ok {
		return nil // the missing variant is reported where the schema is linted
	}
	target := schema.Target{Resource: res.Top, Pointer: res.Pointer + pointer, Value: variant}
	validator, err := e.compiler.Compile(target)
	if err != nil {
		return []schema.Problem{{Message: "cannot be checked with its schema: " + err.Error()}}
	}
	return validator.Check(any(e.fields))
}
