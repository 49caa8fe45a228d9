package codelab

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	pb "atelier/actors/codelab/codelabpb"
)

// Sharings lists the names of the settings for how much code attendees can read, ordered by number.
var Sharings = []string{"none", "start", "pointed", "all"}

// Shared returns the branches or folders of a workspace that attendees can read, in the order of
// the workshop. Only heads that are the start or end of a step are shared. Others, such as main,
// are private to the author. The workspace and the pointer can be nil.
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

// InOrder returns heads in the order of the workshop.
func InOrder(heads []*pb.WorkspaceHead) []*pb.WorkspaceHead {
	return slices.SortedFunc(slices.Values(heads), func(a, b *pb.WorkspaceHead) int { return compareStates(a.Name, b.Name) })
}

// BeginWith returns the shared branch that a clone checks out. It is the last branch that the
// workshop has reached according to the pointer, otherwise the first branch. It is "" if no branch
// is shared.
func BeginWith(shared []*pb.WorkspaceHead, pointer *pb.Pointer) (begin string) {
	here := "step-" + strconv.Itoa(max(1, int(pointer.GetStepNumber()))) + "-start"
	for _, h := range InOrder(shared) {
		if begin == "" || compareStates(h.Name, here) <= 0 {
			begin = h.Name
		}
	}
	return begin
}

// Latest returns the last branch or folder in the order of the workshop, or "".
func Latest(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return slices.MaxFunc(names, compareStates)
}

// compareStates orders names of heads by their place in a workshop. Names that are not the start or
// end of a step come first.
func compareStates(a, b string) int {
	x, _ := stateOf(a)
	y, _ := stateOf(b)
	return cmp.Or(cmp.Compare(x.step, y.step), cmp.Compare(x.rank(), y.rank()))
}

// TakeCode records that the caller downloaded code, in the audit trail and in the attendee's
// record, so that facilitators see who has caught up.
type TakeCode struct {
	// Name is the downloaded branch or folder. If there are several, it is the latest in the order
	// of the workshop. "" means the whole code.
	Name string
}

func (b TakeCode) decide(c call) (decision, error) {
	if c.s.workspace == nil {
		return decision{}, errNoWorkspace
	}
	var about map[string]string
	if b.Name != "" {
		about = map[string]string{"name": b.Name}
	}
	d := decision{Rows: c.audit("workspace_download", c.s.id, about)}
	// Git downloads the same branch repeatedly, so only a change is recorded.
	if a := c.s.attendee(c.ID); a != nil && b.Name != "" && a.CodeTaken.GetName() != b.Name {
		d.Events = []*pb.Event{{Body: &pb.Event_CodeTaken{CodeTaken: &pb.CodeTaken{AttendeeId: a.Id, Name: b.Name}}}}
	}
	return d, nil
}

// state is the start or the end of a step.
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

// stateOf parses the name of a branch or folder: step-<n>-start or step-<n>-end, where <n> has no
// leading zeros.
func stateOf(name string) (s state, ok bool) {
	rest, ok := strings.CutPrefix(name, "step-")
	number, which, _ := strings.Cut(rest, "-")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 1 || n > maxSteps || strconv.Itoa(n) != number || which != "start" && which != "end" {
		return state{}, false
	}
	return state{n, which == "end"}, true
}
