package lint

import (
	"slices"
	"strings"

	"atelier/transport/commerce/document"
	"atelier/transport/commerce/library"
	"atelier/transport/commerce/validate"
)

// fit holds an entry, its config above all, against the variant of its own
// schema: the one at its address, else the one at hand of its name and version.
func (e entry) fit(side Side) {
	version, _ := e.fields["version"].(string)
	address, _ := e.fields["schema"].(string)
	if e.registry == "services" {
		address = "" // that is the description of a transport
	}
	res, err := e.lib.Entity(e.name, version, address)
	if err != nil {
		return // the rules for addresses tell, or it is not at hand
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
	// Nobody says whose it is. What a variant says of a member of config holds
	// there; what has to be there at all only when both sides want it.
	platform, business := e.against(res, Platform), e.against(res, Business)
	for _, p := range slices.Concat(platform, business) {
		inside := strings.HasPrefix(p.Pointer, "/config/")
		if inside || slices.Contains(platform, p) && slices.Contains(business, p) {
			e.find("declaration-config", e.at+p.Pointer, "the declaration "+p.Message)
		}
	}
}

// against lists what keeps the entry from being the variant of a side.
func (e entry) against(res *library.Resource, side Side) []validate.Problem {
	pointer := document.Pointer("$defs", string(side)+"_schema")
	variant, ok := document.Lookup(res.Root(), pointer)
	if !ok {
		return nil // the variant is missed where the schema is linted
	}
	target := library.Target{Resource: res.Top, Pointer: res.Pointer + pointer, Value: variant}
	schema, err := e.compiler.Compile(target)
	if err != nil {
		return []validate.Problem{{Message: "cannot be held against its schema: " + err.Error()}}
	}
	problems, err := schema.CheckMeasured(e.gauge, target, any(e.fields))
	if err != nil {
		return []validate.Problem{{Message: "cannot be held against its schema: " + err.Error()}}
	}
	return problems
}
