package claat

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// expand puts the fragments in the place of <<file.md>> lines, which may
// themselves include others.
func expand(source []byte, include Include, path []string, total *int) ([]byte, error) {
	if len(path) > maxDepth {
		return nil, fmt.Errorf("fragments are included more than %d deep", maxDepth)
	}
	var out bytes.Buffer
	for line := range bytes.Lines(source) {
		name, ok := included(line)
		if !ok {
			if *total += len(line); *total > maxText {
				return nil, fmt.Errorf("the text with its fragments is larger than %d MiB", maxText>>20)
			}
			out.Write(line)
			continue
		}
		if include == nil {
			return nil, fmt.Errorf("%s cannot be included: import a ZIP that holds it", name)
		}
		if slices.Contains(path, name) {
			return nil, fmt.Errorf("%s includes itself", name)
		}
		fragment, err := include(name)
		if err != nil {
			return nil, fmt.Errorf("include %s: %w", name, err)
		}
		if !utf8.Valid(fragment) {
			return nil, errors.New(name + " is not valid UTF-8")
		}
		inner, err := expand(bytes.ReplaceAll(fragment, []byte("\r\n"), []byte("\n")), include, append(path, name), total)
		if err != nil {
			return nil, err
		}
		out.Write(inner)
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}

// included reads the name off a line that is an include and nothing else.
func included(line []byte) (string, bool) {
	line = bytes.TrimSpace(line)
	inner, ok := bytes.CutPrefix(line, []byte("<<"))
	if !ok {
		return "", false
	}
	inner, ok = bytes.CutSuffix(inner, []byte(">>"))
	name := string(bytes.TrimSpace(inner))
	return name, ok && name != "" && !bytes.ContainsAny(inner, "<>")
}
