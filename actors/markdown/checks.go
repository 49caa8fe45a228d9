package markdown

import (
	"bytes"
	"regexp"
	"strings"
)

// Check is a check of an attendee's work. A step declares it with a fenced block whose info string
// is the word check and a name. The block's first line that is not blank is the title; the
// remaining lines are for people.
type Check struct{ Name, Title string }

// checkInfo matches the info string of a check. Names are restricted because they are part of an
// address.
var checkInfo = regexp.MustCompile(`^[ \t]*check[ \t]+([A-Za-z0-9][A-Za-z0-9._-]{0,63})[ \t]*$`)

// meantAsCheck matches the info string of a block that is, or was meant as, a check.
var meantAsCheck = regexp.MustCompile(`^[ \t]*check(?:[ \t]|$)`)

// Checks returns the checks declared by a text, in order, without those in notes for facilitators.
func Checks(text string) []Check {
	out, _ := checks(text)
	return out
}

// MisnamedChecks returns the info strings of blocks that are meant as checks but ignored, because
// their name is missing or invalid.
func MisnamedChecks(text string) []string {
	_, out := checks(text)
	return out
}

func checks(text string) (out []Check, misnamed []string) {
	if !strings.Contains(text, "check") {
		return nil, nil
	}
	s := &Scanner{source: []byte(WithoutNotes(text)), strict: true}
	open := false // the title of the last check is not found yet
	for _, more := s.Next(); more; _, more = s.Next() {
		if s.opened {
			open = false
			if m := checkInfo.FindSubmatch(s.fence.info); m != nil {
				out, open = append(out, Check{Name: string(m[1])}), true
			} else if meantAsCheck.Match(s.fence.info) {
				misnamed = append(misnamed, strings.TrimSpace(string(s.fence.info)))
			}
			continue
		}
		if line := bytes.TrimSpace(s.rest); open && len(line) > 0 {
			if open = false; s.inner == Code && s.leaf == fenceLeaf {
				out[len(out)-1].Title = string(line)
			}
		}
	}
	return out, misnamed
}
