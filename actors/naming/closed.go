package naming

import "strings"

// Or joins members as alternatives: "a, b or c".
func Or(members ...string) string { return join(members, " or ") }

// And joins members as a list: "a, b and c".
func And(members ...string) string { return join(members, " and ") }

func join(members []string, last string) string {
	if len(members) < 2 {
		return strings.Join(members, "")
	}
	end := len(members) - 1
	return strings.Join(members[:end], ", ") + last + members[end]
}
