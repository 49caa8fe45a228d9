package claat

import "atelier/actors/markdown"

// definitions are those of a file, the first of each label.
type definitions map[string]string

func (d definitions) add(l markdown.Definition) {
	if _, there := d[l.Label]; !there {
		d[l.Label] = l.Text
	}
}

// carried are the definitions that a text may refer to and has not itself, in
// the order in which they are first met. It stops at most bytes.
func (d definitions) carried(text []byte, most int) []string {
	if len(d) == 0 {
		return nil
	}
	had := map[string]bool{}
	own := markdown.New(text)
	own.Found = func(l markdown.Definition) { had[l.Label] = true }
	for _, more := own.Next(); more; _, more = own.Next() {
	}
	var out []string
	open := -1
	for i := 0; i < len(text) && most > 0; i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			open = i + 1
		case ']':
			if open >= 0 && i-open <= markdown.MaxLabel {
				name := markdown.Normal(text[open:i])
				if def, there := d[name]; there && !had[name] {
					had[name] = true
					out = append(out, def)
					most -= len(def)
				}
			}
			open = -1
		}
	}
	return out
}
