package rest

import (
	"testing"

	"atelier/transport/language"
)

func TestEveryKindOfRecordIsDescribed(t *testing.T) {
	known := map[string]bool{}
	for i := range kinds {
		known[kinds[i].name] = true
		if m := language.All[0].Takeout.Kinds[kinds[i].name]; m.Title == "" || m.Text == "" {
			t.Errorf("the kind %s has no title or text: %+v", kinds[i].name, m)
		}
	}
	for name := range language.All[0].Takeout.Kinds {
		if !known[name] {
			t.Errorf("the text of %s describes no kind of record", name)
		}
	}
}
