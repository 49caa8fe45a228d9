package wire

import (
	"strings"
	"testing"
)

func TestUnknownFieldsAreNamedInTheError(t *testing.T) {
	type item struct {
		Path *string `json:"path"`
	}
	type body struct {
		Name  string   `json:"name"`
		Inner *item    `json:"inner"`
		Items *[]item  `json:"items,omitempty"`
		Texts []string `json:"texts"`
	}
	for in, want := range map[string]string{
		`{"name":"a","inner":{"path":"b"},"items":[{"path":"c"},{}],"texts":["d"]}`: "",
		`{"inner":null,"items":null}`: "",
		`{}`:                          "",
		`{"names":"a"}`:               "names is not known",
		`{"Name":"a"}`:                "Name is not known",
		`{"inner":{"pth":"b"}}`:       "inner.pth is not known",
		`{"items":[{"path":"c"},{"contents":"d"}]}`: "items[1].contents is not known",
		`{"name":7}`: "name must be a string",
		`{`:          "not valid JSON",
		`{"` + strings.Repeat("x", 1000) + `":"a"}`: strings.Repeat("x", 100) + " is not known",
	} {
		var b body
		err := DecodeStrict([]byte(in), &b)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("DecodeStrict(%.80s) returned %v, want %q", in, err, want)
		}
	}
}
