package claat

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sort"
)

// inclusion assembles a text from a file and its fragments.
type inclusion struct {
	include   Include
	still     func() error
	out       bytes.Buffer
	fragments int
	lines     int // of out that are complete
	parts     []part
}

// part is a run of lines of out that come from one file.
type part struct {
	from int    // its first line in out, which counts from 0
	name string // the fragment, or "" for the file itself
	line int    // its first line in that file, which counts from 1
}

// expand appends source to out, with the fragments instead of <<file.md>> lines. It does the same
// with each fragment. path lists the fragments in which source is included, outermost first.
func (in *inclusion) expand(source []byte, path []string) error {
	if err := in.still(); err != nil {
		return err
	}
	if len(path) > maxDepth {
		return fmt.Errorf("fragments are nested more than %d levels deep", maxDepth)
	}
	name := ""
	if len(path) > 0 {
		name = path[len(path)-1]
	}
	in.parts = append(in.parts, part{in.lines, name, 1})
	number := 0
	for line := range bytes.Lines(source) {
		number++
		fragment, ok := included(line)
		if !ok {
			if in.out.Len()+len(line) > maxText {
				return fmt.Errorf("the text with its fragments is larger than %d MiB", maxText>>20)
			}
			in.write(line)
			continue
		}
		if in.include == nil {
			return fmt.Errorf("%s cannot be included: import a ZIP that contains it", fragment)
		}
		if slices.Contains(path, fragment) {
			return fmt.Errorf("%s includes itself", fragment)
		}
		if in.fragments++; in.fragments > maxFragments {
			return fmt.Errorf("more than %d fragments are included", maxFragments)
		}
		content, err := in.include(fragment)
		if err != nil {
			return fmt.Errorf("include %s: %w", fragment, err)
		}
		if content, err = Decode(content); err != nil {
			if errors.Is(err, ErrNoText) {
				err = errors.New("it is not text")
			}
			return fmt.Errorf("include %s: %w", fragment, err)
		}
		if err := in.expand(content, append(path, fragment)); err != nil {
			return err
		}
		in.write([]byte{'\n'})
		in.parts = append(in.parts, part{in.lines, name, number + 1})
	}
	return nil
}

func (in *inclusion) write(b []byte) {
	in.out.Write(b)
	in.lines += bytes.Count(b, []byte{'\n'})
}

// locate returns err with its position in the file or fragment instead of its position in out.
func (in *inclusion) locate(err error) error {
	var f *fault
	if !errors.As(err, &f) {
		return err
	}
	behind := sort.Search(len(in.parts), func(i int) bool { return in.parts[i].from >= f.line })
	p := in.parts[behind-1]
	return &fault{p.name, p.line + f.line - 1 - p.from, f.column, f.error}
}

// maxName bounds the name of a fragment, in bytes.
const maxName = 1024

// included returns the name in a line that is only an include.
func included(line []byte) (string, bool) {
	line = bytes.TrimSpace(line)
	inner, ok := bytes.CutPrefix(line, []byte("<<"))
	if !ok {
		return "", false
	}
	inner, ok = bytes.CutSuffix(inner, []byte(">>"))
	name := string(bytes.TrimSpace(inner))
	return name, ok && name != "" && len(name) <= maxName && !bytes.ContainsAny(inner, "<>")
}
