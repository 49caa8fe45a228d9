package codelab

import (
	"strings"
	"testing"

	pb "atelier/actors/codelab/codelabpb"
)

func TestSharedBranchesFollowTheSettingAndThePointer(t *testing.T) {
	w := &pb.Workspace{}
	for _, name := range []string{
		"1-start", "main", "release", "step-0-start", "step-01-start", "step-1-end", "step-1-middle", "step-1-start", "step-1-start-2", "step-10-end",
		"step-10-start", "step-2-end", "step-2-start", "step-201-start", "step-3-start", "step-+1-start", "step--start", "xstep-1-start",
	} {
		w.Heads = append(w.Heads, &pb.WorkspaceHead{Name: name, Tree: "tree of " + name})
	}
	const all = "step-1-start step-1-end step-2-start step-2-end step-3-start step-10-start step-10-end"
	for _, c := range []struct {
		sharing pb.Sharing
		at      int32 // 0: no pointer
		want    string
	}{
		{pb.Sharing_SHARING_NONE, 0, ""},
		{pb.Sharing_SHARING_NONE, 10, ""},
		{pb.Sharing_SHARING_START, 0, "step-1-start"},
		{pb.Sharing_SHARING_START, 1, "step-1-start"},
		{pb.Sharing_SHARING_START, 2, "step-1-start step-2-start"},
		{pb.Sharing_SHARING_START, 9, "step-1-start step-2-start step-3-start"},
		{pb.Sharing_SHARING_START, 10, "step-1-start step-2-start step-3-start step-10-start"},
		{pb.Sharing_SHARING_POINTED, 0, "step-1-start"},
		{pb.Sharing_SHARING_POINTED, 1, "step-1-start"},
		{pb.Sharing_SHARING_POINTED, 2, "step-1-start step-1-end step-2-start"},
		{pb.Sharing_SHARING_POINTED, 10, "step-1-start step-1-end step-2-start step-2-end step-3-start step-10-start"},
		{pb.Sharing_SHARING_POINTED, 11, all},
		{pb.Sharing_SHARING_ALL, 0, all},
		{pb.Sharing_SHARING_ALL, 1, all},
		{pb.Sharing(4), 10, ""},
	} {
		var pointer *pb.Pointer
		if c.at > 0 {
			pointer = &pb.Pointer{StepNumber: c.at}
		}
		var got []string
		for _, h := range Shared(w, c.sharing, pointer) {
			if h.Tree != "tree of "+h.Name {
				t.Errorf("branch %s has the tree %s", h.Name, h.Tree)
			}
			got = append(got, h.Name)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%v at step %d shares %q, want %q", c.sharing, c.at, s, c.want)
		}
	}
	if got := Shared(nil, pb.Sharing_SHARING_ALL, nil); got != nil {
		t.Errorf("without a workspace, Shared returns %v", got)
	}
}

func TestCloneBeginsWithTheBranchOfThePointer(t *testing.T) {
	for _, c := range []struct {
		shared string
		at     int32 // 0: no pointer
		want   string
	}{
		{"", 1, ""},
		{"step-1-start", 0, "step-1-start"},
		{"step-2-end step-10-start step-2-start", 0, "step-2-start"}, // all states are later than the pointer, so a clone begins with the first branch
		{"step-1-start step-1-end step-2-start step-2-end", 0, "step-1-start"},
		{"step-1-start step-1-end step-2-start step-2-end", 2, "step-2-start"},
		{"step-1-start step-1-end step-10-start step-2-end", 9, "step-2-end"},
		{"step-1-start step-1-end step-10-start step-2-end", 10, "step-10-start"},
	} {
		var heads []*pb.WorkspaceHead
		for name := range strings.FieldsSeq(c.shared) {
			heads = append(heads, &pb.WorkspaceHead{Name: name})
		}
		if got := BeginWith(heads, &pb.Pointer{StepNumber: c.at}); got != c.want {
			t.Errorf("branches %q, pointer at %d: a clone begins with %q, want %q", c.shared, c.at, got, c.want)
		}
	}
}

func TestOnlyNamesOfStepsHaveAPlaceInTheWorkshop(t *testing.T) {
	for _, other := range []string{"step-5-draft", "step-300-end", "step-9", "7-x", "step-05-end"} {
		if got := Latest([]string{other, "step-2-start", other}); got != "step-2-start" {
			t.Errorf("the latest of %s and step-2-start is %s", other, got)
		}
	}
}
