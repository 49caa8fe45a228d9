package claat

import (
	"slices"
	"strings"

	"atelier/actors/markdown"
)

// definitions maps each label to the text of its first definition in a file.
type definitions map[string]string

func (d definitions) add(l markdown.Definition) {
	if _, there := d[l.Label]; !there {
		d[l.Label] = l.Text
	}
}

// carried returns the definitions to which a text can refer and that it lacks, in order of
// reference. It stops after the definition with which the result reaches most bytes.
func (d definitions) carried(text []byte, most int) []string {
	if len(d) == 0 {
		return nil
	}
	had := map[string]bool{}
	for _, l := range defined(text) {
		had[l.Label] = true
	}
	var out []string
	refers := func(name string) bool {
		if def, there := d[name]; there && !had[name] {
			had[name] = true
			out = append(out, def)
			most -= len(def)
		}
		return most > 0
	}
	each(text, refers)
	for i := 0; i < len(out) && most > 0; i++ {
		if markdown.IsFootnote([]byte(out[i])) {
			each([]byte(out[i]), refers) // a footnote can refer to other definitions
		}
	}
	return out
}

// each calls fn with every text in brackets, normalised as a label, until fn returns false.
func each(text []byte, fn func(name string) (more bool)) {
	open := -1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			open = i + 1
		case ']':
			if open >= 0 && i-open <= markdown.MaxLabel && !fn(markdown.Normal(text[open:i])) {
				return
			}
			open = -1
		}
	}
}

// references returns the labels to which each step refers, and the labels to which any step refers.
func (o *outline) references(source []byte) (of []map[string]bool, all map[string]bool) {
	of, all = make([]map[string]bool, len(o.steps)), map[string]bool{}
	if len(o.links) == 0 {
		return of, all
	}
	for i, h := range o.steps {
		end := len(source)
		if i+1 < len(o.steps) {
			end = o.steps[i+1].start
		}
		of[i] = map[string]bool{}
		text := source[h.end:end]
		at := 0
		note := func(name string) bool {
			if _, there := o.links[name]; there {
				of[i][name], all[name] = true, true
			}
			return true
		}
		for _, d := range defined(text) {
			each(text[at:d.Start], note)
			at = d.End
		}
		each(text[at:], note)
	}
	return of, all
}

// defined returns the definitions and footnotes in a text, in order.
func defined(text []byte) (out []markdown.Definition) {
	out = markdown.Footnotes(text)
	s := markdown.New(text)
	notes := len(out)
	s.Found = func(d markdown.Definition) {
		if !isFootnote(d) {
			out = append(out, d)
		}
	}
	for _, more := s.Next(); more; _, more = s.Next() {
	}
	if notes > 0 {
		slices.SortStableFunc(out, func(a, b markdown.Definition) int { return a.Start - b.Start })
	}
	return out
}

// isFootnote reports whether a CommonMark definition is in fact a footnote.
func isFootnote(d markdown.Definition) bool { return strings.HasPrefix(d.Label, "^") }

// without returns the content of a step without the definitions to which only other steps refer.
// Each of those steps gets its own copy.
func (d definitions) without(content []byte, here, anywhere map[string]bool) []byte {
	if len(anywhere) == 0 {
		return content
	}
	var out []byte
	at := 0
	for _, def := range defined(content) {
		if anywhere[def.Label] && !here[def.Label] {
			out = append(out, content[at:def.Start]...)
			at = min(def.End, len(content))
		}
	}
	if at == 0 {
		return content
	}
	return append(out, content[at:]...)
}
