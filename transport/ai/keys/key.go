package keys

import (
	"fmt"
	"log/slog"
)

const redacted = "(key)"

// Key is an AI key in the clear. It never shows itself: not in logs, under no
// verb of fmt, and not as JSON.
type Key struct{ text string }

// Reveal gives the key, for the one header it belongs in.
func (k Key) Reveal() string { return k.text }

// Zero reports whether there is no key.
func (k Key) Zero() bool { return k.text == "" }

// String hides it.
func (k Key) String() string { return redacted }

// Format hides it under every verb.
func (k Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue hides it.
func (k Key) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides it.
func (k Key) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON hides it.
func (k Key) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
