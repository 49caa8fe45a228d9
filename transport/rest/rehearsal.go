package rest

import (
	"bytes"
	"errors"

	"github.com/valyala/fasthttp"

	"atelier/actors/code"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/naming"
	"atelier/transport/archive"
	"atelier/transport/sample"
	"atelier/transport/wire"
)

// This file contains the operations for rehearsals, and for the sample workshop to rehearse with
// (RULES.md, "Rehearsal").

type rehearsalRecord struct {
	EndsAt string `json:"ends_at" is:"Timestamp"`
	People int32  `json:"people" range:"1..60"`
}

func toRehearsal(r *pb.Rehearsal) *rehearsalRecord {
	if r == nil {
		return nil
	}
	return &rehearsalRecord{wire.Stamp(r.EndsAt), r.People}
}

type rehearsalStartBody struct {
	People  *int32 `json:"people" range:"1..60" doc:"The number of simulated attendees."`
	Minutes *int32 `json:"minutes" range:"1..60" doc:"The duration."`
	Force   *bool  `json:"force,omitempty" default:"false" doc:"Start the rehearsal even if attendees who are not simulated are connected."`
}

func startRehearsal(r *Request) error {
	var in rehearsalStartBody
	if err := r.decode(&in); err != nil {
		return err
	}
	m, err := r.Codelab.StartRehearsal(r.Caller, codelab.StartRehearsal{People: *in.People, Minutes: *in.Minutes, Force: or(in.Force, false)})
	if err != nil {
		return err
	}
	r.SetStatusCode(fasthttp.StatusCreated)
	return r.JSON(toRehearsal(m.Rehearsal))
}

func endRehearsal(r *Request) error {
	if _, err := r.do(codelab.EndRehearsal{}); err != nil {
		return err
	}
	return r.NoContent()
}

// createSample creates a codelab from the sample workshop embedded in the binary.
func createSample(r *Request) error {
	b, err := sample.ZIP()
	if err != nil {
		return err
	}
	in, err := archive.Importer{Files: r.api.Files, Now: r.api.Now}.Open("sample.zip", bytes.NewReader(b), int64(len(b)), r.present)
	if err != nil {
		return err
	}
	m, err := r.createSample(in.Create)
	if err := errors.Join(err, in.Close(archive.Unknown(err))); err != nil {
		return err
	}
	r.SetStatusCode(fasthttp.StatusCreated)
	return r.JSON(r.toCodelab(m, true))
}

func (r *Request) createSample(c *codelab.Create) (_ *pb.Codelab, err error) {
	c.Origin = codelab.OriginSample
	id := naming.NewID()
	if c.Workspace, err = r.sampleCode(id); err != nil {
		r.api.Workspaces.Remove(id)
		return nil, storeError(err)
	}
	m, err := r.api.Codelabs.Create(r.Caller, c)
	r.uncopy(c.Workspace, err)
	return m, err
}

// sampleCode creates a workspace with the sample's code. Each state is a commit after the previous
// one.
func (r *Request) sampleCode(id string) (*codelab.CreateWorkspace, error) {
	states, err := sample.Code()
	if err != nil {
		return nil, err
	}
	defer r.api.Workspaces.Lock(id)()
	if err := r.api.Workspaces.Make(id, code.Git); err != nil {
		return nil, err
	}
	out := &codelab.CreateWorkspace{ID: id, StructureType: codelab.BranchWorkspace, Current: codelab.KeptHead}
	var heads []code.Head
	tree := ""
	add := func(name string) {
		out.Heads = append(out.Heads, &pb.WorkspaceHead{Name: name, Tree: tree})
		heads = append(heads, code.Head{Name: name, Tree: tree})
	}
	for _, s := range states {
		change := r.change(s.Branch, s.Files, nil)
		change.Replace = true
		if tree, err = r.api.Workspaces.Write(id, code.Git, tree, change); err != nil {
			return nil, err
		}
		add(s.Branch)
	}
	add(codelab.KeptHead)
	return out, r.api.Workspaces.Publish(id, code.Git, heads)
}
