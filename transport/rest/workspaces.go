package rest

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"atelier/actors/code"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/naming"
	"atelier/transport/wire"
)

// The content of a workspace is in Config.Workspaces. A codelab event contains the current trees,
// and is committed with its audit record. A write first stores the tree, then commits the event,
// then updates the store. All of this runs under the codelab's lock in the store, outside the
// actor.

const (
	maxStepNumber = 200
)

var (
	errNoWorkspace = durable.Reject(durable.Missing, "workspace not found")
	errNoCode      = durable.Reject(durable.Missing, "file not found")
)

// storeError returns the error for the client if the store's error is a fault of the request.
// Otherwise it returns the error unchanged.
func storeError(err error) error {
	var p *code.Problem
	switch {
	case errors.As(err, &p):
		return wire.Invalid("%s", p.Text)
	case errors.Is(err, code.ErrNotFound) && !errors.Is(err, code.ErrMissing):
		return errNoCode
	}
	return err
}

func kindOf(structure string) code.Kind {
	if structure == codelab.BranchWorkspace {
		return code.Git
	}
	return code.Plain
}

func headsOf(w *pb.Workspace) []code.Head {
	out := make([]code.Head, len(w.Heads))
	for i, h := range w.Heads {
		out[i] = code.Head{Name: h.Name, Tree: h.Tree}
	}
	return out
}

func treeOf(w *pb.Workspace, name string) (string, bool) {
	for _, h := range w.Heads {
		if h.Name == name {
			return h.Tree, true
		}
	}
	return "", false
}

// workspaceRecord is a workspace as sent to clients. Branches or Folders are set only in the
// response to a read.
type workspaceRecord struct {
	CodelabID     string    `json:"codelab_id" is:"Id"`
	StructureType string    `json:"structure_type" enum:"branch|folder"`
	CreatedAt     string    `json:"created_at" is:"Timestamp"`
	Branches      *[]string `json:"branches,omitempty" doc:"The names of the branches, in a workspace of branches."`
	Folders       *[]string `json:"folders,omitempty" doc:"The names of the folders, in a workspace of folders."`
}

func (r *Request) workspaceRecord(w *pb.Workspace) workspaceRecord {
	return workspaceRecord{CodelabID: r.Codelab.ID(), StructureType: w.StructureType, CreatedAt: wire.Stamp(w.CreatedAt)}
}

type workspaceCreateBody struct {
	CodelabID *string         `json:"codelab_id" length:"1.."`
	Structure *string         `json:"structure_type" enum:"branch|folder"`
	Files     []workspaceFile `json:"workspace_files,omitempty" items:"..2000" doc:"The initial files."`
}

func createWorkspace(r *Request) error {
	var in workspaceCreateBody
	if err := r.decodeStrict(&in); err != nil {
		return err
	}
	if err := r.enterNamed(in.CodelabID); err != nil {
		return err
	}
	structure := or(in.Structure, "")
	if structure != codelab.BranchWorkspace && structure != codelab.FolderWorkspace {
		return wire.Invalid("structure_type must be %s or %s", codelab.BranchWorkspace, codelab.FolderWorkspace)
	}
	files, err := toFiles("workspace_files", in.Files)
	if err != nil {
		return err
	}
	defer r.api.Workspaces.Lock(r.Codelab.ID())()
	if r.Codelab.View().Workspace != nil {
		return durable.Reject(durable.Conflict, "this codelab already has a workspace")
	}
	cmd := codelab.CreateWorkspace{ID: naming.NewID(), StructureType: structure}
	if err := r.fillWorkspace(&cmd, files); err != nil {
		r.api.Workspaces.Remove(cmd.ID)
		return storeError(err)
	}
	w, err := r.recordWorkspace(cmd)
	if err != nil {
		var refused *durable.Rejection
		if errors.As(err, &refused) { // after any other error, the command may have been stored
			r.api.Workspaces.Remove(cmd.ID)
		}
		return err
	}
	return r.JSON(r.workspaceRecord(w))
}

