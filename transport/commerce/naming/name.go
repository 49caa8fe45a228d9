package naming

import (
	"errors"
	"fmt"
	"strings"
)

// Reserved begins the names of the protocol's own entities.
const Reserved = "dev.commerce."

const maxName = 255

// CheckName says what is wrong with a reverse-domain name: labels joined by
// dots, at least two, each a lower-case letter and then lower-case letters,
// digits, '_' and '-'.
func CheckName(name string) error {
	if name == "" {
		return errors.New("the name is empty")
	}
	if len(name) > maxName {
		return fmt.Errorf("the name is longer than %d bytes", maxName)
	}
	labels := 0
	for label := range strings.SplitSeq(name, ".") {
		labels++
		if label == "" {
			return fmt.Errorf("name %q has an empty label", name)
		}
		if label[0] < 'a' || label[0] > 'z' {
			return fmt.Errorf("label %q of name %q does not start with a lower-case letter", label, name)
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
				return fmt.Errorf("name %q has %q; labels are lower-case letters, digits, '_' and '-'", name, c)
			}
		}
	}
	if labels < 2 {
		return fmt.Errorf("name %q has one label; a reverse-domain name has at least two", name)
	}
	return nil
}

// IsName tells whether name keeps the grammar.
func IsName(name string) bool { return CheckName(name) == nil }
