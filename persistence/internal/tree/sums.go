package tree

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"atelier/actors/code"
)

// Sums are the SHA-256 of the files of a plain tree, in hexadecimal digits, and their
// modes. On disk they have the form of sha256sum, where a line that begins with # is a
// comment; an empty line and the SHA-256 of the lines before it follow. A comment names
// each executable file; its path is escaped, so that a line of a file is never taken
// for one.
type Sums struct {
	ByPath map[string]string
	Modes  map[string]code.Mode // Executable; others are not there
}

const executableLine = "#executable "

// NewSums returns the sums of no files.
func NewSums() *Sums { return &Sums{ByPath: map[string]string{}, Modes: map[string]code.Mode{}} }

// Add adds a file.
func (s *Sums) Add(path, sum string, mode code.Mode) {
	s.ByPath[path] = sum
	if mode == code.Executable {
		s.Modes[path] = mode
	}
}

// Encode writes the sums.
func (s *Sums) Encode() []byte {
	var b []byte
	for _, path := range slices.Sorted(maps.Keys(s.ByPath)) {
		b = fmt.Appendf(b, "%s  %s\n", s.ByPath[path], path)
	}
	for _, path := range slices.Sorted(maps.Keys(s.Modes)) {
		b = fmt.Appendf(b, "%s%s\n", executableLine, url.PathEscape(path))
	}
	b = bytes.TrimSuffix(b, []byte("\n"))
	return fmt.Appendf(b, "\n\n%s", SumOf(b))
}

// DecodeSums reads what Encode wrote; ok is false if it is damaged.
func DecodeSums(b []byte) (s *Sums, ok bool) {
	lines, own, ok := bytes.Cut(b, []byte("\n\n"))
	if !ok || SumOf(lines) != string(own) {
		return nil, false
	}
	s = NewSums()
	for line := range strings.SplitSeq(string(lines), "\n") {
		if escaped, executable := strings.CutPrefix(line, executableLine); executable {
			if path, err := url.PathUnescape(escaped); err == nil {
				s.Modes[path] = code.Executable
			}
		} else if sum, path, ok := strings.Cut(line, "  "); ok {
			s.ByPath[path] = sum
		}
	}
	return s, true
}

// SumOf is the SHA-256 of a content in hexadecimal digits.
func SumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
