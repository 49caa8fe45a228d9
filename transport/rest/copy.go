package rest

import (
	"errors"
	"strings"
	"unicode/utf8"

	"atelier/actors/code"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/actors/naming"
	"atelier/transport/httpapi"
)

const copySuffix = " (Copy)"

func copyCodelab(r *Request) error {
	v := r.Codelab.View()
	if v.Meta == nil {
		return errNoCodelab
	}
	m := v.Meta.Clone()
	m.RegistrationClosed, m.EndedAt = false, 0
	m.Slug, m.SourceId = "", m.Id // a later version of the file must find the original
	// A long title is cut, so that copying is always possible.
	if keep := 200 - len(copySuffix); utf8.RuneCountInString(m.Title) > keep {
		m.Title = strings.TrimSpace(string([]rune(m.Title)[:keep]))
	}
	m.Title += copySuffix
	c := &codelab.Create{Codelab: m, Origin: codelab.OriginCopy, SourceID: m.Id}
	for _, p := range v.Polls {
		c.Polls = append(c.Polls, p.Poll)
	}
	for _, st := range v.Steps {
		c.Steps = append(c.Steps, &pb.Step{Id: st.Id, Title: st.Title, ContentMarkdown: st.ContentMarkdown, DurationMinutes: st.DurationMinutes})
	}
	for _, q := range v.Quizzes {
		q = q.Clone()
		q.Id = ""
		c.Quizzes = append(c.Quizzes, q)
	}
	for _, m := range v.Materials.All() {
		c.Materials = append(c.Materials, m)
	}
	out, err := r.copyWithFiles(c)
	if err != nil {
		return err
	}
	return r.JSON(r.toCodelab(out, true))
}

// copyWithWorkspace creates a codelab with a copy of the workspace of the path's codelab.
func (r *Request) copyWithWorkspace(c *codelab.Create) (*pb.Codelab, error) {
	// The lock prevents removal of the trees while they are copied.
	defer r.api.Workspaces.RLock(r.Codelab.ID())()
	w := r.Codelab.View().Workspace
	if w == nil {
		return r.api.Codelabs.Create(r.Caller, c)
	}
	var err error
	if c.Workspace, err = r.copyCode(r.Codelab.ID(), w); err != nil {
		return nil, err
	}
	out, err := r.api.Codelabs.Create(r.Caller, c)
	r.uncopy(c.Workspace, err)
	return out, err
}

// copyCode copies a codelab's workspace for a command that records the copy. The caller holds a
// lock that prevents removal of the trees.
func (r *Request) copyCode(of string, w *pb.Workspace) (*codelab.CreateWorkspace, error) {
	out := &codelab.CreateWorkspace{ID: naming.NewID(), StructureType: w.StructureType, Heads: w.Heads, Current: w.Current}
	if err := r.api.Workspaces.Copy(w.Id, out.ID, kindOf(w.StructureType), headsOf(w)); err != nil {
		r.api.Workspaces.Remove(out.ID)
		return nil, r.explainCopy(of, w, err)
	}
	return out, nil
}

// uncopy removes a copy whose command was rejected. After any other error the command may have been
// stored, so the copy stays. If it was not stored, the next start of the server or the next sweep
// removes the copy.
func (r *Request) uncopy(made *codelab.CreateWorkspace, err error) {
	if durable.Refused(err) {
		r.api.Workspaces.Remove(made.ID)
	}
}

// explainCopy returns the error for a workspace that cannot be copied, for example because another
// node has just deleted it.
func (r *Request) explainCopy(of string, w *pb.Workspace, failed error) error {
	now, err := r.api.Codelabs.Get(of)
	if err != nil {
		return err
	}
	if errors.Is(failed, code.ErrNotFound) && now.View().Workspace.GetId() != w.Id {
		return &httpapi.Error{Status: 409, Text: "the workspace was deleted just now; try again"}
	}
	return storeError(failed)
}

// copyWithFiles creates a codelab that refers to the files of another codelab.
func (r *Request) copyWithFiles(c *codelab.Create) (*pb.Codelab, error) {
	release, err := r.claimFiles("a material", uploadsOf(c.Materials))
	if err != nil {
		return nil, err
	}
	defer release()
	return r.copyWithWorkspace(c)
}

// uploadsOf returns the names of the uploaded files among materials.
func uploadsOf(materials []*pb.Material) (names []string) {
	for _, m := range materials {
		if m.Upload != "" {
			names = append(names, m.Upload)
		}
	}
	return names
}

// claimFiles protects files from removal until a command that refers to them is recorded.
func (r *Request) claimFiles(what string, names []string) (release func(), err error) {
	release, err = r.api.Files.Claim(names...)
	if errors.Is(err, files.ErrMissing) {
		return nil, &httpapi.Error{Status: 409, Text: what + " was deleted just now; try again"}
	}
	return release, err
}
