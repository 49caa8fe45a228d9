package trees

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"

	"atelier/actors/code"
)

// sums are the SHA-256 of the files of a plain tree, in hexadecimal digits, and their
// modes. On disk they have the form of sha256sum, where a line that begins with # is a
// comment; an empty line and the SHA-256 of the lines before it follow. A comment names
// each executable file; its path is escaped, so that a line of a file is never taken
// for one.
type sums struct {
	byPath map[string]string
	modes  map[string]code.Mode // Executable; others are not there
}

const executableLine = "#executable "

// decodeSums reads them; ok is false if it is damaged.
func decodeSums(b []byte) (s *sums, ok bool) {
	lines, own, ok := bytes.Cut(b, []byte("\n\n"))
	if !ok || sumOf(lines) != string(own) {
		return nil, false
	}
	s = &sums{byPath: map[string]string{}, modes: map[string]code.Mode{}}
	for line := range strings.SplitSeq(string(lines), "\n") {
		if escaped, executable := strings.CutPrefix(line, executableLine); executable {
			if path, err := url.PathUnescape(escaped); err == nil {
				s.modes[path] = code.Executable
			}
		} else if sum, path, ok := strings.Cut(line, "  "); ok {
			s.byPath[path] = sum
		}
	}
	return s, true
}

// sumOf is the SHA-256 of a content in hexadecimal digits.
func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
