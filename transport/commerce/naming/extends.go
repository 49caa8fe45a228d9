package naming

import (
	"errors"
	"slices"
)

// ParseExtends reads an extends member: a name, or an array of names. The
// names come sorted and once each.
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
