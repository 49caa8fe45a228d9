package lint

import (
	"fmt"
	"net/url"

	"atelier/transport/commerce/naming"
)

// entry is one declaration in a registry.
type entry struct {
	*subject
	registry, name, at string
	fields             map[string]any
}

// check looks at an entry; seen holds what else stands under its name, ids
// the handlers of the whole profile.
func (e entry) check(side Side, seen map[string]bool, ids map[string]string) {
	before := len(e.found)
	e.conventions(seen, ids)
	if len(e.found) == before {
		e.fit(side)
	}
}

func (e entry) conventions(seen map[string]bool, ids map[string]string) {
	valid := e.version()
	if parents, err := naming.ParseExtends(e.fields["extends"]); err != nil {
		e.find("extension-parent", e.at+"/extends", err.Error())
	} else if valid {
		e.declaration(parents)
	}
	if requires, ok := e.fields["requires"]; ok {
		e.checkRequires(e.at+"/requires", requires)
	}
	if config, ok := e.fields["config"]; ok {
		if _, ok := config.(map[string]any); !ok {
			e.find("profile-malformed", e.at+"/config", "config is not an object")
		}
	}
	for _, member := range []string{"spec", "schema", "endpoint"} {
		e.address(member)
	}
	key := fmt.Sprint(e.fields["version"])
	switch e.registry {
	case "services":
		e.transport()
		key += " over " + fmt.Sprint(e.fields["transport"])
	case "payment_handlers":
		e.instance(ids)
		return // the ids keep entries of one version apart
	}
	if seen[key] {
		e.find("registry-duplicate", e.at, fmt.Sprintf("%s %s is declared twice", e.name, key))
	}
	seen[key] = true
}

func (e entry) version() bool {
	if e.fields["version"] != nil {
		return e.checkVersion(e.at+"/version", e.fields["version"])
	}
	schema, _ := e.fields["schema"].(string)
	if date := dateInURL.FindString(schema); date != "" {
		e.find("version-inferred", e.at+"/schema", fmt.Sprintf("version is missing; the %s in the address of the schema does not count, state it", date))
		return false
	}
	e.find("version-missing", e.at, "version is missing")
	return false
}

func (e entry) address(member string) {
	value, ok := e.fields[member]
	if !ok {
		return
	}
	text, _ := value.(string)
	if u, err := url.Parse(text); err != nil || !u.IsAbs() {
		e.find("profile-malformed", e.at+"/"+member, member+" is not an absolute URI")
	}
}

func (e entry) instance(ids map[string]string) {
	id, ok := e.fields["id"].(string)
	if !ok || id == "" {
		e.find("handler-id", e.at, "a payment handler carries an instance id")
		return
	}
	if other, taken := ids[id]; taken {
		e.find("handler-id-duplicate", e.at+"/id", fmt.Sprintf("id %q is that of %s too", id, other))
		return
	}
	ids[id] = e.at
}
