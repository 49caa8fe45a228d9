package credential

import (
	"bytes"
	"encoding/json"
)

// field is a copy of one JSON value of a credential. It is a byte slice because a string cannot be
// wiped after use.
type field []byte

// wiping is called before bytes are wiped. Tests replace it.
var wiping = func([]byte) {}

// UnmarshalJSON stores a copy of the value, which wipe can overwrite.
func (f *field) UnmarshalJSON(b []byte) error {
	f.wipe() // f has a value only if the name occurs twice in the object
	*f = bytes.Clone(b)
	return nil
}

// unquote replaces a JSON string with its text, in place, and reports whether it is a string.
func (f *field) unquote() bool {
	b := []byte(*f)
	if len(b) < 2 || b[0] != '"' {
		return false
	}
	if bytes.IndexByte(b, '\\') < 0 {
		*f = b[1 : len(b)-1]
		return true
	}
	// The value has escapes, which is unusual for digits. The Go string text cannot be wiped.
	var text string
	if json.Unmarshal(b, &text) != nil {
		return false
	}
	*f = b[:copy(b, text)] // the text is never longer than its escaped form
	return true
}

func (f *field) wipe() {
	if f != nil {
		b := (*f)[:cap(*f)]
		wiping(b)
		clear(b)
	}
}
