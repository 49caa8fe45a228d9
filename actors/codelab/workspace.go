package codelab

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"atelier/actors/catalog"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// The two kinds of workspace.
const (
	BranchWorkspace = "branch"
	FolderWorkspace = "folder"
)

// maxHeads bounds the branches or folders of a workspace: a start and an end for each step, and
// KeptHead.
const maxHeads = 2*maxSteps + 1

// ErrHeadMoved means that a tree from which a change was derived is no longer the current one,
// because of another write in the meantime. This is not a conflict of contents. The caller can
// repeat the change from the current tree.
var ErrHeadMoved = durable.Reject(durable.Conflict, "the code was changed meanwhile")

var errNoWorkspace = durable.Reject(durable.Missing, "workspace not found")

// CreateWorkspace records a new workspace, whose trees are already stored.
type CreateWorkspace struct {
	ID            string
	StructureType string
	Heads         []*pb.WorkspaceHead
	Current       string
}

func (in CreateWorkspace) decide(c call) (decision, error) {
	if c.s.workspace != nil {
		return decision{}, durable.Reject(durable.Conflict, "this codelab already has a workspace")
	}
	d, err := in.made(c)
	if err == nil {
		d.Rows = append(c.audit("workspace_create", c.s.id, map[string]string{"structure_type": in.StructureType}), d.Rows...)
	}
	return d, err
}

// made returns the decision that records the workspace, without an audit record.
func (in CreateWorkspace) made(c call) (decision, error) {
	if in.StructureType != BranchWorkspace && in.StructureType != FolderWorkspace {
		return decision{}, durable.Reject(durable.Invalid, "structure_type must be %s or %s", BranchWorkspace, FolderWorkspace)
	}
	w := &pb.Workspace{
		Id: in.ID, StructureType: in.StructureType, CreatedAt: c.now.UnixMilli(), Heads: slices.Clone(in.Heads), Current: in.Current,
	}
	slices.SortFunc(w.Heads, byName)
	d := decided(w, &pb.Event{Body: &pb.Event_WorkspaceCreated{WorkspaceCreated: &pb.WorkspaceCreated{Workspace: w}}})
	d.Rows = []durable.Row{catalog.WorkspaceRow(c.s.id, w)}
	return d, nil
}

func byName(a, b *pb.WorkspaceHead) int { return strings.Compare(a.Name, b.Name) }

// ChangeWorkspace moves a head from tree Before to tree After, or creates a branch or folder. If
// another writer has moved the head in the meantime, the command is refused, so no update is lost.
type ChangeWorkspace struct {
	WorkspaceID string
	Name        string
	// Before is the tree from which the change was derived; empty to create the branch or folder.
	Before string
	After  string
	// About describes the change in the audit trail.
	About map[string]string
}

func (in ChangeWorkspace) decide(c call) (decision, error) {
	w := c.s.workspace
	if w == nil || w.Id != in.WorkspaceID {
		return decision{}, errNoWorkspace
	}
	i, exists := head(w, in.Name)
	action := "workspace_update"
	switch {
	case in.Before == "" && exists:
		return decision{}, durable.Reject(durable.Conflict, "the %s %s already exists", w.StructureType, in.Name)
	case in.Before == "" && len(w.Heads) >= maxHeads:
		return decision{}, durable.Reject(durable.Conflict, "a workspace has at most %d branches or folders", maxHeads)
	case in.Before == "":
		action = "workspace_" + w.StructureType + "_create"
	case !exists:
		return decision{}, durable.Reject(durable.Missing, "%s not found", w.StructureType)
	case w.Heads[i].Tree != in.Before:
		return decision{}, ErrHeadMoved
	}
	h := &pb.WorkspaceHead{Name: in.Name, Tree: in.After}
	about := maps.Clone(in.About)
	if about == nil {
		about = map[string]string{}
	}
	about["name"] = in.Name
	d := decided(changed(w, h), &pb.Event{Body: &pb.Event_WorkspaceChanged{WorkspaceChanged: &pb.WorkspaceChanged{Head: h}}})
	d.Rows = append(c.audit(action, c.s.id, about), catalog.WorkspaceRow(c.s.id, changed(w, h)))
	return d, nil
}

// PushWorkspace moves, creates and removes branches. It makes all of these changes or none.
type PushWorkspace struct {
	WorkspaceID string
	Moves       []HeadMove // each of a different branch
	// Commits is the number of pushed commits, for the audit trail.
	Commits int
}

// HeadMove is the change of a branch.
type HeadMove struct {
	Name string
	// Before is the tree that the branch must have, or empty to create the branch. After is the
	// branch's new tree, or empty to remove the branch.
	Before, After string
}

