package language

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var named = regexp.MustCompile(`\{[a-z]+\}`)

// texts calls f with every text of a value and its position.
func texts(at string, v reflect.Value, f func(at, text string)) {
	switch v.Kind() {
	case reflect.Pointer:
		texts(at, v.Elem(), f)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				texts(at+"."+v.Type().Field(i).Name, v.Field(i), f)
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			texts(at+"."+k.String(), v.MapIndex(k), f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			texts(fmt.Sprint(at, ".", i), v.Index(i), f)
		}
	default:
		f(at, v.String())
	}
}

func TestEveryLanguageHasEveryText(t *testing.T) {
	english := map[string][]string{}
	texts("", reflect.ValueOf(All[0]), func(at, text string) {
		english[at] = slices.Sorted(slices.Values(named.FindAllString(text, -1)))
	})
	for _, l := range All {
		left := len(english)
		texts("", reflect.ValueOf(l), func(at, text string) {
			want, ok := english[at]
			if !ok {
				t.Errorf("%s: the text %s does not exist in English", l.Tag, at)
			}
			left--
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s: the text %s is empty", l.Tag, at)
			}
			if got := slices.Sorted(slices.Values(named.FindAllString(text, -1))); !slices.Equal(got, want) {
				t.Errorf("%s: the text %s has the placeholders %v, in English %v", l.Tag, at, got, want)
			}
		})
		if left != 0 || len(l.Months) != 12 {
			t.Errorf("%s lacks %d texts; months: %v", l.Tag, left, l.Months)
		}
		if l.Direction != "ltr" && l.Direction != "rtl" {
			t.Errorf("%s has the direction %q, want ltr or rtl", l.Tag, l.Direction)
		}
	}
}

func TestTheServerHasTheLanguagesOfTheApp(t *testing.T) {
	entries, err := os.ReadDir("../web/app/src/messages/shared")
	if err != nil {
		t.Fatal(err)
	}
	var app, here []string
	for _, e := range entries {
		app = append(app, strings.TrimSuffix(e.Name(), ".json"))
	}
	for _, l := range All {
		here = append(here, l.Tag)
	}
	slices.Sort(here)
	if !slices.Equal(app, here) {
		t.Errorf("the app has the languages %v, the server %v", app, here)
	}
}

func TestTheRequestedLanguageIsUsed(t *testing.T) {
	for accept, want := range map[string]string{
		"": "en", "en-GB": "en", "xx": "en", "*": "en", "de": "de", "de-AT,en;q=0.9": "de", "sv, de;q=0.1": "de",
		"en;q=0.1, de;q=0.9": "de", "pt-PT": "pt-BR", "zh-CN": "zh-Hans", "zh": "zh-Hans", "zh-TW, de;q=0.5": "de", "zh-Hant-HK": "en",
		"ar-EG": "ar", "fr-CA": "fr",
		// These values are hostile.
		";q=": "en", "\xff\x00": "en", strings.Repeat("de,", 100): "en", strings.Repeat("d-", 120): "en", "de;q=NaN": "de",
	} {
		if got := Asked([]byte(accept)).Tag; got != want {
			t.Errorf("Asked(%.40q) = %s, want %s", accept, got, want)
		}
	}
}

func TestDatesInEachLanguage(t *testing.T) {
	at := time.Date(2026, 3, 9, 23, 30, 0, 0, time.FixedZone("", -3600))
	for tag, want := range map[string]string{"en": "10 March 2026", "de": "10. März 2026", "ja": "2026年3月10日", "fr": "10 mars 2026", "ar": "10 مارس 2026"} {
		i := slices.IndexFunc(All, func(l *Texts) bool { return l.Tag == tag })
		if i < 0 {
			t.Errorf("the language %s is missing", tag)
			continue
		}
		if got := All[i].Day(at); got != want {
			t.Errorf("the date in %s is %s, want %s", tag, got, want)
		}
	}
}

func TestFill(t *testing.T) {
	// Names in inserted values are not replaced.
	if got := Fill("{a} of {b} and {c}", "a", "{b}", "b", "x"); got != "{b} of x and {c}" {
		t.Errorf("Fill returned %q", got)
	}
}

func BenchmarkAsked(b *testing.B) {
	accept := []byte("de-AT,de;q=0.9,en-US;q=0.8,en;q=0.7")
	for b.Loop() {
		Asked(accept)
	}
}
