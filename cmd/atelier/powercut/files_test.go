package powercut

import (
	"regexp"
	"strings"

	"atelier/persistence/powercut"
)

// filesOnDisk lists the kinds of files and folders that a server creates. The first matching
// pattern applies.
var filesOnDisk = []struct {
	kind string
	path *regexp.Regexp
}{
	{"write-ahead log", regexp.MustCompile(`^data/store/\d+\.mem$`)},
	{"value log", regexp.MustCompile(`^data/store/\d+\.vlog$`)},
	{"table", regexp.MustCompile(`^data/store/\d+\.sst$`)},
	{"MANIFEST", regexp.MustCompile(`^data/store/MANIFEST`)},
	{"key registry", regexp.MustCompile(`^data/store/(REWRITE-)?KEYREGISTRY$`)},
	{"statistics", regexp.MustCompile(`^data/store/DISCARD$`)},
	{"lock", regexp.MustCompile(`^data/store/LOCK$`)},
	{"store's folder", regexp.MustCompile(`^data/store$`)},
	{"mark", regexp.MustCompile(`^data/store\.mark$`)},
	{"keys", regexp.MustCompile(`^data/secrets`)},
	{"files", regexp.MustCompile(`^data/blobs`)},
	{"code", regexp.MustCompile(`^data/objects`)},
	{"objects", regexp.MustCompile(`^objects`)},
	{"copies of objects", regexp.MustCompile(`^data/copies`)},
	{"control socket", regexp.MustCompile(`^data/(control\.sock|\.control)`)},
	{"data folder", regexp.MustCompile(`^(data|\.)$`)},
}

// fileKind returns the kind of a file.
func fileKind(path string) string {
	for _, f := range filesOnDisk {
		if f.path.MatchString(path) {
			return f.kind
		}
	}
	return "unknown: " + path
}

// place is a kind of call on a kind of file.
type place struct {
	file string
	call powercut.Kind
}

func (p place) String() string { return p.call.String() + ", " + p.file }

// places counts the calls of a trace.
func places(t powercut.Trace) map[place]int {
	out := map[place]int{}
	t.At(func(_ int, op *powercut.Op, path string) {
		if op.Kind != powercut.Note {
			out[place{fileKind(path), op.Kind}]++
		}
	})
	return out
}

// neverMade contains the reasons why a server never makes certain kinds of calls. All other kinds
// must occur.
var neverMade = map[powercut.Kind]string{
	powercut.Link:  "each file has only one name",
	powercut.Chmod: "files are created with their final modes",
}

// missing returns the kinds of calls and files that never occurred in the traces, and the files
// without a kind.
func missing(seen map[place]int) (wrong []string) {
	calls, files := map[powercut.Kind]bool{}, map[string]bool{}
	for p := range seen {
		calls[p.call], files[p.file] = true, true
		if strings.HasPrefix(p.file, "unknown") {
			wrong = append(wrong, p.file+": no kind of file matches it")
		}
	}
	for _, k := range powercut.Kinds() {
		if !calls[k] && neverMade[k] == "" {
			wrong = append(wrong, "no call was a "+k.String())
		}
	}
	for _, f := range filesOnDisk {
		if !files[f.kind] {
			wrong = append(wrong, "no call used a file of the kind "+f.kind)
		}
	}
	return wrong
}
