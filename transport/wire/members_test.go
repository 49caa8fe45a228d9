package wire

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestOnceRefusesDuplicateFields(t *testing.T) {
	many := func(last string) string {
		var b strings.Builder
		for i := range 40 {
			fmt.Fprintf(&b, `"n%d":{"a":1},`, i)
		}
		return "{" + b.String() + last + ":1}"
	}
	for body, want := range map[string]string{
		`{"a":1,"b":1}`: "", `{"a":1,"a":1}`: "twice", `{"a":1,"\u0061":2}`: "twice", `{"a":{"b":1,"b":2}}`: "twice", `[{"a":1},{"a":1}]`: "",
		`[{"a":[{"b":"c","d":[],"b":null}]}]`: "twice", `{"a":{"a":1},"b":{"a":1}}`: "", `{"\ud83d\ude00":1,"😀":2}`: "twice", `{"A":1,"a":2}`: "",
		many(`"last"`): "", many(`"n\u0033"`): "twice", `{"":1,"":2}`: "twice", `"a"`: "", `{"a":"{\"b\":1,\"b\":2}"}`: "", ` { "a" : 1 , "a" : 2 } `: "twice",
		`{"\ud800":1,"\ud800":2}`: "twice", `{"\ud800":1,"\\ud800":2}`: "", `{"a"`: "JSON", `{"a":}`: "JSON", `{"a":1} x`: "JSON", ``: "JSON",
		strings.Repeat("[", 600) + strings.Repeat("]", 600): "deeply",
	} {
		err := Once([]byte(body))
		if got := fmt.Sprint(err); (err == nil) != (want == "") || !strings.Contains(got, want) && err != nil {
			t.Errorf("Once(%.60s) = %v, want %q", body, err, want)
		}
	}
}

func TestCanonical(t *testing.T) {
	for body, want := range map[string]string{
		// The examples are from RFC 8785, 3.2. Unlike in the RFC, numbers that no double represents
		// exactly stay unchanged.
		`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`://
		`{"literals":[null,true,false],"numbers":[333333333.33333329,1E30,4.5,2e-3,0.000000000000000000000000001],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`://
		`{"\r":"Carriage Return","1":"One","` + "\u0080" + `":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😀":"Emoji: Grinning Face","` + "\ufb33" + `":"Hebrew Letter Dalet With Dagesh"}`,
		` { "b" : [ 1.0 , -0 , 1e2 ] , "a" : { } } `: `{"a":{},"b":[1,0,100]}`,
		// A double cannot represent these numbers, and the nearest double would look like another
		// number.
		`[9007199254740993,1e999999999,0.1,0.10]`: `[9007199254740993,1e999999999,0.1,0.10]`,
		`"\ud800"`: "\"\xed\xa0\x80\"", `"\\ud800"`: `"\\ud800"`,
	} {
		got, err := Canonical(nil, []byte(body))
		if err != nil || string(got) != want {
			t.Errorf("Canonical(%s) is\n%s, want\n%s (%v)", body, got, want, err)
		}
	}
}

// However a body is written, its canonical form is the same, is its own canonical form, and has
// the same meaning.
func TestCanonicalDependsOnlyOnTheData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var value func(depth int) any
		value = func(depth int) any {
			switch k := rapid.IntRange(0, 6).Draw(t, "kind"); {
			case k == 0 && depth < 4:
				out := []any{}
				for range rapid.IntRange(0, 4).Draw(t, "n") {
					out = append(out, value(depth+1))
				}
				return out
			case k <= 2 && depth < 4:
				out := map[string]any{}
				for range rapid.IntRange(0, 20).Draw(t, "n") {
					out[rapid.String().Draw(t, "name")] = value(depth + 1)
				}
				return out
			case k == 3:
				return rapid.Float64Range(-1e22, 1e22).Draw(t, "number")
			case k == 4:
				return rapid.Bool().Draw(t, "bool")
			}
			return rapid.String().Draw(t, "text")
		}
		v := value(0)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		first, err := Canonical(nil, []byte(written(r, v)))
		if err != nil {
			t.Fatal(err)
		}
		second, err := Canonical(nil, []byte(written(r, v)))
		if err != nil || string(first) != string(second) {
			t.Fatalf("the same data has the canonical forms %s and %s, %v", first, second, err)
		}
		if again, err := Canonical(nil, first); err != nil || string(again) != string(first) {
			t.Fatalf("the canonical form %s became %s, %v", first, again, err)
		}
		var back any
		if err := json.Unmarshal(first, &back); err != nil || !reflect.DeepEqual(back, v) {
			t.Fatalf("the canonical form %s does not decode to %v (%v)", first, v, err)
		}
	})
}

// written returns a value in a form that another program could write: fields in any order, with
// spaces and escapes.
func written(r *rand.Rand, v any) string {
	space := func() string { return strings.Repeat(" ", r.IntN(2)) }
	switch v := v.(type) {
	case []any:
		var parts []string
		for _, x := range v {
			parts = append(parts, space()+written(r, x)+space())
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		var parts []string
		for name, x := range v { // map order is random
			parts = append(parts, space()+written(r, name)+space()+":"+written(r, x))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case string:
		b, _ := json.Marshal(v)
		if r.IntN(2) == 0 {
			return string(b)
		}
		var out strings.Builder
		for _, c := range v {
			if c < 0x10000 && r.IntN(3) == 0 {
				fmt.Fprintf(&out, `\u%04x`, c)
				continue
			}
			b, _ := json.Marshal(string(c))
			out.Write(b[1 : len(b)-1])
		}
		return `"` + out.String() + `"`
	}
	b, _ := json.Marshal(v)
	return string(b)
}

func FuzzCanonical(f *testing.F) {
	f.Add([]byte(`{"b":[1.0,"\ud83d\ude00"],"a":{"c":null}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		out, err := Canonical(nil, body)
		if (err == nil) != (Once(body) == nil) {
			t.Errorf("Canonical and Once disagree on %q: %v", body, err)
		}
		if err == nil && json.Valid(body) && !json.Valid(out) {
			t.Errorf("Canonical(%q) = %q, which is not JSON", body, out)
		}
	})
}

func BenchmarkOnce(b *testing.B) {
	body := []byte(`{"credential":{"type":"card","card_number_type":"fpan","number":"4111111111111111","expiry_month":12,"expiry_year":2030,"cvc":"123"},"binding":{"checkout_id":"chk_1","identity":{"access_token":"x"}}}`)
	for b.Loop() {
		if err := Once(body); err != nil {
			b.Fatal(err)
		}
	}
}
