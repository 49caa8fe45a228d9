package rest

import (
	"testing"

	"atelier/transport/language"
)

func TestEveryKindOfRecordIsExplained(t *testing.T) {
	known := map[string]bool{}
	for i := range kinds {
		known[kinds[i].name] = true
		if m := language.All[0].Takeout.Kinds[kinds[i].name]; m.Title == "" || m.Text == "" {
			t.Errorf("%s: %+v", kinds[i].name, m)
		}
	}
	for name := range language.All[0].Takeout.Kinds {
		if !known[name] {
			t.Errorf("there are no records of %s", name)
		}
	}
}
