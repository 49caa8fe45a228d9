package archive

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/markdown"
)

// LeftOut is a part of an imported file that the codelab does not have.
type LeftOut struct {
	File   string `json:"file" doc:"Its path in the archive; empty for the imported file itself."`
	Reason string `json:"reason"`
	Code   Code   `json:"code" doc:"A machine-readable reason: «lfs» is a Git LFS pointer instead of the file, «dead_link» a missing file that a text refers to, «unknown» anything else." enum:"too_large|empty|not_an_image|lfs|unreadable_name|dead_link|duplicate|unknown"`
}

// Code is the reason for a LeftOut, in a form for programs.
type Code string

// The codes.
const (
	CodeTooLarge       Code = "too_large"
	CodeEmpty          Code = "empty"
	CodeNotAnImage     Code = "not_an_image"
	CodeLFS            Code = "lfs" // a Git LFS pointer instead of the file
	CodeUnreadableName Code = "unreadable_name"
	CodeDeadLink       Code = "dead_link"
	CodeDuplicate      Code = "duplicate"
	CodeUnknown        Code = "unknown"
)

// Codes lists all codes.
var Codes = []Code{CodeTooLarge, CodeEmpty, CodeNotAnImage, CodeLFS, CodeUnreadableName, CodeDeadLink, CodeDuplicate, CodeUnknown}

// MaxLeftOut bounds the list. An additional entry contains the number of further reports.
const MaxLeftOut = 100

// leftOut collects the omitted parts. It lists each file once per reason.
type leftOut struct {
	reasons map[LeftOut]bool
	more    int
}

func (o *leftOut) add(file, reason string, code Code) {
	e := LeftOut{file, reason, code}
	switch {
	case o.reasons[e]:
	case len(o.reasons) == MaxLeftOut:
		o.more++
	default:
		if o.reasons == nil {
			o.reasons = map[LeftOut]bool{}
		}
		o.reasons[e] = true
	}
}

// list returns the omitted parts, sorted by file and reason. The list is never nil.
func (o *leftOut) list() []LeftOut {
	out := slices.SortedFunc(maps.Keys(o.reasons), func(a, b LeftOut) int {
		if d := strings.Compare(a.File, b.File); d != 0 {
			return d
		}
		return strings.Compare(a.Reason, b.Reason)
	})
	if o.more > 0 {
		out = append(out, LeftOut{"", fmt.Sprintf("and %d more were left out", o.more), CodeUnknown})
	}
	if out == nil {
		out = []LeftOut{}
	}
	return out
}

// unused reports the files of the archive that were not used.
func (t *tree) unused() {
	for _, name := range slices.Sorted(maps.Keys(t.files)) {
		switch {
		case t.used[name], isNoise(name):
		case isMarkdown(name):
			t.left.add(name, "it is not part of the codelab", CodeUnknown)
		default:
			t.left.add(name, "nothing refers to it", CodeUnknown)
		}
	}
}

// unheeded reports elements of the steps that have no effect.
func (t *tree) unheeded(steps []*pb.Step) {
	checks, marks := map[string]int{}, map[string]int{}
	for i, st := range steps {
		n, mark := i+1, codelab.StepMark(st)
		if first := marks[mark]; mark != "" && first > 0 {
			t.left.add("", fmt.Sprintf("step %d: its id %q is already used by step %d and is ignored", n, short(mark), first), CodeUnknown)
		} else {
			marks[mark] = n
		}
		for _, info := range markdown.MisnamedChecks(st.ContentMarkdown) {
			t.left.add("", fmt.Sprintf("step %d: %q declares no check: a check has a name of at most 64 letters, digits, dots, _ and -", n, short(info)), CodeUnknown)
		}
		for _, c := range markdown.Checks(st.ContentMarkdown) {
			if first := checks[c.Name]; first > 0 {
				t.left.add("", fmt.Sprintf("step %d: the check %s is ignored, because step %d already declares it", n, c.Name, first), CodeUnknown)
				continue
			}
			checks[c.Name] = n
			if len(checks) == codelab.MaxChecks+1 {
				t.left.add("", fmt.Sprintf("step %d: the check %s and all later checks are ignored, because a codelab has at most %d", n, c.Name, codelab.MaxChecks), CodeUnknown)
			}
		}
	}
}

// short returns the beginning of a text from a file, for display.
func short(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// shown returns the name of an entry for display.
func shown(name string) string {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		name = strconv.QuoteToGraphic(name)
	}
	const most = 200
	if r := []rune(name); len(r) > most {
		return string(r[:most]) + "…"
	}
	return name
}

// isNoise reports whether an operating system or an archive program added the file.
func isNoise(name string) bool {
	base := path.Base(name)
	return base == ".DS_Store" || base == "Thumbs.db" || strings.HasPrefix(name, "__MACOSX/")
}

func isMarkdown(name string) bool { return strings.EqualFold(path.Ext(name), ".md") }

func isImage(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
		return true
	}
	return false
}
