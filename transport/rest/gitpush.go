package rest

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"time"

	"atelier/actors/code"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/settings"
	"atelier/transport/git"
	"atelier/transport/httpapi"
)

// maxPushing bounds the pushes that are unpacked concurrently.
const maxPushing = 2

var errPush = durable.Reject(durable.Forbidden, "only an API token with the scope all or import can push")

// mayPush refuses callers without permission to push. Personal secrets permit only reading, even a
// facilitator's.
func (r *Request) mayPush() error {
	switch {
	case r.who.Token == nil:
		return errPush
	case r.who.Scope() == settings.ScopeRead:
		return errScope
	}
	return nil
}

// gitReceivePack changes branches. It sends refusals in Git's own format, so that the Git client
// prints them.
func gitReceivePack(r *Request) error {
	if err := r.mayPush(); err != nil {
		return err
	}
	if err := r.gitType(git.ReceivePack); err != nil {
		return err
	}
	body, err := r.spoolPush()
	if err != nil {
		return err
	}
	defer body.Close()
	if err := r.still(); err != nil {
		return err
	}
	r.SetContentType("application/x-git-receive-pack-result")
	push, err := git.ParsePush(body)
	var wrong *code.Problem
	if errors.As(err, &wrong) {
		r.Response.SetBodyRaw(git.Refusal(wrong.Text))
		return nil
	}
	if err == nil {
		err = r.push(push, body)
	}
	reason := ""
	var refused *durable.Rejection
	switch {
	case errors.As(err, &wrong):
		reason = wrong.Text
	case errors.Is(err, codelab.ErrHeadMoved):
		reason = "the branch has changed since your last fetch: fetch first"
	case errors.As(err, &refused):
		reason = refused.Text
	case err != nil:
		return err
	}
	var packed packError
	r.Response.SetBodyRaw(push.Report(reason, !errors.As(err, &packed)))
	return nil
}

// spoolPush writes the decompressed body to a file. It returns httpapi.ErrTooLarge for more than
// git.MaxPack bytes.
func (r *Request) spoolPush() (*os.File, error) {
	if r.Request.Header.ContentLength() > git.MaxPack {
		return nil, httpapi.ErrTooLarge
	}
	_ = r.Conn().SetReadDeadline(time.Now().Add(uploadTimeout))
	from := r.bodyReader()
	if r.Gzipped() {
		z, err := gzip.NewReader(from)
		if err != nil {
			return nil, errGzip
		}
		from = z
	}
	f, err := r.api.Workspaces.Scratch()
	if err != nil {
		return nil, err
	}
	n, err := io.Copy(f, &onlyBroken{io.LimitReader(from, git.MaxPack+1)})
	if err == nil && n > git.MaxPack {
		err = httpapi.ErrTooLarge
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// onlyBroken marks the read errors of a body, so that an interrupted body differs from a file that
// cannot be written.
type onlyBroken struct{ r io.Reader }

func (o *onlyBroken) Read(b []byte) (int, error) {
	n, err := o.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = httpapi.ErrBroken
	}
	return n, err
}

// push applies a push, completely or not at all.
func (r *Request) push(p *git.Push, body *os.File) error {
	if len(p.Commands) == 0 {
		return nil // the client only checks its permission
	}
	if err := p.Check(); err != nil {
		return err
	}
	r.api.pushing <- struct{}{}
	defer func() { <-r.api.pushing }()
	var came *git.Pushed
	if p.HasPack() {
		var err error
		if came, err = r.unpack(body); err != nil {
			return err
		}
		defer came.Close()
	}
	defer r.api.Workspaces.Lock(r.Codelab.ID())()
	w, err := r.pushable()
	if err != nil {
		return err
	}
	cmd := codelab.PushWorkspace{WorkspaceID: w.Id}
	for _, c := range p.Commands {
		if before, _ := treeOf(w, c.Branch); before != c.Old {
			return codelab.ErrHeadMoved
		}
		cmd.Moves = append(cmd.Moves, codelab.HeadMove{Name: c.Branch, Before: c.Old, After: c.New})
	}
	if came != nil {
		if cmd.Commits, err = r.api.Workspaces.Receive(w.Id, treesOf(w), p.Tips(), came); err != nil {
			return err
		}
	}
	_, err = r.recordWorkspace(cmd)
	return err
}

// unpack unpacks the pack, which follows the commands of a push in the body.
func (r *Request) unpack(body *os.File) (came *git.Pushed, err error) {
	from, err := body.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	end, err := body.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	defer r.api.Workspaces.RLock(r.Codelab.ID())()
	w, err := r.pushable()
	if err != nil {
		return nil, err
	}
	here, err := r.api.Workspaces.Repository(w.Id)
	if err != nil {
		return nil, err
	}
	defer here.Close()
	f, err := r.api.Workspaces.Scratch()
	if err != nil {
		return nil, err
	}
	heads := treesOf(w)
	came, err = git.Unpack(io.NewSectionReader(body, from, end-from), end-from, f, func(name string) (code.Object, bool, error) {
		return here.Find(name, heads)
	})
	if err != nil {
		_ = f.Close()
		return nil, packError{err}
	}
	return came, nil
}

// packError is the reason why a pack cannot be unpacked.
type packError struct{ error }

func (p packError) Unwrap() error { return p.error }

// pushable returns the codelab's workspace, or errNoRepository if its code is kept in folders. The
// codelab's lock in Workspaces must be held.
func (r *Request) pushable() (*pb.Workspace, error) {
	w, err := r.workspace()
	if err == nil && w.StructureType != codelab.BranchWorkspace {
		err = errNoRepository
	}
	return w, err
}

// treesOf returns the trees of a workspace's heads.
func treesOf(w *pb.Workspace) (out []string) {
	for _, h := range w.Heads {
		out = append(out, h.Tree)
	}
	return out
}