// fillWorkspace creates a workspace with its first head. A workspace with folders gets a head only
// if files are given.
func (r *Request) fillWorkspace(cmd *codelab.CreateWorkspace, files []code.File) error {
	kind := kindOf(cmd.StructureType)
	if err := r.api.Workspaces.Make(cmd.ID, kind); err != nil {
		return err
	}
	if kind == code.Plain && len(files) == 0 {
		return nil
	}
	tree, err := r.api.Workspaces.Write(cmd.ID, kind, "", r.change("Create the workspace", files, nil))
	if err != nil {
		return err
	}
	cmd.Heads, cmd.Current = []*pb.WorkspaceHead{{Name: codelab.KeptHead, Tree: tree}}, codelab.KeptHead
	return nil
}

func (r *Request) change(message string, files []code.File, gone []string) code.Change {
	return code.Change{Write: files, Delete: gone, Message: message, Author: r.Caller.Name, At: r.api.Now()}
}

// recordWorkspace commits the new trees, then updates the store. A failed update does no harm,
// because reads use the record.
func (r *Request) recordWorkspace(b codelab.Body) (*pb.Workspace, error) {
	v, err := r.do(b)
	if err != nil {
		return nil, err
	}
	w := v.(*pb.Workspace)
	if err := r.api.Workspaces.Publish(w.Id, kindOf(w.StructureType), headsOf(w)); err != nil {
		r.api.Logger.Warn("the code store did not apply a recorded change of a workspace; reads use the record", "request_id", r.ID, "codelab", r.Codelab.ID(), "error", err)
	}
	return w, nil
}

// workspace returns the codelab's workspace. A caller that uses the trees must hold the codelab's
// lock in Workspaces.
func (r *Request) workspace() (*pb.Workspace, error) {
	if w := r.Codelab.View().Workspace; w != nil {
		return w, nil
	}
	return nil, errNoWorkspace
}

