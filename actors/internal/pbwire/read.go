package pbwire

import (
	"encoding/binary"
	"errors"
)

// ErrMalformed is the error for bytes that are not a valid message.
var ErrMalformed = errors.New("malformed protobuf message")

// Reader iterates over the fields of an encoded message:
//
//	for r := Read(b); r.Next(); {
//		switch r.Field { case 1: m.Name = r.Text() … default: r.Skip(&m.unknown) }
//	}
//
// If the wire type of a field does not match the method that reads it, the message is malformed.
// Returned values are copies.
type Reader struct {
	Field int
	rest  []byte
	start []byte // of the field
	kind  int
	err   error
}

// Read begins with the first field.
func Read(b []byte) *Reader { return &Reader{rest: b} }

// Err returns the error that ended the reading, or nil at the end of the message.
func (r *Reader) Err() error { return r.err }

// Next advances to the next field. It returns false at the end of the
// message and after an error.
func (r *Reader) Next() bool {
	if r.err != nil || len(r.rest) == 0 {
		return false
	}
	r.start = r.rest
	tag := r.uvarint()
	r.Field, r.kind = int(tag>>3), int(tag&7)
	if tag>>3 == 0 || tag>>3 > 1<<29-1 {
		r.fail()
	}
	return r.err == nil
}

func (r *Reader) fail() { r.rest, r.err = nil, ErrMalformed }

func (r *Reader) uvarint() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 {
		v := r.rest[0]
		r.rest = r.rest[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// Uint reads a number.
func (r *Reader) Uint() uint64 {
	if r.kind != varint {
		r.fail()
		return 0
	}
	return r.uvarint()
}

// Bool reads a boolean.
func (r *Reader) Bool() bool { return r.Uint() != 0 }

// part returns the content of a length-delimited field without copying it.
func (r *Reader) part() []byte {
	if r.kind != sized {
		r.fail()
		return nil
	}
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.fail()
		return nil
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

// Text reads a text.
func (r *Reader) Text() string { return string(r.part()) }

// Bytes reads bytes; the result is never nil.
func (r *Reader) Bytes() []byte { return append([]byte{}, r.part()...) }

// Inner reads a nested message.
func (r *Reader) Inner(m interface{ Decode([]byte) error }) {
	b := r.part()
	if r.err != nil {
		return
	}
	if err := m.Decode(b); err != nil {
		r.fail()
	}
}

// ReadPacked appends the number or the packed numbers of a field to list.
func ReadPacked[T int32 | int64 | uint32 | uint64](r *Reader, list []T) []T {
	if r.kind == varint {
		return append(list, T(r.uvarint()))
	}
	in := Read(r.part())
	for len(in.rest) > 0 {
		list = append(list, T(in.uvarint()))
	}
	if in.err != nil {
		r.fail()
	}
	return list
}

// ReadEntry reads an entry of a map with text keys.
func ReadEntry[V any](r *Reader, into *map[string]V, value func(*Reader) V) {
	var key string
	var v V
	in := Read(r.part())
	for in.Next() {
		switch in.Field {
		case 1:
			key = in.Text()
		case 2:
			v = value(in)
		default:
			in.Skip(nil)
		}
	}
	if in.err != nil {
		r.fail()
		return
	}
	if *into == nil {
		*into = map[string]V{}
	}
	(*into)[key] = v
}

// Skip skips an unknown field, and appends its bytes to kept, unless kept is nil.
func (r *Reader) Skip(kept *[]byte) {
	switch r.kind {
	case varint:
		r.uvarint()
	case sized:
		r.part()
	case fixed8, fixed4:
		n := 8
		if r.kind == fixed4 {
			n = 4
		}
		if len(r.rest) < n {
			r.fail()
			return
		}
		r.rest = r.rest[n:]
	default: // groups are not used
		r.fail()
	}
	if r.err == nil && kept != nil {
		*kept = append(*kept, r.start[:len(r.start)-len(r.rest)]...)
	}
}
