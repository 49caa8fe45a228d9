package markdown

import (
	"bytes"
	"regexp"
	"strings"
)

// Check is a check of one's work that a step declares: a fenced block whose info string
// is the word check and a name. Its first line is the title, the rest is for people.
type Check struct{ Name, Title string }

// checkInfo is the info string: names are short and stand in an address.
var checkInfo = regexp.MustCompile(`^[ \t]*check[ \t]+([A-Za-z0-9][A-Za-z0-9._-]{0,63})[ \t]*$`)

// Checks are the checks that a text declares, in order. Those in notes for facilitators
// are none.
func Checks(text string) (out []Check) {
	if !strings.Contains(text, "check") {
		return nil
	}
	s := &Scanner{source: []byte(WithoutNotes(text)), strict: true}
	open := false // the last one's title is to come
	for _, more := s.Next(); more; _, more = s.Next() {
		if s.opened {
			open = false
			if m := checkInfo.FindSubmatch(s.fence.info); m != nil {
				out, open = append(out, Check{Name: string(m[1])}), true
			}
			continue
		}
		if line := bytes.TrimSpace(s.rest); open && len(line) > 0 {
			if open = false; s.inner == Code && s.leaf == fenceLeaf {
				out[len(out)-1].Title = string(line)
			}
		}
	}
	return out
}
