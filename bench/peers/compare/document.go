package compare

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// These lines surround the comparison in its document.
const (
	begins = "<!-- What follows is written by make peers. -->"
	ends   = "<!-- What make peers writes ends here. -->"
)

var errMarks = errors.New("the document has one of the two marks, or has them in the wrong order")

// place inserts the section into a document. The section replaces an older one, or is appended.
func place(document, section string) (string, error) {
	section = begins + "\n\n" + strings.TrimSpace(section) + "\n\n" + ends
	before, rest, begun := strings.Cut(document, begins)
	_, after, ended := strings.Cut(rest, ends)
	switch {
	case begun && ended:
		return before + section + after, nil
	case begun || strings.Contains(document, ends):
		return "", errMarks
	}
	return strings.TrimRight(document, "\n") + "\n\n" + section + "\n", nil
}

// writeInto writes the section into a file.
func writeInto(path, section string) error {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read document: %w", err)
	}
	text, err := place(string(b), section)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write document: %w", err)
	}
	return nil
}
