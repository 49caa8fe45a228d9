package trees

import (
	"errors"
	"testing"

	"atelier/actors/code"
)

// A workspace can contain a file that Windows cannot check out. In an earlier version, such names
// were allowed, so the file must stay usable.
func TestAFileThatWindowsCannotCheckOutStaysUsable(t *testing.T) {
	before := map[string]entry{"aux.c": {Size: 1, Ref: "x"}, "a:b": {Size: 1, Ref: "y"}}
	after, err := apply(before, code.Change{Write: []code.File{{Path: "aux.c", Content: []byte("12")}}, Delete: []string{"a:b"}})
	if err != nil || len(after) != 1 || after["aux.c"].Size != 2 {
		t.Errorf("the changed tree is %v, %v", after, err)
	}
	for _, path := range []string{"aux.h", "a:b/c", "x/nul"} {
		var bad *code.Problem
		if _, err := apply(before, code.Change{Write: []code.File{{Path: path}}}); !errors.As(err, &bad) {
			t.Errorf("writing %s: %v", path, err)
		}
	}
}
