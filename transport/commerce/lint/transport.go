package lint

import (
	"fmt"

	"atelier/transport/commerce/naming"
)

// transport checks that a service entry has what its transport needs.
func (e entry) transport() {
	value, ok := e.fields["transport"]
	if !ok {
		e.find("transport-missing", e.at, "a service entry states its transport: rest, mcp, a2a or embedded")
		return
	}
	name, _ := value.(string)
	needs, known := naming.Transports[name]
	if !known {
		e.find("transport-unknown", e.at+"/transport", "known transports are rest, mcp, a2a and embedded")
		return
	}
	for _, member := range needs {
		if text, _ := e.fields[member].(string); text == "" {
			e.find("transport-field", e.at, fmt.Sprintf("transport %s needs %s", name, member))
		}
	}
}
