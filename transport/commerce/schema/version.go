package schema

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// CheckVersion validates a version: a real calendar date, YYYY-MM-DD ("Versioning"). Such versions
// compare as strings.
func CheckVersion(version string) error {
	if len(version) != len(time.DateOnly) {
		return fmt.Errorf("version %q is not a date YYYY-MM-DD", Brief(version))
	}
	if _, err := time.Parse(time.DateOnly, version); err != nil {
		return fmt.Errorf("version %q is not a calendar date YYYY-MM-DD", version)
	}
	return nil
}

// IsVersion reports whether version is a calendar date.
func IsVersion(version string) bool { return CheckVersion(version) == nil }

// Range is a range of versions, both ends included. If Max is empty, the range has no end.
type Range struct {
	Min string `json:"min"`
	Max string `json:"max,omitempty"`
}

// Holds reports whether version is in the range.
func (r Range) Holds(version string) bool {
	return version >= r.Min && (r.Max == "" || version <= r.Max)
}

func (r Range) String() string {
	if r.Max == "" {
		return r.Min + " or later"
	}
	return r.Min + " to " + r.Max
}

// Requires contains the versions of the protocol and of capabilities that an extension requires.
type Requires struct {
	// Protocol is nil if any version is suitable.
	Protocol     *Range
	Capabilities map[string]Range
}

// RequiresError is a fault in a requires member, with its position.
type RequiresError struct {
	Pointer string
	// Part is shape (a missing or malformed value), range (min after max) or key (an unknown
	// member).
	Part   string
	Reason string
}

func (e *RequiresError) Error() string { return "requires" + e.Pointer + ": " + e.Reason }

// ParseRequires parses a requires member; nil means no requirement. It refuses the faults found by
// CheckRequires, except unknown members.
func ParseRequires(value any) (Requires, error) {
	if value == nil {
		return Requires{}, nil
	}
	for _, e := range CheckRequires(value) {
		if e.Part != "key" {
			return Requires{}, e
		}
	}
	object := value.(map[string]any)
	var r Requires
	if p, ok := object["protocol"]; ok {
		protocol := rangeOf(p)
		r.Protocol = &protocol
	}
	capabilities, _ := object["capabilities"].(map[string]any)
	r.Capabilities = make(map[string]Range, len(capabilities))
	for name, c := range capabilities {
		r.Capabilities[name] = rangeOf(c)
	}
	return r, nil
}

func rangeOf(value any) Range {
	object := value.(map[string]any)
	var r Range
	r.Min, _ = object["min"].(string)
	r.Max, _ = object["max"].(string)
	return r
}

// CheckRequires returns all faults of a requires member.
func CheckRequires(value any) (wrong []*RequiresError) {
	object, ok := value.(map[string]any)
	if !ok {
		return []*RequiresError{{"", "shape", "want an object with protocol and capabilities"}}
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		at := "/" + key
		switch key {
		case "protocol":
			wrong = append(wrong, checkRange(at, object[key])...)
		case "capabilities":
			byName, ok := object[key].(map[string]any)
			if !ok {
				wrong = append(wrong, &RequiresError{at, "shape", "want an object of ranges by capability name"})
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(byName)) {
				below := at + "/" + name
				if err := CheckName(name); err != nil {
					wrong = append(wrong, &RequiresError{at, "shape", err.Error()})
					continue
				}
				wrong = append(wrong, checkRange(below, byName[name])...)
			}
		default:
			wrong = append(wrong, &RequiresError{"", "key", fmt.Sprintf("unknown member %q; known are protocol and capabilities", Brief(key))})
		}
	}
	return wrong
}

func checkRange(at string, value any) (wrong []*RequiresError) {
	object, ok := value.(map[string]any)
	if !ok {
		return []*RequiresError{{at, "shape", "want an object with min and, if there is an end, max"}}
	}
	if _, ok := object["min"]; !ok {
		wrong = append(wrong, &RequiresError{at, "shape", "min is missing"})
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if key != "min" && key != "max" {
			wrong = append(wrong, &RequiresError{at, "key", fmt.Sprintf("unknown member %q; known are min and max", Brief(key))})
			continue
		}
		s, ok := object[key].(string)
		if !ok {
			wrong = append(wrong, &RequiresError{at + "/" + key, "shape", "want a version, a string YYYY-MM-DD"})
		} else if err := CheckVersion(s); err != nil {
			wrong = append(wrong, &RequiresError{at + "/" + key, "shape", err.Error()})
		}
	}
	if r := rangeOf(object); len(wrong) == 0 && r.Max != "" && r.Min > r.Max {
		wrong = append(wrong, &RequiresError{at, "range", fmt.Sprintf("min %s is after max %s", r.Min, r.Max)})
	}
	return wrong
}

// Unmet returns a description of an unmet requirement, or "" if all are met. version returns the
// chosen version of a capability; an empty protocol is not checked.
func (r Requires) Unmet(protocol string, version func(name string) (string, bool)) string {
	if r.Protocol != nil && protocol != "" && !r.Protocol.Holds(protocol) {
		return fmt.Sprintf("requires protocol %s, but it is %s", r.Protocol, protocol)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Capabilities)) {
		v, ok := version(name)
		if !ok {
			return fmt.Sprintf("requires %s, which is not there", name)
		}
		if want := r.Capabilities[name]; !want.Holds(v) {
			return fmt.Sprintf("requires %s %s, but it is %s", name, want, v)
		}
	}
	return ""
}
