package wire

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"atelier/actors/durable"
)

type body struct {
	Name  string   `json:"name"`
	Count int32    `json:"count"`
	On    *bool    `json:"on"`
	Tags  []string `json:"tags"`
	Inner struct {
		Deep string `json:"deep"`
	} `json:"inner"`
}

func TestErrorsNameTheInvalidField(t *testing.T) {
	const secret = "4111111111111111"
	for in, want := range map[string]string{
		"":                                  "a JSON body is required",
		"{":                                 "not valid JSON",
		"nonsense":                          "not valid JSON",
		"[]":                                "the body must be an object",
		"\"" + secret + "\"":                "the body must be an object",
		"{\"name\":\"\xff\"}":               "not valid UTF-8",
		`{"name":` + secret + `}`:           "name must be a string",
		`{"count":"` + secret + `"}`:        "count must be an integer",
		`{"count":1.5}`:                     "count must be an integer",
		`{"on":"` + secret + `"}`:           "on must be a boolean",
		`{"tags":"` + secret + `"}`:         "tags must be an array",
		`{"inner":{"deep":` + secret + `}}`: "inner.deep must be a string",
	} {
		for name, decode := range map[string]func([]byte, any) error{"Decode": Decode, "DecodeQuietly": DecodeQuietly} {
			var b body
			err := decode([]byte(in), &b)
			var rejected *durable.Rejection
			if !errors.As(err, &rejected) || rejected.Reason != durable.Invalid || !strings.Contains(rejected.Text, want) {
				t.Errorf("%s(%q) returned %v, want %q", name, in, err, want)
			}
			if name == "DecodeQuietly" && err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the error repeats a value of the body: %v", err)
			}
		}
	}
}

func TestDecodedValuesAreCopies(t *testing.T) {
	for name, decode := range map[string]func([]byte, any) error{"Decode": Decode, "DecodeQuietly": DecodeQuietly} {
		in := []byte(`{"name":"Ann","count":3,"tags":["a"],"Count":9,"more":1}`)
		var b body
		if err := decode(in, &b); err != nil {
			t.Fatal(err)
		}
		for i := range in {
			in[i] = 'x' // the server now uses its buffer for another request
		}
		if b.Name != "Ann" || b.Count != 3 || b.Tags[0] != "a" || b.On != nil {
			t.Errorf("%s: after reuse of the buffer, the values are %+v", name, b)
		}
	}
}

func TestTimesAndEmptyValues(t *testing.T) {
	if got := Stamp(1_700_000_000_120); got != "2023-11-14T22:13:20.120Z" {
		t.Errorf("Stamp returned %q", got)
	}
	if StampOrNull(0) != nil || *StampOrNull(1) != "1970-01-01T00:00:00.001Z" || OrNull("") != nil || *OrNull("x") != "x" {
		t.Error("an empty value is not null, or another is")
	}
	b, err := Codec.Marshal(struct {
		List []string          `json:"list"`
		Map  map[string]string `json:"map"`
	}{})
	if err != nil || string(b) != `{"list":[],"map":{}}` {
		t.Errorf("the empty lists and maps are %s, %v", b, err)
	}
}

// Clients whose language has only one number type can write the integer 3 as 3.0.
func TestIntegersCanHaveAFractionOfZero(t *testing.T) {
	type record struct {
		N int32   `json:"n"`
		S string  `json:"s"`
		F float64 `json:"f"`
		L []int64 `json:"l"`
	}
	for in, want := range map[string]string{
		`{"n":35.0}`:                                   "{35  0 []}",
		`{"n":3.5e1,"s":"1.0 \" 2.0","f":1.5}`:         `{35 1.0 " 2.0 1.5 []}`,
		`{"n":-2.000,"l":[1e3,0.0,-0.0,10.0e-1,9e18]}`: "{-2  0 [1000 0 0 1 9000000000000000000]}",
		`{"n":350E-1}`:                                 "{35  0 []}",
		`{"n":35.5}`:                                   "",
		`{"n":1e400}`:                                  "",
		`{"n":35.00000000000000000001}`:                "",
		`{"n":5e-1}`:                                   "",
		`{"n":"35.0"}`:                                 "",
		`{"n":1.}`:                                     "",
		`{"n":01.0}`:                                   "",
		`{"n":3e9}`:                                    "",
	} {
		var r record
		err := Decode([]byte(in), &r)
		if got := fmt.Sprint(r); want == "" && err == nil || want != "" && (err != nil || got != want) {
			t.Errorf("%s is decoded as %s, %v", in, got, err)
		}
	}
}
