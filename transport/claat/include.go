package claat

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// inclusion assembles a text from a file and its fragments.
type inclusion struct {
	include   Include
	still     func() error
	out       bytes.Buffer
	fragments int
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
	for line := range bytes.Lines(source) {
		name, ok := included(line)
		if !ok {
			if in.out.Len()+len(line) > maxText {
				return fmt.Errorf("the text with its fragments is larger than %d MiB", maxText>>20)
			}
			in.out.Write(line)
			continue
		}
		if in.include == nil {
			return fmt.Errorf("%s cannot be included: import a ZIP that contains it", name)
		}
		if slices.Contains(path, name) {
			return fmt.Errorf("%s includes itself", name)
		}
		if in.fragments++; in.fragments > maxFragments {
			return fmt.Errorf("more than %d fragments are included", maxFragments)
		}
		fragment, err := in.include(name)
		if err != nil {
			return fmt.Errorf("include %s: %w", name, err)
		}
		if fragment, err = Decode(fragment); err != nil {
			if errors.Is(err, ErrNoText) {
				err = errors.New("it is not text")
			}
			return fmt.Errorf("include %s: %w", name, err)
		}
		if err := in.expand(fragment, append(path, name)); err != nil {
			return err
		}
		in.out.WriteByte('\n')
	}
	return nil
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
