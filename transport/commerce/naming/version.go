package naming

import (
	"fmt"
	"time"

	"atelier/transport/commerce/brief"
)

// CheckVersion says what is wrong with a version: a real calendar date,
// YYYY-MM-DD. Such versions compare as strings.
func CheckVersion(version string) error {
	if len(version) != len(time.DateOnly) {
		return fmt.Errorf("version %q is not a date YYYY-MM-DD", brief.Text(version))
	}
	if _, err := time.Parse(time.DateOnly, version); err != nil {
		return fmt.Errorf("version %q is not a calendar date YYYY-MM-DD", version)
	}
	return nil
}

// IsVersion tells whether version is a calendar date.
func IsVersion(version string) bool { return CheckVersion(version) == nil }

// Range is a range of versions, both ends included. An empty Max is open.
type Range struct {
	Min string `json:"min"`
	Max string `json:"max,omitempty"`
}

// Holds tells whether version lies in the range.
func (r Range) Holds(version string) bool {
	return version >= r.Min && (r.Max == "" || version <= r.Max)
}

func (r Range) String() string {
	if r.Max == "" {
		return r.Min + " or later"
	}
	return r.Min + " to " + r.Max
}
