// Package credential parses the source credentials that are tokenized (transport/handler/RULES.md).
// It checks the required fields of each type, and determines the fields that can be shown and the
// most sensitive ones. The bytes of a credential stay unchanged. The package is pure.
package credential

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"github.com/bytedance/sonic"

	"atelier/actors/naming"
	pb "atelier/actors/token/tokenpb"
)

// MaxBytes bounds a credential of any type, in bytes.
const MaxBytes = 16 << 10

// Rules contains the settings for accepting credentials.
type Rules struct {
	// RefuseExpired refuses cards after their expiry month.
	RefuseExpired bool
	// Opaque lists additional types that are stored without being parsed.
	Opaque []string
}

// Shape means that the credential is not a JSON object, or a field is missing or has the wrong
// type.
type Shape struct{ Text string }

func (e *Shape) Error() string { return e.Text }

// Refused means that the credential has the right form but is not accepted. Its text contains field
// names, but never contents.
type Refused struct{ Text string }

func (e *Refused) Error() string { return e.Text }

// Credential is an accepted credential. It is never printed. A Credential shares the bytes from
// which it was parsed: to wipe the credential, wipe these bytes.
type Credential struct {
	raw     []byte
	display pb.Display
}

// Bytes returns the original JSON of the credential.
func (c *Credential) Bytes() []byte { return c.raw }

// Display returns the part that introspection shows.
func (c *Credential) Display() *pb.Display { return &c.display }

// String redacts the credential.
func (*Credential) String() string { return "[redacted]" }

// GoString redacts the credential.
func (*Credential) GoString() string { return "[redacted]" }

// CardType is the Go type whose fields and tags describe a credential of type card.
var CardType = reflect.TypeFor[card]()

// card contains the fields of all card types; a missing field is nil. The tags describe type card.
type card struct {
	Type       *string `json:"type" const:"card"`
	NumberType *string `json:"card_number_type" enum:"fpan|dpan|network_token"`
	Number     *field  `json:"number" as:"string" pattern:"^[0-9]{12,19}$"`
	Month      *int    `json:"expiry_month" range:"1..12"`
	Year       *int    `json:"expiry_year" range:"1000..9999"`
	CVC        *field  `json:"cvc" as:"string" optional:"true" pattern:"^[0-9]{3,4}$"`
	Name       *field  `json:"name" as:"string" optional:"true"`
	Cryptogram *field  `json:"cryptogram" as:"string" optional:"true"`
	ECI        *field  `json:"eci_value" as:"string" optional:"true"`
}

// secrets returns the fields to wipe, with their names.
func (c *card) secrets() [5]named {
	return [...]named{{"number", c.Number}, {"cvc", c.CVC}, {"name", c.Name}, {"cryptogram", c.Cryptogram}, {"eci_value", c.ECI}}
}

type named struct {
	name string
	*field
}

var codec = sonic.Config{CopyString: true, ValidateString: true, CaseSensitive: true}.Froze()

// decode decodes a credential without copying its bytes. It passes them to the codec as a string,
// because the codec copies a []byte.
func decode(raw []byte, into any) error {
	return codec.UnmarshalFromString(unsafe.String(unsafe.SliceData(raw), len(raw)), into)
}

// Parse checks a credential, which must be a JSON object. It fails with *Shape or *Refused. The
// credential shares raw's memory. No other copy of its secrets remains, except of a string with
// escapes (unquote).
func Parse(raw []byte, rules Rules, now time.Time) (*Credential, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil, &Shape{"credential is required"}
	}
	if raw[0] != '{' {
		return nil, &Shape{"credential must be an object"}
	}
	var kind struct {
		Type *string `json:"type"`
	}
	if err := decode(raw, &kind); err != nil {
		return nil, wrongType(raw, &kind)
	}
	if kind.Type == nil {
		return nil, &Shape{"credential.type is required"}
	}
	if len(raw) > MaxBytes {
		return nil, &Refused{fmt.Sprintf("credential is larger than %d bytes", MaxBytes)}
	}
	c := &Credential{raw: raw}
	c.display.Type = *kind.Type
	if Known(*kind.Type) {
		return c, c.readCard(*kind.Type, rules, now)
	}
	for _, t := range rules.Opaque {
		if t == *kind.Type {
			return c, nil
		}
	}
	return nil, &Refused{"credential.type is not one this handler accepts"}
}

// Types lists the credential types that this package parses (commerce protocol, "Tokenization
// resources").
var Types = []string{"card", "pan", "network_token"}

