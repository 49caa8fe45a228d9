package schema

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLongTextsAreCutBetweenCharacters(t *testing.T) {
	if got := Brief("short"); got != "short" {
		t.Errorf("a short text becomes %q", got)
	}
	for _, s := range []string{strings.Repeat("x", 500), strings.Repeat("€", 500), "a" + strings.Repeat("€", 500), "ab" + strings.Repeat("😀", 500)} {
		got := Brief(s)
		if len(got) > maxText+len("…") || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") {
			t.Errorf("Brief returned %d bytes, %q", len(got), got)
		}
	}
	if got := BriefMessage(strings.Repeat("x", 5000)); len(got) != maxMessage+len("…") {
		t.Errorf("BriefMessage returned %d bytes", len(got))
	}
}

func TestLongListsAreCut(t *testing.T) {
	if got := BriefList([]string{"a", "b"}); got != "a, b" {
		t.Errorf("a short list becomes %q", got)
	}
	if got := BriefList(strings.Split(strings.Repeat("a ", 50), " ")); strings.Count(got, "a") != maxListed || !strings.HasSuffix(got, ", …") {
		t.Errorf("a long list becomes %q", got)
	}
}