// KeptHead is the branch or folder that every workspace has.
const KeptHead = "main"

func (in PushWorkspace) decide(c call) (decision, error) {
	w := c.s.workspace
	if w == nil || w.Id != in.WorkspaceID {
		return decision{}, errNoWorkspace
	}
	if w.StructureType != BranchWorkspace {
		return decision{}, durable.Reject(durable.Conflict, "the workspace of this codelab is not a repository")
	}
	if len(in.Moves) == 0 {
		return decision{}, durable.Reject(durable.Invalid, "the push changes nothing")
	}
	pushed := &pb.WorkspacePushed{}
	names := make([]string, len(in.Moves))
	for i, m := range in.Moves {
		if slices.Contains(names[:i], m.Name) {
			return decision{}, durable.Reject(durable.Invalid, "the branch %s is named twice", m.Name)
		}
		names[i] = m.Name
		at, exists := head(w, m.Name)
		switch {
		case exists && w.Heads[at].Tree != m.Before, !exists && m.Before != "":
			return decision{}, ErrHeadMoved
		case m.After != "":
			pushed.Heads = append(pushed.Heads, &pb.WorkspaceHead{Name: m.Name, Tree: m.After})
		case !exists:
			return decision{}, durable.Reject(durable.Missing, "the branch %s does not exist", m.Name)
		case m.Name == KeptHead:
			return decision{}, durable.Reject(durable.Conflict, "the branch %s cannot be removed", KeptHead)
		default:
			pushed.Gone = append(pushed.Gone, m.Name)
		}
	}
	after := afterPush(w, pushed)
	if len(after.Heads) > maxHeads && len(after.Heads) > len(w.Heads) {
		return decision{}, durable.Reject(durable.Conflict, "a workspace has at most %d branches", maxHeads)
	}
	d := decided(after, &pb.Event{Body: &pb.Event_WorkspacePushed{WorkspacePushed: pushed}})
	slices.Sort(names)
	d.Rows = append(c.audit("git_push", c.s.id, map[string]string{
		"branches": shortList(names), "removed": fmt.Sprint(len(pushed.Gone)), "commits": fmt.Sprint(in.Commits),
	}), catalog.WorkspaceRow(c.s.id, after))
	return d, nil
}

// shortList joins names. Of more than ten, it lists the first ten and counts the others.
func shortList(names []string) string {
	const most = 10
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ","), len(names)-most)
	}
	return strings.Join(names, ",")
}

// afterPush returns a workspace after a push; the old one is not modified.
func afterPush(w *pb.Workspace, p *pb.WorkspacePushed) *pb.Workspace {
	out := w.Clone()
	out.Heads = slices.DeleteFunc(slices.Clone(w.Heads), func(h *pb.WorkspaceHead) bool { return slices.Contains(p.Gone, h.Name) })
	for _, h := range p.Heads {
		out = changed(out, h)
	}
	if _, exists := head(out, out.Current); !exists {
		out.Current = KeptHead
	}
	return out
}

// DeleteWorkspace deletes the code.
type DeleteWorkspace struct{}

func (DeleteWorkspace) decide(c call) (decision, error) {
	if c.s.workspace == nil {
		return decision{}, errNoWorkspace
	}
	d := decided(c.s.workspace, &pb.Event{Body: &pb.Event_WorkspaceDeleted{WorkspaceDeleted: &pb.WorkspaceDeleted{}}})
	d.Rows = append(c.audit("workspace_delete", c.s.id, nil), catalog.NoWorkspaceRow(c.s.id))
	return d, nil
}

func (s *State) applyWorkspaceChanged(h *pb.WorkspaceHead) {
	if s.workspace != nil {
		s.workspace = changed(s.workspace, h)
	}
}

func (s *State) applyWorkspacePushed(p *pb.WorkspacePushed) {
	if s.workspace != nil {
		s.workspace = afterPush(s.workspace, p)
	}
}

func head(w *pb.Workspace, name string) (int, bool) {
	return slices.BinarySearchFunc(w.Heads, name, func(h *pb.WorkspaceHead, name string) int { return strings.Compare(h.Name, name) })
}

// changed returns a workspace in which h replaces the head with the same name, or is added, and is
// the current head. The old workspace is not modified.
func changed(w *pb.Workspace, h *pb.WorkspaceHead) *pb.Workspace {
	out := &pb.Workspace{Id: w.Id, StructureType: w.StructureType, CreatedAt: w.CreatedAt, Heads: slices.Clone(w.Heads), Current: h.Name}
	if i, exists := head(out, h.Name); exists {
		out.Heads[i] = h
	} else {
		out.Heads = slices.Insert(out.Heads, i, h)
	}
	return out
}
