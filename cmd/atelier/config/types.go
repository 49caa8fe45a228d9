package config

import (
	"fmt"
	"log/slog"
	"time"
)

// Duration is a time span written like "30s", "5m" or "8h".
type Duration time.Duration

// UnmarshalText parses a duration.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf("%q is not a duration like 30s, 5m or 8h", b)
	}
	*d = Duration(v)
	return nil
}

// Std returns the duration as the standard type.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String formats the duration without zero parts at the end: 8h instead of 8h0m0s.
func (d Duration) String() string {
	s := time.Duration(d).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if len(s) > len(zero) && s[len(s)-len(zero):] == zero {
			s = s[:len(s)-2]
		}
	}
	return s
}

// Secret is a text that is never printed.
type Secret string

const redacted = "(set)"

// String hides the value.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString hides the value.
func (s Secret) GoString() string { return s.String() }

// Format hides the value under every verb but %T, which prints its type, and %p. Nothing is printed
// with %p: it would print the value in clear.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// LogValue hides the value.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the value.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
