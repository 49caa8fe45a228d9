package keys

import (
	"fmt"
	"log/slog"
)

const redacted = "(key)"

// Key is a decrypted AI key. It is redacted in logs, by fmt, and in JSON.
type Key struct{ text string }

// Reveal returns the key, for the request header that needs it.
func (k Key) Reveal() string { return k.text }

// Zero reports whether the key is empty.
func (k Key) Zero() bool { return k.text == "" }

// String redacts the key.
func (k Key) String() string { return redacted }

// Format redacts the key for all verbs except %T and %p, for which fmt does not call it. %T shows
// only the type, and go vet rejects %p.
func (k Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue redacts the key.
func (k Key) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText redacts the key.
func (k Key) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON redacts the key.
func (k Key) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
