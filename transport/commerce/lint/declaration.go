package lint

import (
	"errors"
	"fmt"

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
		return
	}
	root, ok := target.Resource.Root().(map[string]any)
	if !ok {
		e.find("declaration-name", at, "the document there is not a schema")
		return
	}
	if kindOf(root) == descriptionKind {
		info, _ := root["info"].(map[string]any)
		e.agree("declaration-version", at, "version", e.fields["version"], info["version"])
		return
	}
	e.agree("declaration-name", at, "name", e.name, root["name"])
	e.agree("declaration-version", at, "version", e.fields["version"], root["version"])
	e.agree("declaration-id", at, "$id", address, root["$id"])
	e.hasParents(e.at+"/extends", root, parents)
}

func (e entry) agree(code, at, what string, declared, stated any) {
	if declared == stated {
		return
	}
	if stated == nil {
		e.find(code, at, fmt.Sprintf("%s %v is declared, but the schema there states none", what, declared))
		return
	}
	e.find(code, at, fmt.Sprintf("%s %v is declared, but the schema there states %v", what, declared, stated))
}
