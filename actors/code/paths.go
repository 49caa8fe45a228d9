package code

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Bounds of names, in bytes.
const (
	maxPath = 1024
	maxPart = 255
	maxName = 100
)

// Problem is a fault of the request. Its text is meant for the caller.
type Problem struct{ Text string }

func (p *Problem) Error() string { return p.Text }

// Fault returns a Problem.
func Fault(format string, args ...any) error { return &Problem{fmt.Sprintf(format, args...)} }

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// CheckName returns an error if the name of a head is invalid. Git has its own rules for branches:
// no "..", and neither a dot nor ".lock" at the end.
func CheckName(name string) error {
	if len(name) > maxName || !nameForm.MatchString(name) || strings.Contains(name, "..") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, ".lock") {
		return Fault("a name must match [a-z0-9][a-z0-9._-]*, have at most %d characters, not contain .., and not end with a dot or .lock", maxName)
	}
	return nil
}

// CheckPath returns an error if the path of a file is invalid.
func CheckPath(path string) error {
	switch {
	case path == "":
		return Fault("a path is empty")
	case len(path) > maxPath:
		return Fault("a path is longer than %d bytes", maxPath)
	case !utf8.ValidString(path):
		return Fault("a path is not valid UTF-8")
	case strings.ContainsRune(path, '\\'):
		return Fault("a path has a backslash; folders are separated by /")
	case strings.ContainsFunc(path, unicode.IsControl):
		return Fault("a path has a control character")
	case strings.HasPrefix(path, "/"):
		return Fault("a path is absolute")
	}
	for part := range strings.SplitSeq(path, "/") {
		if err := checkPart(part); err != nil {
			return err
		}
	}
	return nil
}

func checkPart(part string) error {
	switch {
	case part == "":
		return Fault("a path has an empty part")
	case part == "." || part == "..":
		return Fault("a path contains the part %q", part)
	case len(part) > maxPart:
		return Fault("a path has a part longer than %d bytes", maxPart)
	case isGit(part):
		return Fault("a path leads into .git")
	}
	return nil
}

// isGit reports whether some file system treats a name as ".git". The name can be in upper or lower
// case, with characters that HFS+ ignores, or with dots, spaces and streams that Windows removes.
// It can also be the short name that Windows has for .git.
func isGit(part string) bool {
	part = strings.Map(func(r rune) rune {
		if ignorable(r) {
			return -1
		}
		return r
	}, part)
	part = Fold(part)
	part, _, _ = strings.Cut(part, ":")
	part = strings.TrimRight(part, ". ")
	if part == ".git" {
		return true
	}
	number, short := strings.CutPrefix(part, "git~")
	return short && number != "" && strings.Trim(number, "0123456789") == ""
}

// ignorable reports whether a character is invisible. A name with such a character looks like the
// name without it, and some file systems treat both as equal.
func ignorable(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || r == 0x034f
}

// Fold returns the same name for all names that some file system treats as equal.
func Fold(name string) string {
	return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(name)))
}