// readable returns the codelab's workspace with the branches or folders that the client is allowed
// to read, sorted by name. Admins can read all of them. Attendees can read the currently shared ones.
// A caller that uses the trees must hold the codelab's lock in Workspaces.
func (r *Request) readable() (*pb.Workspace, error) {
	v := r.Codelab.View()
	w := v.Workspace
	switch {
	case !r.IsAdmin() && v.Meta.GetShareCode() == pb.Sharing_SHARING_NONE:
		return nil, errNotShared
	case w == nil:
		return nil, errNoWorkspace
	case r.IsAdmin():
		return w, nil
	}
	out := &pb.Workspace{Id: w.Id, StructureType: w.StructureType, CreatedAt: w.CreatedAt}
	out.Heads = codelab.Shared(w, v.Meta.ShareCode, v.Pointer)
	slices.SortFunc(out.Heads, func(a, b *pb.WorkspaceHead) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func getWorkspace(r *Request) error {
	w, err := r.readable()
	if err != nil {
		return err
	}
	out, names := r.workspaceRecord(w), namesOf(w)
	if w.StructureType == codelab.BranchWorkspace {
		out.Branches = &names
	} else {
		out.Folders = &names
	}
	return r.JSON(out)
}

func namesOf(w *pb.Workspace) []string {
	names := make([]string, len(w.Heads))
	for i, h := range w.Heads {
		names[i] = h.Name
	}
	return names
}

func deleteWorkspace(r *Request) error {
	defer r.api.Workspaces.Lock(r.Codelab.ID())()
	v, err := r.do(codelab.DeleteWorkspace{})
	if err != nil {
		return err
	}
	r.api.Workspaces.Remove(v.(*pb.Workspace).Id)
	return r.NoContent()
}

// headInput describes the branch or folder to create.
type headInput struct {
	StepNumber *int32
	Type       *string
	From       *string
	Files      *[]workspaceFile // only for a folder
}

type branchCreateBody struct {
	StepNumber *int32  `json:"step_number" range:"1..200"`
	Type       *string `json:"branch_type" enum:"start|end"`
	From       *string `json:"from,omitempty" doc:"The branch to copy. If omitted, the one that was written last."`
}

func createBranch(r *Request) error {
	var in branchCreateBody
	if err := r.decodeStrict(&in); err != nil {
		return err
	}
	return r.createHead(codelab.BranchWorkspace, headInput{in.StepNumber, in.Type, in.From, nil})
}

type folderCreateBody struct {
	StepNumber *int32           `json:"step_number" range:"1..200"`
	Type       *string          `json:"folder_type" enum:"start|end"`
	From       *string          `json:"from,omitempty" doc:"The folder to copy. If omitted, the one that was written last."`
	Files      *[]workspaceFile `json:"files,omitempty" items:"..2000"`
}

func createFolder(r *Request) error {
	var in folderCreateBody
	if err := r.decodeStrict(&in); err != nil {
		return err
	}
	return r.createHead(codelab.FolderWorkspace, headInput(in))
}

type headMade struct {
	Status string `json:"status" const:"ok"`
	Name   string `json:"name"`
}

// createHead creates the head step-<n>-<type> from the files of "from", or else of the most
// recently written head. A folder can instead be created from given files.
func (r *Request) createHead(structure string, in headInput) error {
	if in.StepNumber == nil || *in.StepNumber < 1 || *in.StepNumber > maxStepNumber {
		return wire.Invalid("step_number must be 1 to %d", maxStepNumber)
	}
	which := or(in.Type, "")
	if which != "start" && which != "end" {
		return wire.Invalid(`%s_type must be "start" or "end"`, structure)
	}
	if from := or(in.From, ""); from != "" {
		if err := code.CheckName(from); err != nil {
			return wire.Invalid("from: %v", err)
		}
	}
	files, err := toFiles("files", or(in.Files, nil))
	if err != nil {
		return err
	}
	name := "step-" + strconv.Itoa(int(*in.StepNumber)) + "-" + which

	defer r.api.Workspaces.Lock(r.Codelab.ID())()
	w, err := r.workspace()
	if err != nil {
		return err
	}
	if w.StructureType != structure {
		return durable.Reject(durable.Conflict, "the workspace of this codelab keeps a %s for each state, not a %s", w.StructureType, structure)
	}
	if _, taken := treeOf(w, name); taken {
		return durable.Reject(durable.Conflict, "the %s %s already exists", structure, name)
	}
	base, known := treeOf(w, cmp.Or(or(in.From, ""), w.Current))
	switch {
	case structure == codelab.FolderWorkspace && in.Files != nil:
		base = "" // the folder contains only the given files
	case !known && or(in.From, "") != "":
		return durable.Reject(durable.Missing, "%s not found", structure)
	}
	tree := base
	if base == "" {
		if tree, err = r.api.Workspaces.Write(w.Id, kindOf(structure), base, r.change("Create "+name, files, nil)); err != nil {
			return storeError(err)
		}
	}
	_, err = r.recordWorkspace(codelab.ChangeWorkspace{WorkspaceID: w.Id, Name: name, After: tree})
	if err != nil {
		return err
	}
	return r.JSON(headMade{"ok", name})
}

func listBranches(r *Request) error { return r.listHeads(codelab.BranchWorkspace) }

func listFolders(r *Request) error { return r.listHeads(codelab.FolderWorkspace) }

func (r *Request) listHeads(structure string) error {
	w, err := r.readable()
	if err != nil {
		return err
	}
	if w.StructureType != structure {
		return durable.Reject(durable.Missing, "the workspace of this codelab has no %s", plural[structure])
	}
	return r.JSON(namesOf(w))
}

var plural = map[string]string{codelab.BranchWorkspace: "branches", codelab.FolderWorkspace: "folders"}
