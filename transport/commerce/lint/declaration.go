package lint

import (
	"errors"
	"fmt"

	"atelier/transport/commerce/brief"
	"atelier/transport/commerce/library"
)

// declaration holds an entry against the schema it points to, when that is at
// hand. The version is what the schema states, whatever its address looks like.
func (e entry) declaration(parents []string) {
	address, _ := e.fields["schema"].(string)
	if address == "" {
		return
	}
	at := e.at + "/schema"
	target, err := e.lib.Resolve(e.res, address)
	if r := (*library.RefError)(nil); errors.As(err, &r) {
		if r.Kind != library.Unknown && r.Kind != library.Malformed {
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
		if e.registry != "services" {
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

// misplaced says that a schema is of another category than its registry. One
// without a category is told where it is linted itself.
func (e entry) misplaced(at string, c category) {
	if variantsOf[c] != nil {
		e.find("declaration-category", at, fmt.Sprintf("its schema is that of a %s, and %s holds a %s", c, e.registry, categoryIn[e.registry]))
	}
}

// categoryIn is the category of what each registry holds.
var categoryIn = map[string]category{"services": service, "capabilities": capability, "payment_handlers": handler}

func (e entry) agree(code, at, what string, declared, stated any) {
	if declared == stated {
		return
	}
	if stated == nil {
		e.find(code, at, fmt.Sprintf("%s %s is declared, but the schema there states none", what, said(declared)))
		return
	}
	e.find(code, at, fmt.Sprintf("%s %s is declared, but the schema there states %s", what, said(declared), said(stated)))
}

// said is a member as it may be repeated.
func said(value any) string {
	if text, ok := value.(string); ok {
		return brief.Text(text)
	}
	return "something that is not a text"
}
