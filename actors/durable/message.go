package durable

import "atelier/actors/internal/pbwire"

// Message is an event that is a generated protobuf message.
type Message interface {
	pbwire.Message
	Decode(record []byte) error
	// Known reports whether the event has content that this program can decode. An event of a newer
	// program decodes as an event without content.
	Known() bool
}

// AppendMessage appends an encoded message to dst; it serves as Kind.AppendEvent.
func AppendMessage[E pbwire.Message](dst []byte, e E) ([]byte, error) {
	return pbwire.Append(dst, e), nil
}

// ParseMessage decodes a message; it serves as Kind.ParseEvent.
func ParseMessage[P interface {
	*T
	Message
}, T any](record []byte) (P, error) {
	e := P(new(T))
	if err := e.Decode(record); err != nil {
		return nil, err
	}
	if !e.Known() {
		return nil, ErrUnknownEvent
	}
	return e, nil
}
