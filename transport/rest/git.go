package rest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"time"

	"atelier/actors/code"
	"atelier/actors/codelab"
	"atelier/actors/durable"
	"atelier/transport/auth"
	"atelier/transport/git"
	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

// Whoever leads sees the repository of a workspace as it is. Attendees see one that is
// made for them: a commit for each branch that is shared, with nothing of the author's
// history. It follows from the codelab's record, so every node shows the same.

// maxFetch bounds what a client asks for, bytes, packed and unpacked.
const maxFetch = 256 << 10

// gitUser is the name that goes with a personal secret.
const gitUser = "x"

var errNoRepository = durable.Reject(durable.Missing, "the code of this codelab is kept in folders, not in a Git repository; it can be downloaded")

// identifyBasic finds out who is calling where only a password counts, which is an API
// token or a personal secret for Git in this codelab.
func (r *Request) identifyBasic() (bad bool, err error) {
	given := string(r.Request.Header.Peek("Authorization"))
	if given == "" {
		return false, nil
	}
	scheme, encoded, _ := strings.Cut(given, " ")
	if !strings.EqualFold(scheme, "Basic") {
		r.who, bad, err = r.api.Auth.Identify("", given)
		return bad, err
	}
	pair, broken := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	_, password, _ := strings.Cut(string(pair), ":")
	if broken != nil || password == "" {
		return true, nil
	}
	if strings.HasPrefix(password, auth.TokenPrefix) {
		r.who, bad, err = r.api.Auth.Identify("", "Bearer "+password)
		return bad, err
	}
	who, lab, ok, err := r.api.Auth.IdentifyPersonal(auth.Git, password)
	if err != nil || !ok || lab != r.Param("id") {
		return true, err
	}
	r.who = who
	return false, nil
}

// giveGitAccess answers with what a Git client needs to read the code.
func giveGitAccess(r *Request) error {
	if err := r.still(); err != nil {
		return err
	}
	w, err := r.readable()
	if err != nil {
		return err
	}
	if w.StructureType != codelab.BranchWorkspace {
		return errNoRepository
	}
	secret, expires, ok, err := r.api.Auth.Personal(&r.who, auth.Git, r.Codelab.ID(), r.IsAdmin())
	if err != nil {
		return err
	}
	if !ok {
		return durable.Reject(durable.Forbidden, "an API token is the password itself")
	}
	return r.JSON(struct {
		URL       string `json:"url"`
		Username  string `json:"username"`
		Password  string `json:"password"`
		ExpiresAt string `json:"expires_at"`
	}{r.root() + "/git/" + r.Codelab.ID(), gitUser, secret, wire.Stamp(expires.UnixMilli())})
}

// root is the address of this server: the configured one, or that by which the caller
// reached it.
func (r *Request) root() string {
	if known := r.api.Origins.PublicURL; known != "" {
		return strings.TrimSuffix(known, "/")
	}
	scheme := "http://"
	if r.api.SecureCookies {
		scheme = "https://"
	}
	return scheme + string(r.Host())
}

func gitRefs(r *Request) error {
	service := r.Query("service")
	switch service {
	case git.UploadPack:
	case git.ReceivePack:
		if err := r.mayPush(); err != nil {
			return err
		}
	default:
		return wire.Invalid("service must be %s or %s: Git's older protocol without one is not spoken here", git.UploadPack, git.ReceivePack)
	}
	defer r.api.Workspaces.RLock(r.Codelab.ID())()
	repo, err := r.repository()
	if err != nil {
		return err
	}
	r.SetContentType("application/x-" + service + "-advertisement")
	r.Response.SetBodyRaw(repo.Advertise(service))
	return nil
}

// repository is what the caller may fetch. The caller holds a lock.
func (r *Request) repository() (*git.Repository, error) {
	w, err := r.readable()
	if err != nil {
		return nil, err
	}
	if w.StructureType != codelab.BranchWorkspace {
		return nil, errNoRepository
	}
	store, id := r.api.Workspaces, w.Id
	repo := &git.Repository{Name: id, Open: func() (code.Repository, error) { return store.Repository(id) }}
	if r.IsAdmin() {
		for _, h := range w.Heads {
			repo.Refs = append(repo.Refs, git.Ref{Branch: h.Name, ID: h.Tree})
		}
		repo.Head = codelab.KeptHead
		repo.Load = func(id string) (*git.Commit, error) {
			content, err := store.Commit(w.Id, id)
			return &git.Commit{ID: id, Content: content, Files: id}, err
		}
		return repo, nil
	}
	var shared []git.Snapshot
	for _, h := range codelab.InOrder(w.Heads) {
		commit, err := store.Commit(id, h.Tree)
		if err != nil {
			return nil, err
		}
		tree, err := git.TreeOf(commit)
		if err != nil {
			return nil, err
		}
		shared = append(shared, git.Snapshot{Branch: h.Name, Tree: tree, Files: h.Tree})
		repo.Head = h.Name
	}
	refs, commits := git.Chain(shared, time.UnixMilli(w.CreatedAt))
	repo.Refs = refs
	repo.Load = func(id string) (*git.Commit, error) { return commits[id], nil }
	return repo, nil
}

// gitBody reads a body of at most limit bytes, of a media type of Git's: pages of others
// cannot send that.
func (r *Request) gitBody(service string, limit int) ([]byte, error) {
	if err := r.gitType(service); err != nil {
		return nil, err
	}
	b, err := r.Read(limit)
	if err != nil || !r.Gzipped() {
		return b, err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, errGzip
	}
	unpacked, err := io.ReadAll(io.LimitReader(z, int64(limit)+1))
	switch {
	case err != nil:
		return nil, errGzip
	case len(unpacked) > limit:
		return nil, httpapi.ErrTooLarge
	}
	return unpacked, nil
}

var errGzip = wire.Invalid("the body is not what gzip makes")

func (r *Request) gitType(service string) error {
	want := "application/x-" + service + "-request"
	if len(r.Request.Header.ContentType()) == 0 || !r.Type(want) {
		return errGitType
	}
	return nil
}

func gitUploadPack(r *Request) error {
	body, err := r.gitBody(git.UploadPack, maxFetch)
	if err != nil {
		return err
	}
	if err := r.still(); err != nil {
		return err
	}
	defer r.api.Workspaces.RLock(r.Codelab.ID())()
	repo, err := r.repository()
	if err != nil {
		return err
	}
	r.SetContentType("application/x-git-upload-pack-result")
	fetch, err := git.ParseFetch(body)
	var answer *git.Answer
	if err == nil {
		answer, err = repo.Answer(fetch)
	}
	var wrong *code.Problem
	if errors.As(err, &wrong) {
		r.Response.SetBodyRaw(git.Refusal(wrong.Text))
		return nil
	}
	if err != nil {
		return err
	}
	content, err := r.api.packs.Reader(answer)
	if err != nil {
		return err
	}
	if answer.Plan != nil {
		taken := codelab.Latest(repo.Branches(fetch))
		if len(repo.Refs) > 1 && len(repo.Branches(fetch)) == len(repo.Refs) && r.IsAdmin() {
			taken = ""
		}
		if _, err := r.do(codelab.TakeCode{Name: taken}); err != nil {
			_ = content.Close()
			return err
		}
	}
	r.Response.SetBodyStream(r.Paced(content), -1)
	return nil
}
