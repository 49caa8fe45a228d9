package broadcast

import (
	"encoding/base64"
	"fmt"
)

// Raw is a text of any bytes. In JSON it is Base64, because a JSON string cannot contain bytes that
// are not UTF-8.
type Raw string

// MarshalText implements encoding.TextMarshaler.
func (r Raw) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, []byte(r)), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *Raw) UnmarshalText(text []byte) error {
	b, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return fmt.Errorf("raw text: %w", err)
	}
	*r = Raw(b)
	return nil
}
