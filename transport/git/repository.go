package git

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"atelier/actors/code"
)

// The services of the protocol.
const (
	UploadPack  = "git-upload-pack"
	ReceivePack = "git-receive-pack"
)

// BranchPrefix is the prefix of all references.
const BranchPrefix = "refs/heads/"

// Ref is a branch and its commit.
type Ref struct{ Branch, ID string }

// Commit is a commit of a repository.
type Commit struct {
	ID      string
	Content []byte
	// Files is the id of the stored commit with the same files, see code.Repository.
	Files string

	parents []string
}

// Repository is the content that a client is allowed to fetch. It is not safe for concurrent use,
// unless NewChained has returned it.
type Repository struct {
	// Name distinguishes repositories with different files.
	Name string
	Refs []Ref // sorted by branch
	// Head is the branch that a clone checks out, or "" for none.
	Head string
	// Load returns a commit in the history of Refs, and is never called for other commits. Load is
	// nil if all commits are already loaded.
	Load func(id string) (*Commit, error)
	// Open opens the files of the commits.
	Open func() (code.Repository, error)

	commits map[string]*Commit
}

// commit returns a commit, and loads it on the first call.
func (r *Repository) commit(id string) (*Commit, error) {
	if c := r.commits[id]; c != nil {
		return c, nil
	}
	c, err := r.Load(id)
	if err != nil {
		return nil, err
	}
	if c.parents, err = ParentsOf(c.Content); err != nil {
		return nil, err
	}
	if r.commits == nil {
		r.commits = map[string]*Commit{}
	}
	r.commits[id] = c
	return c, nil
}

// TreeOf returns the tree of a commit.
func TreeOf(commit []byte) (string, error) {
	rest, ok := bytes.CutPrefix(commit, []byte("tree "))
	if !ok || len(rest) < 41 || rest[40] != '\n' || !idForm.Match(rest[:40]) {
		return "", fmt.Errorf("a stored commit has no tree")
	}
	return string(rest[:40]), nil
}

// ParentsOf returns the parents of a commit.
func ParentsOf(commit []byte) (out []string, err error) {
	if _, err := TreeOf(commit); err != nil {
		return nil, err
	}
	for rest := commit[len("tree ")+41:]; ; {
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		id, ok := bytes.CutPrefix(line, []byte("parent "))
		if !ok {
			return out, nil
		}
		if !idForm.Match(id) {
			return nil, fmt.Errorf("a stored commit has a malformed parent")
		}
		out, rest = append(out, string(id)), after
	}
}

// NameOf returns Git's hash of an object.
func NameOf(kind code.ObjectKind, content []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", kind, len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// Snapshot is a state of files, served without its history. Tree is the hash of its Git tree, and
// Files has the same meaning as in Commit.
type Snapshot struct{ Branch, Tree, Files string }

// maker is the author of Chain's commits.
const maker = "Atelier <codelab@atelier.invalid>"

// NewChained returns a repository with the commits of Chain. open opens their files. A clone checks
// out head. The repository is safe for concurrent use.
func NewChained(name, head string, snapshots []Snapshot, at time.Time, open func() (code.Repository, error)) *Repository {
	refs, commits := Chain(snapshots, at)
	return &Repository{Name: name, Head: head, Refs: refs, commits: commits, Open: open}
}

// Chain creates a commit per snapshot. Each commit's parent is the previous one. The result depends
// only on the arguments: equal snapshots have equal commits on every server.
func Chain(snapshots []Snapshot, at time.Time) (refs []Ref, commits map[string]*Commit) {
	commits = map[string]*Commit{}
	before := ""
	for _, s := range snapshots {
		var b bytes.Buffer
		fmt.Fprintf(&b, "tree %s\n", s.Tree)
		if before != "" {
			fmt.Fprintf(&b, "parent %s\n", before)
		}
		fmt.Fprintf(&b, "author %[1]s %[2]d +0000\ncommitter %[1]s %[2]d +0000\n\n%[3]s\n", maker, at.Unix(), s.Branch)
		c := &Commit{Content: b.Bytes(), Files: s.Files}
		if before != "" {
			c.parents = []string{before}
		}
		before = NameOf(code.CommitObject, b.Bytes())
		c.ID = before
		commits[before] = c
		refs = append(refs, Ref{s.Branch, before})
	}
	slices.SortFunc(refs, func(a, b Ref) int { return strings.Compare(a.Branch, b.Branch) })
	return refs, commits
}

// Advertise returns the references, which are the response to the first request for a service.
func (r *Repository) Advertise(service string) []byte {
	able := uploadAble
	if service == ReceivePack {
		able = receiveAble
	}
	var out []byte
	out = appendLine(out, "# service=%s\n", service)
	out = append(out, flush...)
	line := func(id, name string) {
		out = appendLine(out, "%s %s\x00%s\n", id, name, able)
		able = ""
	}
	rest := func(id, name string) {
		if able != "" {
			line(id, name)
			return
		}
		out = appendLine(out, "%s %s\n", id, name)
	}
	for _, ref := range r.Refs {
		if ref.Branch == r.Head && service == UploadPack {
			able += " symref=HEAD:" + BranchPrefix + r.Head
			rest(ref.ID, "HEAD")
		}
	}
	for _, ref := range r.Refs {
		rest(ref.ID, BranchPrefix+ref.Branch)
	}
	if len(r.Refs) == 0 {
		rest(noID, "capabilities^{}")
	}
	return append(out, flush...)
}

const (
	common      = " side-band-64k object-format=sha1 agent=atelier"
	uploadAble  = "multi_ack_detailed no-done shallow deepen-relative no-progress" + common
	receiveAble = "report-status delete-refs atomic ofs-delta" + common
)
