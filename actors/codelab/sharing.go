package codelab

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	pb "atelier/actors/codelab/codelabpb"
)

// Sharings names the settings of what attendees read of the code, in the order of their
// numbers.
var Sharings = []string{"none", "start", "pointed", "all"}

// Shared are the branches or folders of a workspace that attendees may read, in the
// order in which a workshop comes to them. Only states of steps are: others, main among
// them, are the author's own. The workspace and the pointer may be nil.
func Shared(w *pb.Workspace, sharing pb.Sharing, pointer *pb.Pointer) (out []*pb.WorkspaceHead) {
	at := max(1, int(pointer.GetStepNumber()))
	for _, h := range w.GetHeads() {
		s, ok := stateOf(h.Name)
		if !ok {
			continue
		}
		switch sharing {
		case pb.Sharing_SHARING_START:
			ok = !s.end && s.step <= at
		case pb.Sharing_SHARING_POINTED:
			ok = s.end && s.step < at || !s.end && s.step <= at
		case pb.Sharing_SHARING_ALL:
		default:
			ok = false
		}
		if ok {
			out = append(out, h)
		}
	}
	return InOrder(out)
}

// InOrder returns states of steps in the order in which a workshop comes to them.
func InOrder(heads []*pb.WorkspaceHead) []*pb.WorkspaceHead {
	return slices.SortedFunc(slices.Values(heads), func(a, b *pb.WorkspaceHead) int {
		x, _ := stateOf(a.Name)
		y, _ := stateOf(b.Name)
		return cmp.Or(cmp.Compare(x.step, y.step), cmp.Compare(x.rank(), y.rank()))
	})
}

// state is the beginning or the end of a step.
type state struct {
	step int
	end  bool
}

// rank orders the states of one step.
func (s state) rank() int {
	if s.end {
		return 1
	}
	return 0
}

// stateOf reads the name of a branch or folder: step-<n>-start or step-<n>-end, the
// number as it is written without zeros before it.
func stateOf(name string) (s state, ok bool) {
	rest, ok := strings.CutPrefix(name, "step-")
	number, which, _ := strings.Cut(rest, "-")
	n, err := strconv.Atoi(number)
	s = state{n, which == "end"}
	return s, ok && err == nil && n >= 1 && n <= maxSteps && strconv.Itoa(n) == number && (s.end || which == "start")
}
