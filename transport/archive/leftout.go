package archive

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// LeftOut is something of an imported file that the codelab does not have.
type LeftOut struct {
	// File is its path in the archive; empty for the imported file itself.
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// MaxLeftOut bounds the list: one more entry says how many there were besides.
const MaxLeftOut = 100

// leftOut collects what was left out, each file once.
type leftOut struct {
	reasons map[LeftOut]bool
	more    int
}

func (o *leftOut) add(file, reason string) {
	e := LeftOut{file, reason}
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

// list is what was left out by its name. It is never nil.
func (o *leftOut) list() []LeftOut {
	out := slices.SortedFunc(maps.Keys(o.reasons), func(a, b LeftOut) int {
		if d := strings.Compare(a.File, b.File); d != 0 {
			return d
		}
		return strings.Compare(a.Reason, b.Reason)
	})
	if o.more > 0 {
		out = append(out, LeftOut{"", fmt.Sprintf("and %d more were left out", o.more)})
	}
	if out == nil {
		out = []LeftOut{}
	}
	return out
}

// unused names the files of the archive that nothing asked for.
func (t *tree) unused() {
	for _, name := range slices.Sorted(maps.Keys(t.files)) {
		switch {
		case t.used[name], isNoise(name):
		case isImage(name), strings.HasPrefix(name, folder):
			t.left.add(name, "nothing refers to it")
		case isMarkdown(name):
			t.left.add(name, "it is no part of the codelab")
		default:
			t.left.add(name, "an import does not take this kind of file")
		}
	}
}

// isNoise says that a file is nobody's: packing programs add it.
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
