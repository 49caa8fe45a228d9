package schema

// Transports are those a service may be offered over, each with the members
// its entries need in every profile.
var Transports = map[string][]string{
	"rest":     {"endpoint", "schema"},
	"mcp":      {"endpoint", "schema"},
	"a2a":      {"endpoint"},
	"embedded": {"schema"},
}
