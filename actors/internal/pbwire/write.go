package pbwire

import (
	"encoding/binary"
	"math/bits"
)

// Message is a generated message. Its methods accept nil as an empty message.
type Message interface {
	// EncodedSize returns the size of the encoding in bytes.
	EncodedSize() int
	// WriteBack writes the encoding into b before at, and returns its beginning.
	WriteBack(b []byte, at int) int
}

// Encode returns a message's bytes.
func Encode(m Message) []byte {
	b := make([]byte, m.EncodedSize())
	m.WriteBack(b, len(b))
	return b
}

// Append appends a message's bytes to dst.
func Append(dst []byte, m Message) []byte {
	n, size := len(dst), m.EncodedSize()
	if cap(dst)-n < size {
		dst = append(make([]byte, 0, n+size+64), dst...)
	}
	dst = dst[:n+size]
	m.WriteBack(dst, n+size)
	return dst
}

// The wire types of the format that this package uses.
const (
	varint = 0
	fixed8 = 1 // 8 bytes
	sized  = 2
	fixed4 = 5 // 4 bytes
)

// The Put functions write into b, ending at at, and return where the written bytes begin. They
// return this position, instead of storing it, so that it stays in a register. The caller provides
// a buffer of the right size, see Message.EncodedSize.

func putVarint(b []byte, at int, v uint64) int {
	if v < 0x80 {
		at--
		b[at] = byte(v)
		return at
	}
	at -= sizeVarint(v)
	binary.PutUvarint(b[at:], v)
	return at
}

// PutRaw writes bytes unchanged.
func PutRaw(b []byte, at int, raw []byte) int {
	at -= len(raw)
	copy(b[at:], raw)
	return at
}

// PutLen writes the tag and the length of a field before its content, which is in b from at to end.
func PutLen(b []byte, at, field, end int) int {
	return putVarint(b, putVarint(b, at, uint64(end-at)), uint64(field<<3|sized))
}

// PutUint writes a number unless it is 0. The caller extends negative numbers to 64 bits.
func PutUint(b []byte, at, field int, v uint64) int {
	if v == 0 {
		return at
	}
	return PutGiven(b, at, field, v)
}

// PutGiven writes a number, including 0.
func PutGiven(b []byte, at, field int, v uint64) int {
	return putVarint(b, putVarint(b, at, v), uint64(field<<3|varint))
}

// PutBool writes a boolean unless it is false.
func PutBool(b []byte, at, field int, v bool) int {
	if !v {
		return at
	}
	return PutGiven(b, at, field, 1)
}

// PutText writes a text or bytes, unless they are empty.
func PutText[T string | []byte](b []byte, at, field int, v T) int {
	if len(v) == 0 {
		return at
	}
	return PutGivenText(b, at, field, v)
}

// PutGivenText writes a text or bytes, even if they are empty.
func PutGivenText[T string | []byte](b []byte, at, field int, v T) int {
	end := at
	at -= len(v)
	copy(b[at:], v)
	return PutLen(b, at, field, end)
}

// PutPacked writes numbers as one field. It writes nothing for an empty list.
func PutPacked[T int32 | int64 | uint32 | uint64](b []byte, at, field int, list []T) int {
	if len(list) == 0 {
		return at
	}
	end := at
	for i := len(list) - 1; i >= 0; i-- {
		at = putVarint(b, at, uint64(list[i]))
	}
	return PutLen(b, at, field, end)
}

func sizeVarint(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

func sizeTag(field int) int { return sizeVarint(uint64(field) << 3) }

// SizeUint returns the number of bytes that PutUint writes.
func SizeUint(field int, v uint64) int {
	if v == 0 {
		return 0
	}
	return SizeGiven(field, v)
}

// SizeGiven returns the number of bytes that PutGiven writes.
func SizeGiven(field int, v uint64) int { return sizeTag(field) + sizeVarint(v) }

// SizeBool returns the number of bytes that PutBool writes.
func SizeBool(field int, v bool) int {
	if v {
		return sizeTag(field) + 1
	}
	return 0
}

// SizeText returns the size that PutText writes for n bytes.
func SizeText(field, n int) int {
	if n == 0 {
		return 0
	}
	return SizeGivenText(field, n)
}

// SizeGivenText returns the size that PutGivenText writes for n bytes, which is also that of a
// nested message of n bytes.
func SizeGivenText(field, n int) int { return sizeTag(field) + sizeVarint(uint64(n)) + n }

// SizePacked returns the number of bytes that PutPacked writes.
func SizePacked[T int32 | int64 | uint32 | uint64](field int, list []T) int {
	if len(list) == 0 {
		return 0
	}
	n := 0
	for _, v := range list {
		n += sizeVarint(uint64(v))
	}
	return SizeGivenText(field, n)
}