// NumberTypes lists the possible types of a card number.
var NumberTypes = []string{"fpan", "dpan", "network_token"}

// Known reports whether this package parses a type.
func Known(kind string) bool { return slices.Contains(Types, kind) }

func (c *Credential) readCard(kind string, rules Rules, now time.Time) error {
	var in card
	defer func() {
		for _, f := range in.secrets() {
			f.wipe()
		}
	}()
	if err := decode(c.raw, &in); err != nil {
		return wrongType(c.raw, &in)
	}
	for _, f := range in.secrets() {
		if f.field != nil && !f.unquote() {
			return &Shape{"credential." + f.name + " has the wrong type"}
		}
	}
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"card_number_type", in.NumberType != nil || kind != "card"}, {"number", in.Number != nil},
		{"expiry_month", in.Month != nil}, {"expiry_year", in.Year != nil},
		{"cryptogram", in.Cryptogram != nil || kind != "network_token"},
	} {
		if !f.given {
			return &Shape{"credential." + f.name + " is required"}
		}
	}
	luhn := kind == "pan"
	if kind == "card" {
		if !slices.Contains(NumberTypes, *in.NumberType) {
			return &Refused{"credential.card_number_type must be " + naming.Or(NumberTypes...)}
		}
		luhn = *in.NumberType != "network_token"
	}
	switch number := *in.Number; {
	case !digits(number, 12, 19):
		return &Refused{"credential.number must be 12 to 19 digits"}
	case luhn && !luhnValid(number):
		return &Refused{"credential.number fails its check digit"}
	case *in.Month < 1 || *in.Month > 12:
		return &Refused{"credential.expiry_month must be 1 to 12"}
	case *in.Year < 1000 || *in.Year > 9999:
		return &Refused{"credential.expiry_year must have four digits"}
	case in.CVC != nil && !digits(*in.CVC, 3, 4):
		return &Refused{"credential.cvc must be 3 or 4 digits"}
	case kind == "network_token" && len(*in.Cryptogram) == 0:
		return &Refused{"credential.cryptogram is required"}
	case rules.RefuseExpired && !now.Before(time.Date(*in.Year, time.Month(*in.Month)+1, 1, 0, 0, 0, 0, time.UTC)):
		return &Refused{"credential has expired"}
	default:
		c.display.Brand, c.display.LastFour = brand(number), string(number[len(number)-4:])
	}
	return nil
}

// wrongType returns an error that names the field with the wrong type, but contains no values. It
// decodes raw again, because the fast decoder does not report the field.
func wrongType(raw []byte, into any) error {
	var wrong *json.UnmarshalTypeError
	err := json.Unmarshal(raw, into)
	if ok := asType(err, &wrong); ok && wrong.Field != "" {
		return &Shape{"credential." + wrong.Field + " has the wrong type"}
	}
	return &Shape{"credential is not a valid JSON object"}
}

func asType(err error, target **json.UnmarshalTypeError) bool {
	t, ok := err.(*json.UnmarshalTypeError)
	*target = t
	return ok
}

// WithoutSensitive returns the credential without cvc and cryptogram; changed is false if the
// credential has neither field.
func WithoutSensitive(raw []byte) (out []byte, changed bool, err error) {
	var fields map[string]field
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, false, &Shape{"credential is not a valid JSON object"}
	}
	defer func() {
		for _, f := range fields {
			f.wipe()
		}
	}()
	size := 2
	for name, f := range fields {
		switch name {
		case "cvc", "cryptogram":
			f.wipe()
			delete(fields, name)
			changed = true
		default:
			size += 6*len(name) + len(f) + 4
		}
	}
	if !changed {
		return raw, false, nil
	}
	// The JSON is written without the encoder, which would keep a copy of the secrets in its pool.
	out = append(make([]byte, 0, size), '{')
	for i, name := range slices.Sorted(maps.Keys(fields)) {
		if i > 0 {
			out = append(out, ',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, false, fmt.Errorf("encode the name of a field: %w", err)
		}
		out = append(append(append(out, key...), ':'), fields[name]...)
	}
	return append(out, '}'), true, nil
}

func digits(s []byte, least, most int) bool {
	if len(s) < least || len(s) > most {
		return false
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// luhnValid verifies the check digit of ISO/IEC 7812-1.
func luhnValid(number []byte) bool {
	sum := 0
	for i := range len(number) {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
