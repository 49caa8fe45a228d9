package naming_test

import (
	"testing"

	"atelier/actors/naming"
)

func TestListsAreWrittenInWords(t *testing.T) {
	for want, members := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := naming.Or(members...); got != want {
			t.Errorf("Or(%v) = %q", members, got)
		}
	}
	if got := naming.And("a", "b", "c"); got != "a, b and c" {
		t.Errorf("And returned %q", got)
	}
}
