package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/bytedance/sonic"

	"atelier/actors/durable"
)

// Codec encodes and decodes JSON. ValidateString enables sonic's UTF-8 check, which is off by
// default; strings are copied because fasthttp reuses its buffers.
var Codec = sonic.Config{
	CopyString: true, ValidateString: true, UseUnicodeErrors: true, CaseSensitive: true, NoNullSliceOrMap: true,
}.Froze()

// Invalid returns an Invalid rejection with a formatted text for the client.
func Invalid(format string, args ...any) error {
	return durable.Reject(durable.Invalid, format, args...)
}

// Decode reads a JSON body. A whole number with a fraction or an exponent, such as 35.0, is accepted
// as an integer. An error is an Invalid rejection. If it is about the type of a field, it contains
// the field's name.
func Decode(body []byte, into any) error {
	if !utf8.Valid(body) {
		return Invalid("the body is not valid UTF-8")
	}
	if err := Codec.Unmarshal(body, into); err != nil {
		whole := wholeNumbers(body)
		if whole == nil {
			return explain(body, into)
		}
		return Decode(whole, into)
	}
	return nil
}

// wholeNumbers returns a body whose whole numbers have no fraction and no exponent. For example,
// 35.0 and 3.5e1 become 35: they are integers in JSON Schema, and for clients whose language has
// one kind of numbers. It returns nil if there is no such number.
func wholeNumbers(body []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(body); {
		switch c := body[i]; {
		case c == '"':
			for i++; i < len(body) && body[i] != '"'; i++ {
				if body[i] == '\\' {
					i++
				}
			}
			i++
		case c == '-' || c >= '0' && c <= '9':
			from := i
			for i < len(body) && bytes.IndexByte([]byte("+-.eE0123456789"), body[i]) >= 0 {
				i++
			}
			if n := wholeNumber(body[from:i]); n != "" {
				out = append(append(out, body[done:from]...), n...)
				done = i
			}
		default:
			i++
		}
	}
	if done == 0 {
		return nil
	}
	return append(out, body[done:]...)
}

var fractional = regexp.MustCompile(`^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,3}))?$`)

// maxDigits is the number of digits of the largest int64.
const maxDigits = 19

// wholeNumber returns a number with a fraction or an exponent as an integer if its value is whole,
// and "" for any other number.
func wholeNumber(number []byte) string {
	m := fractional.FindSubmatch(number)
	if m == nil || m[3] == nil && m[4] == nil {
		return ""
	}
	digits, exponent := string(m[2])+string(m[3]), 0
	if m[4] != nil {
		exponent, _ = strconv.Atoi(string(m[4]))
	}
	point := len(m[2]) + exponent // position of the point among the digits
	rest := ""
	switch {
	case point > len(digits)+maxDigits:
		return ""
	case point >= len(digits):
		digits += strings.Repeat("0", point-len(digits))
	case point <= 0:
		digits, rest = "", digits
	default:
		digits, rest = digits[:point], digits[point:]
	}
	if strings.Trim(rest, "0") != "" {
		return ""
	}
	digits = strings.TrimLeft(digits, "0")
	if len(digits) > maxDigits {
		return ""
	}
	if digits == "" {
		return "0"
	}
	return string(m[1]) + digits
}

// DecodeQuietly does the same as Decode for bodies with secrets. Its errors contain the field's
// name but never its value, and it copies only decoded values. Unlike Decode, it accepts no integer
// with a fraction or an exponent.
func DecodeQuietly(body []byte, into any) error {
	if !utf8.Valid(body) {
		return Invalid("the body is not valid UTF-8")
	}
	// The codec copies the decoded parts of the string, which shares the body's memory.
	if err := Codec.UnmarshalFromString(unsafe.String(unsafe.SliceData(body), len(body)), into); err == nil {
		return nil
	}
	var wrong *json.UnmarshalTypeError
	err := json.Unmarshal(body, into)
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return Invalid("%s must be %s", wrong.Field, jsonType(wrong.Type.Kind().String()))
	case errors.As(err, &wrong):
		return Invalid("the body must be %s", jsonType(wrong.Type.Kind().String()))
	case len(body) == 0:
		return Invalid("a JSON body is required")
	}
	return Invalid("the body is not valid JSON")
}

// explain returns the fault of a body. sonic's errors do not contain the field's name, so the slow
// path uses the standard library.
func explain(body []byte, into any) error {
	dec := json.NewDecoder(strings.NewReader(string(body)))
	err := dec.Decode(into)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return Invalid("%s must be %s, not %s", wrong.Field, jsonType(wrong.Type.Kind().String()), wrong.Value)
	case errors.As(err, &wrong):
		return Invalid("the body must be %s, not %s", jsonType(wrong.Type.Kind().String()), wrong.Value)
	case errors.Is(err, io.EOF):
		return Invalid("a JSON body is required")
	}
	return Invalid("the body is not valid JSON")
}

func jsonType(kind string) string {
	switch {
	case kind == "slice" || kind == "array":
		return "an array"
	case kind == "struct" || kind == "map":
		return "an object"
	case kind == "bool":
		return "a boolean"
	case strings.HasPrefix(kind, "int") || strings.HasPrefix(kind, "uint"):
		return "an integer"
	case strings.HasPrefix(kind, "float"):
		return "a number"
	}
	return "a string"
}

// Stamp formats a time as every record except the codelab does: RFC 3339, UTC, milliseconds.
func Stamp(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

// StampOrNull returns Stamp(ms), or nil for 0.
func StampOrNull(ms int64) *string {
	if ms == 0 {
		return nil
	}
	s := Stamp(ms)
	return &s
}

// OrNull returns a pointer to a string, or nil for an empty one.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
