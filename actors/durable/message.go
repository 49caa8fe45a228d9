package durable

import "atelier/actors/internal/pbwire"

// AppendMessage appends an encoded message to dst; it serves as
// Kind.AppendEvent.
func AppendMessage[E pbwire.Message](dst []byte, e E) ([]byte, error) {
	return pbwire.Append(dst, e), nil
}
