package rest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier/actors/code"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/transport/auth"
	"atelier/transport/git"
	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

// Facilitators get the original repository of a workspace. Attendees get a repository that is
// created for them, with one commit for each shared branch and without the author's history. This
// repository is derived from the codelab's record, so that every node creates the same repository.

// maxFetch bounds the body of a fetch, in bytes, before and after decompression.
const maxFetch = 256 << 10

// gitUser is the user name that Git clients send with a personal secret.
const gitUser = "x"

var errNoRepository = durable.Reject(durable.Missing, "the code of this codelab is kept in folders, not in a Git repository; it can be downloaded")

// identifyBasic identifies the caller of an operation for Git clients. The user name is ignored. The
// password is an API token, or a personal secret for Git in this codelab. A header with any other
// scheme than Basic must contain an API token. bad means that the credential is invalid. Without a
// header, the caller stays unknown.
func (r *Request) identifyBasic() (bad bool, err error) {
	given := string(r.Request.Header.Peek("Authorization"))
	if given == "" {
		return false, nil
	}
	scheme, encoded, _ := strings.Cut(given, " ")
	if !strings.EqualFold(scheme, "Basic") {
		r.who, bad, err = r.api.Auth.Identify(nil, given)
		return bad, err
	}
	pair, broken := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	_, password, _ := strings.Cut(string(pair), ":")
	if broken != nil || password == "" {
		return true, nil
	}
	if strings.HasPrefix(password, auth.TokenPrefix) {
		r.who, bad, err = r.api.Auth.Identify(nil, "Bearer "+password)
		return bad, err
	}
	who, lab, ok, err := r.api.Auth.IdentifyPersonal(auth.Git, password)
	if err != nil || !ok || lab != r.addressed() {
		return true, err
	}
	r.who = who
	return false, nil
}

type gitAccess struct {
	URL       string `json:"url" doc:"The address for «git clone»."`
	Username  string `json:"username" const:"x"`
	Password  string `json:"password" doc:"A personal secret."`
	ExpiresAt string `json:"expires_at" is:"Timestamp"`
}

// giveGitAccess returns the secret and the address that a Git client needs to read the code.
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
		return durable.Reject(durable.Forbidden, "use the API token itself as the password")
	}
	return r.JSON(gitAccess{r.root() + "/git/" + r.Codelab.ID(), gitUser, secret, wire.Stamp(expires.UnixMilli())})
}

// root returns this server's address: the configured address, or the one that the caller used.
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
		return wire.Invalid("service must be %s or %s: a request without it belongs to Git's dumb HTTP protocol, which this server does not support", git.UploadPack, git.ReceivePack)
	}
	defer r.Turn()()
	defer r.api.Workspaces.RLock(r.Codelab.ID())()
	repo, err := r.repository()
	if err != nil {
		return err
	}
	r.SetContentType("application/x-" + service + "-advertisement")
	r.Response.SetBodyRaw(repo.Advertise(service))
	return nil
}

// repository returns the repository that the caller is allowed to fetch. The codelab's lock in
// Workspaces must be held.
func (r *Request) repository() (*git.Repository, error) {
	w, err := r.readable()
	if err != nil {
		return nil, err
	}
	if w.StructureType != codelab.BranchWorkspace {
		return nil, errNoRepository
	}
	store, id := r.api.Workspaces, w.Id
	open := func() (code.Repository, error) { return store.Repository(id) }
	if r.IsAdmin() {
		repo := &git.Repository{Name: id, Open: open, Head: codelab.KeptHead}
		for _, h := range w.Heads {
			repo.Refs = append(repo.Refs, git.Ref{Branch: h.Name, ID: h.Tree})
		}
		repo.Load = func(id string) (*git.Commit, error) {
			content, err := store.Commit(w.Id, id)
			return &git.Commit{ID: id, Content: content, Files: id}, err
		}
		return repo, nil
	}
	begin := codelab.BeginWith(w.Heads, r.Codelab.View().Pointer)
	return r.api.shown.get(w, begin, func() (*git.Repository, error) {
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
		}
		return git.NewChained(id, begin, shared, time.UnixMilli(w.CreatedAt), open), nil
	})
}

// maxShown bounds the number of attendees' repositories in the cache. A full cache is emptied.
const maxShown = 64

// shownRepositories caches the repositories built for attendees, because hundreds of attendees read
// the same repository concurrently. The key is derived from the inputs, so an entry is never stale.
// shownRepositories is safe for concurrent use.
type shownRepositories struct {
	mu   sync.Mutex
	kept map[string]*shownRepository
}

// shownRepository is built by its first reader, while the others wait.
type shownRepository struct {
	build sync.Once
	repo  *git.Repository
	err   error
}

// get returns the attendees' repository for a workspace, which has only the shared heads. A clone
// checks out the branch begin.
func (s *shownRepositories) get(w *pb.Workspace, begin string, build func() (*git.Repository, error)) (*git.Repository, error) {
	key := w.Id + " " + begin
	for _, h := range w.Heads {
		key += "\n" + h.Name + " " + h.Tree
	}
	s.mu.Lock()
	r := s.kept[key]
	if r == nil {
		if s.kept == nil || len(s.kept) >= maxShown {
			s.kept = map[string]*shownRepository{}
		}
		r = &shownRepository{}
		s.kept[key] = r
	}
	s.mu.Unlock()
	// Other repositories stay available while this one is read, which can be slow.
	r.build.Do(func() {
		r.err = errors.New("the repository could not be built") // if build panics
		r.repo, r.err = build()
	})
	if r.err != nil {
		s.mu.Lock()
		if s.kept[key] == r {
			delete(s.kept, key)
		}
		s.mu.Unlock()
	}
	return r.repo, r.err
}

// gitBody returns the decompressed body of a request to a Git service. The limit applies before and
// after decompression, in bytes. The body must have the service's media type, which pages of other
// origins cannot send.
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

var errGzip = wire.Invalid("the body is not valid gzip data")

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
	r.SetContentType("application/x-git-upload-pack-result")
	content, size, taken, err := r.fetched(body)
	var wrong *code.Problem
	if errors.As(err, &wrong) {
		r.Response.SetBodyRaw(git.Refusal(wrong.Text))
		return nil
	}
	if err != nil {
		return err
	}
	if taken != nil {
		if _, err := r.do(*taken); err != nil {
			_ = content.Close()
			return err
		}
	}
	r.Send(r.Paced(content), int(size))
	return nil
}

// fetched returns the response to a fetch, its size, and the code that the client downloads, if
// any. The codelab's lock in Workspaces must be held.
func (r *Request) fetched(body []byte) (content io.ReadCloser, size int64, taken *codelab.TakeCode, err error) {
	defer r.Turn()()
	repo, err := r.repository()
	if err != nil {
		return nil, 0, nil, err
	}
	fetch, err := git.ParseFetch(body)
	if err != nil {
		return nil, 0, nil, err
	}
	answer, err := repo.Answer(fetch)
	if err != nil {
		return nil, 0, nil, err
	}
	if answer.Plan != nil {
		branches := repo.Branches(fetch)
		taken = &codelab.TakeCode{Name: codelab.Latest(branches)}
		switch {
		case r.IsAdmin() && len(branches) == len(repo.Refs):
			taken.Name = "" // all branches
		case slices.Contains(branches, repo.Head):
			taken.Name = repo.Head // the branch that is checked out
		}
	}
	content, size, err = r.api.packs.Reader(answer)
	return content, size, taken, err
}
