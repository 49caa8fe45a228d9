package describe

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// words is a vocabulary with the components Id and State, of which State allows null, and with two
// other schemas.
type words struct{ siblings bool }

func (words) Named(name string) (*Schema, bool) {
	switch name {
	case "Id":
		return &Schema{Type: "string"}, true
	case "State":
		return &Schema{Type: []string{"string", "null"}}, true
	case "a colour":
		return &Schema{Type: "string", Enum: []any{"red", "green"}}, false
	case "counts":
		return &Schema{Type: []string{"array", "null"}, Items: &Schema{Type: "integer"}}, false
	}
	panic(name)
}

func (words) Component(t reflect.Type) string {
	if t == reflect.TypeFor[part]() {
		return "Part"
	}
	return ""
}

func (w words) Siblings() bool { return w.siblings }

type part struct{}

type defaulted struct {
	A int `json:"a" default:"1"`
}

type base struct {
	ID string `json:"id" is:"Id"`
}

// The description of a field follows only from its type and its tags.
func TestTypesAndTagsDetermineTheMembers(t *testing.T) {
	type inner struct {
		Text string `json:"text" length:"1..5"`
	}
	for name, c := range map[string]struct {
		of   any
		want string
	}{
		"kinds": {struct {
			A string  `json:"a"`
			B bool    `json:"b"`
			C int     `json:"c"`
			D float64 `json:"d"`
			E any     `json:"e"`
		}{}, `{"a":{"type":"string"},"b":{"type":"boolean"},"c":{"type":"integer","minimum":0},"d":{"type":"number"},"e":{}}`},
		"null": {struct {
			A *string  `json:"a"`
			B *string  `json:"b,omitempty"`
			C *string  `json:"c" null:"false"`
			D []string `json:"d" null:"true"`
			E **string `json:"e,omitempty"`
		}{}, `{"a":{"type":["string","null"]},"b":{"type":"string"},"c":{"type":"string"},"d":{"type":["array","null"],"items":{"type":"string"}},"e":{"type":["string","null"]}}`},
		"components": {struct {
			A *string `json:"a" is:"Id"`
			B *string `json:"b" is:"State"`
			C part    `json:"c"`
			D []part  `json:"d"`
			E string  `json:"e" is:"a colour"`
			F *[]int  `json:"f" is:"counts"`
		}{}, `{"a":{"oneOf":[{"$ref":"#/components/schemas/Id"},{"type":"null"}]},"b":{"$ref":"#/components/schemas/State"},"c":{"$ref":"#/components/schemas/Part"},"d":{"type":"array","items":{"$ref":"#/components/schemas/Part"}},"e":{"type":"string","enum":["red","green"]},"f":{"type":["array","null"],"items":{"type":"integer"}}}`},
		"bounds": {struct {
			A string   `json:"a" length:"1..500"`
			B int      `json:"b" range:"1.."`
			C int      `json:"c" range:"any"`
			D *float64 `json:"d" range:"0..1" multiple:"0.5"`
			E string   `json:"e" length:"..9"`
		}{}, `{"a":{"type":"string","minLength":1,"maxLength":500},"b":{"type":"integer","minimum":1},"c":{"type":"integer"},"d":{"type":["number","null"],"minimum":0,"maximum":1,"multipleOf":0.5},"e":{"type":"string","maxLength":9}}`},
		"values": {struct {
			A *string `json:"a" enum:"x|y"`
			B string  `json:"b" const:"z"`
			C string  `json:"c" format:"uri" pattern:"^h"`
			D bool    `json:"d" default:"true"`
		}{}, `{"a":{"type":["string","null"],"enum":["x","y",null]},"b":{"type":"string","const":"z"},"c":{"type":"string","format":"uri","pattern":"^h"},"d":{"type":"boolean","default":true}}`},
		"lists and maps": {struct {
			A []string       `json:"a" items:"1..3" unique:"true" length:"..2"`
			B map[string]int `json:"b" range:"1.."`
			C [2]bool        `json:"c"`
			D []*string      `json:"d" is:"Id"`
		}{}, `{"a":{"type":"array","items":{"type":"string","maxLength":2},"minItems":1,"maxItems":3,"uniqueItems":true},"b":{"type":"object","additionalProperties":{"type":"integer","minimum":1}},"c":{"type":"array","items":{"type":"boolean"},"minItems":2,"maxItems":2},"d":{"type":"array","items":{"$ref":"#/components/schemas/Id"}}}`},
		"structs": {struct {
			base
			A      inner  `json:"a"`
			B      *inner `json:"b" open:"true"`
			C      string `json:"-"`
			hidden string
		}{}, `{"id":{"$ref":"#/components/schemas/Id"},"a":{"type":"object","properties":{"text":{"type":"string","minLength":1,"maxLength":5}},"required":["text"],"additionalProperties":false},"b":{"type":["object","null"],"properties":{"text":{"type":"string","minLength":1,"maxLength":5}},"required":["text"]}}`},
		"raw values": {struct {
			A json.RawMessage `json:"a,omitempty" as:"number" null:"true" range:"0..1"`
			B json.RawMessage `json:"b" as:"string" length:"..3"`
		}{}, `{"a":{"type":["number","null"],"minimum":0,"maximum":1},"b":{"type":"string","maxLength":3}}`},
		"inherited defaults left out": {struct {
			defaulted `defaults:"false"`
			B         bool `json:"b" default:"true"`
		}{}, `{"a":{"type":"integer","minimum":0},"b":{"type":"boolean","default":true}}`},
		"a text with code": {struct {
			A string `json:"a" is:"Id" doc:"See «id»."`
		}{}, "{\"a\":{\"$ref\":\"#/components/schemas/Id\",\"description\":\"See `id`.\"}}"},
	} {
		got, err := json.Marshal(Of(words{siblings: true}, reflect.TypeOf(c.of), false).Properties)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: with the error %v, the schema is\n%s, want\n%s", name, err, got, c.want)
		}
	}
}

