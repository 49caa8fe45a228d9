package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Reserved is the prefix of the protocol's own entities.
const Reserved = "dev.commerce."

const maxName = 255

// CheckName returns an error if a reverse-domain name is invalid. A name has at least two labels
// joined by dots. Each label is a lower-case letter followed by lower-case letters, digits, '_'
// and '-' (transport/commerce/RULES.md, "Names and versions").
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

// IsName reports whether name follows the grammar.
func IsName(name string) bool { return CheckName(name) == nil }

// CheckAuthority returns an error if host has no authority over name. The name must begin with the
// reversed labels of the host, or of a domain above the host. com.vendor.loyalty belongs to
// vendor.com and to the hosts below it.
func CheckAuthority(name, host string) error {
	labels := strings.Split(strings.ToLower(strings.TrimSuffix(host, ".")), ".")
	for len(labels) >= 2 && !publicSuffix(labels) {
		reversed := slices.Clone(labels)
		slices.Reverse(reversed)
		owner := strings.Join(reversed, ".")
		if name == owner || strings.HasPrefix(name, owner+".") {
			return nil
		}
		labels = labels[1:]
	}
	return fmt.Errorf("host %q has no authority over the name %q", Brief(host), Brief(name))
}

// publicSuffix reports whether a domain is like co.uk: anybody can register names below it, so its
// owner does not own these names. A full list of such domains would be a dependency, so
// publicSuffix recognizes the patterns that registries use.
func publicSuffix(labels []string) bool {
	if len(labels) != 2 || len(labels[1]) != 2 {
		return false
	}
	switch labels[0] {
	case "co", "com", "net", "org", "ac", "gov", "edu", "ne", "or", "go", "gob", "id", "me", "ltd", "plc":
		return true
	}
	return false
}

// ParseExtends reads an extends member: a name, or an array of names. The result is sorted and has
// no duplicates.
func ParseExtends(value any) ([]string, error) {
	var names []string
	switch v := value.(type) {
	case nil:
		return nil, nil
	case string:
		names = []string{v}
	case []any:
		if len(v) == 0 {
			return nil, errors.New("extends is an empty array; leave it out")
		}
		for _, item := range v {
			name, ok := item.(string)
			if !ok {
				return nil, errors.New("extends has something that is not a name")
			}
			names = append(names, name)
		}
	default:
		return nil, errors.New("extends is neither a name nor an array of names")
	}
	for _, name := range names {
		if err := CheckName(name); err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
