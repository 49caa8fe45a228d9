package schema_test

import (
	"strings"
	"testing"

	"atelier/transport/commerce/schema"
)

func TestFormatsAreAsserted(t *testing.T) {
	for format, cases := range map[string]struct{ fit, differ []string }{
		"uri":           {[]string{"https://u:p@a.example:80/b?c=d#e", "urn:a:b", "http://[::1]/", "http://[v1.a:b]"}, []string{"//a.example", "http://a.example/ä", "http://a b", "http://a.example/%zz", "http://[::1%25eth0]/", "http://a:b/", "1http://a", "http://a/{b}", "http://[127.0.0.1]/", "http://[::1]x"}},
		"uri-reference": {[]string{"", "a/b", "#x", "?q", "//a.example/b", "./1:2"}, []string{"1:2", "a b", "#ä", `\\a\b`, "a^b"}},
		"iri":           {[]string{"http://ä.example/ö?ü=\ue000#ß"}, []string{"ä/b", "http://ä.example/<", "http://a/#\ue000"}},
		"iri-reference": {[]string{"ä/b", "#ö"}, []string{"a\"b", "ä b"}},
		"uri-template":  {[]string{"/a/{b}{?c,d*}{e:9}", "{+path}/x", "ä/{a.b}"}, []string{"{", "a}b", "{}", "{a:0}", "{a b}", "{a,}", "{a..b}", "a b"}},
		"hostname":      {[]string{"a.example", "a-b.example", "xn--bcher-kva.example"}, []string{"", "-a.example", "a..example", "ä.example", "ab--c.example", "xn--x.example", "xn--ab-hvd.example", "xn--ab-.example", "xn--abc-.example", strings.Repeat("a", 64), strings.Repeat("a.", 127) + "a"}},
		"idn-hostname":  {[]string{"bücher.example", "a。example", "l·l.example", "xn--bcher-kva.example"}, []string{"", "·a.example", "a\u0640b.example", "-ä.example", "١۱.example", strings.Repeat("ä", 64)}},
		"idn-email":     {[]string{"ä@bücher.example", `"a b"@a.example`, "a@[127.0.0.1]", "a@[IPv6:::1]"}, []string{"a", "@a.example", "a@", "a b@a.example", "a..b@a.example", "a@[::1]", strings.Repeat("a", 65) + "@a.example"}},
		"regex":         {[]string{`^\p{Letter}+$`}, []string{"[a"}},
	} {
		bundle := map[string]any{"properties": map[string]any{"a": map[string]any{"format": format}}}
		asserted, err := schema.CompileBundle(bundle)
		if err != nil {
			t.Fatal(err)
		}
		annotated, err := schema.CompileBundleWith(bundle, schema.AnnotateFormats)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range cases.fit {
			if problems := asserted.Check(map[string]any{"a": text}); len(problems) > 0 {
				t.Errorf("%s refuses %q: %v", format, text, problems)
			}
		}
		for _, text := range cases.differ {
			problems := asserted.Check(map[string]any{"a": text})
			if len(problems) != 1 || !strings.HasSuffix(problems[0].Message, " is not a valid "+format) {
				t.Errorf("%s %q: %v, want a problem", format, text, problems)
			}
			if problems := annotated.Check(map[string]any{"a": text}); len(problems) > 0 {
				t.Errorf("%s %q as an annotation: %v", format, text, problems)
			}
		}
		if problems := asserted.Check(map[string]any{"a": nil}); len(problems) > 0 {
			t.Errorf("%s refuses a value that is not a string: %v", format, problems)
		}
	}
}