type rest struct {
	Rest string `json:"rest"`
}

// A field is required unless it is omitted when empty or marked optional, or its embedded struct can
// be missing.
func TestRequiredMembers(t *testing.T) {
	s := Of(words{}, reflect.TypeFor[struct {
		A string  `json:"a"`
		B string  `json:"b,omitempty"`
		C *string `json:"c"`
		D string  `json:"d" optional:"true"`
		E int     `json:"e,omitzero"`
		*base
		rest `optional:"true"`
	}](), true)
	if !reflect.DeepEqual(s.Required, []string{"a", "c"}) || s.Open != true {
		t.Errorf("required %v, open %v", s.Required, s.Open)
	}
}

// Draft 7 ignores other keywords next to a reference.
func TestADescriptionIsKeptNextToAReference(t *testing.T) {
	got, err := json.Marshal(Of(words{}, reflect.TypeFor[struct {
		A string  `json:"a" is:"Id" doc:"Theirs."`
		B *string `json:"b" is:"Id" doc:"Theirs."`
	}](), false).Properties)
	if want := `{"a":{"allOf":[{"$ref":"#/components/schemas/Id"}],"description":"Theirs."},"b":{"oneOf":[{"$ref":"#/components/schemas/Id"},{"type":"null"}],"description":"Theirs."}}`; err != nil || string(got) != want {
		t.Errorf("the schema is %s, %v", got, err)
	}
}

// An object that accepts any field lists the fields that it never has.
func TestForbiddenMembers(t *testing.T) {
	got, err := json.Marshal(Of(words{}, reflect.TypeFor[struct {
		A *Forbidden `json:"a,omitempty"`
		B *Forbidden `json:"b,omitempty"`
	}](), true))
	if want := `{"type":"object","propertyNames":{"not":{"enum":["a","b"]}},"additionalProperties":true}`; err != nil || string(got) != want {
		t.Errorf("the schema is %s, %v", got, err)
	}
}

// A type without a schema, or an invalid tag, is a programming error.
func TestATypeWithoutASchemaPanics(t *testing.T) {
	for _, of := range []any{struct {
		A func() `json:"a"`
	}{}, struct {
		A time.Time `json:"a"`
	}{}, struct {
		A json.RawMessage `json:"a"`
	}{}, struct {
		A string `json:"a" length:"many"`
	}{}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("the type %T got a schema", of)
				}
			}()
			Of(words{}, reflect.TypeOf(of), false)
		}()
	}
}

// Missing uses the same tags as the document. It finds each required member whose field can be nil,
// except members that can be null.
func TestTheFirstMissingMemberIsNamed(t *testing.T) {
	type embedded struct {
		Inner *string `json:"inner"`
	}
	type item struct {
		Title *string `json:"title"`
		Note  *string `json:"note,omitempty"`
	}
	type body struct {
		embedded
		Name   *string  `json:"name"`
		Place  *string  `json:"place" optional:"true"`
		Pin    *string  `json:"pin" null:"true"`
		Count  int      `json:"count"`
		Items  *[]item  `json:"items"`
		Others []item   `json:"others,omitempty"`
		Kinds  []string `json:"kinds"`
		hidden *string
	}
	for text, want := range map[string]string{
		`{}`:                                "inner",
		`{"inner":"x"}`:                     "name",
		`{"inner":null}`:                    "inner",
		`{"inner":"","name":"","kinds":[]}`: "items",
		`{"inner":"","name":"","items":[{"title":"a"},{"note":"b"}],"kinds":[]}`: "items[1].title",
		`{"inner":"","name":"","items":[],"kinds":[],"others":[{}]}`:             "others[0].title",
		`{"inner":"","name":"","items":[]}`:                                      "kinds",
		`{"inner":"","name":"","items":[{"title":""}],"kinds":[],"others":[]}`:   "",
	} {
		var b body
		if err := json.Unmarshal([]byte(text), &b); err != nil {
			t.Fatal(err)
		}
		if got := Missing(&b); got != want {
			t.Errorf("Missing(%s) = %q, want %q", text, got, want)
		}
		_ = b.hidden
	}
	var list *[]item
	if got := Missing(&list); got != "" {
		t.Errorf("Missing of a list = %q", got)
	}
}

var missingName string

// Checking a body of three members takes under 0.2 us on a busy machine, without an allocation.
func BenchmarkMissing(b *testing.B) {
	type body struct {
		Name *string  `json:"name"`
		Kind *string  `json:"kind"`
		List []string `json:"list"`
	}
	name := "x"
	in := body{&name, &name, []string{}}
	b.ReportAllocs()
	for b.Loop() {
		missingName = Missing(&in)
	}
}
