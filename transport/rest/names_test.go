package rest

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"atelier/actors/codelab"
)

// A struct tag cannot refer to a list in the code, so it repeats the names.
func TestNamesInTagsMatchTheCode(t *testing.T) {
	for _, c := range []struct {
		of     any
		field  string
		wanted []string
	}{
		{PollRecord{}, "Kind", codelab.PollKinds},
		{PollRecord{}, "State", codelab.PollStates},
		{pollInput{}, "Kind", codelab.PollKinds},
		{QuestionRecord{}, "State", QuestionStates},
		{TimerRecord{}, "Kind", TimerKinds},
		{SpotlightRecord{}, "Kind", Spotlights},
		{codelabRecord{}, "Questions", codelab.Askings[:]},
		{codelabRecord{}, "ShareCode", codelab.Sharings[:]},
		{codelabSettings{}, "Questions", codelab.Askings[:]},
		{codelabSettings{}, "ShareCode", codelab.Sharings[:]},
		{codelabSettings{}, "Accent", codelab.Accents[:]},
		{certificateSettings{}, "Accent", codelab.Accents[:]},
	} {
		f, ok := reflect.TypeOf(c.of).FieldByName(c.field)
		if got := strings.Split(f.Tag.Get("enum"), "|"); !ok || !slices.Equal(got, c.wanted) {
			t.Errorf("%T.%s has the names %q, the code has %q", c.of, c.field, got, c.wanted)
		}
	}
}
