package compose

import (
	"strings"

	"atelier/transport/commerce/library"
)

// prune drops the members of $defs that nothing leads to: a resolved schema
// has no use for the variants its entity is declared with.
func prune(root map[string]any) {
	defs, _ := root["$defs"].(map[string]any)
	if defs == nil {
		return
	}
	body := make(map[string]any, len(root))
	for key, value := range root {
		if key != "$defs" {
			body[key] = value
		}
	}
	used := map[string]bool{}
	pending := []any{body}
	for len(pending) > 0 {
		next := pending[0]
		pending = pending[1:]
		library.Walk(next, func(_ string, node map[string]any) {
			ref, _ := node["$ref"].(string)
			rest, ok := strings.CutPrefix(ref, "#/$defs/")
			if !ok {
				return
			}
			name, _, _ := strings.Cut(rest, "/")
			name = unfragment(name)
			if !used[name] {
				used[name] = true
				pending = append(pending, defs[name])
			}
		})
	}
	kept := map[string]any{}
	for name, def := range defs {
		if used[name] {
			kept[name] = def
		}
	}
	delete(root, "$defs")
	if len(kept) > 0 {
		root["$defs"] = kept
	}
}
