package trees

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"atelier/actors/code"
	"atelier/persistence/objects"
)

// These are the limits of one push. maxCommits and maxPushedEntries bound the commits, and the
// files in all commits. maxFolders bounds the folders in one commit, and maxCommit the size
// of a commit in bytes.
const (
	maxCommits       = 2_000
	maxPushedEntries = 1_000_000
	maxFolders       = 20_000
	maxCommit        = 256 << 10
)

// latest is the latest permitted commit date. Other formats that are derived from a commit must be
// able to represent its date.
var latest = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// Receive implements code.Store. It checks everything before it puts the first commit, so that a
// refused push stores nothing.
func (s *Store) Receive(id string, heads, tips []string, from code.Objects) (commits int, err error) {
	if err := s.opts.Gate(); err != nil {
		return 0, err
	}
	s.busy <- struct{}{}
	defer func() { <-s.busy }()
	ctx := context.Background()
	if err := s.known(ctx, id, code.Git); err != nil {
		return 0, err
	}
	sp, err := s.spool(id, code.Git)
	if err != nil {
		return 0, err
	}
	defer sp.close()
	h := &history{ctx: ctx, sp: sp, blobs: map[string]located{}}
	r := &receiver{s: s, id: id, h: h, came: from, checked: map[string]bool{}, sound: map[string]bool{}, counted: map[string]bool{}}
	r.find = &finder{h: h, seen: map[string]bool{}, trees: map[string]subtree{}}
	order, err := r.order(tips)
	if err != nil {
		return 0, err
	}
	r.find.from(r.parents)
	r.find.from(heads)
	for _, name := range order {
		if err := r.check(name); err != nil {
			return 0, err
		}
	}
	if len(order) == 0 {
		return 0, nil
	}
	if err := s.growBy(ctx, id, r.added); err != nil {
		return 0, err
	}
	for _, name := range order {
		if err := r.store(name); err != nil {
			return 0, fmt.Errorf("store a pushed commit: %w", err)
		}
	}
	return len(order), nil
}

// receiver stores the commits of one push.
type receiver struct {
	s    *Store
	id   string
	h    *history
	find *finder
	came code.Objects
	// parents contains the stored commits that are tips, or parents of received commits.
	parents []string
	// checked contains the paths that were found valid. sound contains the trees that were
	// verified.
	checked, sound map[string]bool
	entries        int
	// counted contains the blobs already included in added.
	counted map[string]bool
	added   int64
}

// order returns the names of the commits to store, parents first.
func (r *receiver) order(tips []string) (order []string, err error) {
	const begun, done = 1, 2
	state := map[string]int{}
	for todo := append([]string{}, tips...); len(todo) > 0; {
		name := todo[len(todo)-1]
		switch state[name] {
		case done:
			todo = todo[:len(todo)-1]
			continue
		case begun:
			state[name] = done
			order = append(order, name)
			continue
		}
		stored, err := r.stored(name)
		if err != nil {
			return nil, err
		}
		if stored {
			state[name] = done
			r.parents = append(r.parents, name)
			continue
		}
		c, err := r.commit(name)
		if err != nil {
			return nil, err
		}
		if len(state) > 2*maxCommits {
			return nil, code.Fault("the push has more than %d commits: push fewer at a time", maxCommits)
		}
		state[name] = begun
		todo = append(todo, c.parents...)
	}
	if len(order) > maxCommits {
		return nil, code.Fault("the push has more than %d commits: push fewer at a time", maxCommits)
	}
	return order, nil
}

// stored reports whether a commit is stored. A stored commit is never put again, because other
// commits refer to the positions of files in its object.
func (r *receiver) stored(name string) (bool, error) {
	_, err := r.s.opts.Objects.Stat(r.h.ctx, treeKey(r.id, name))
	if errors.Is(err, objects.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// pushedCommit is a received commit.
type pushedCommit struct {
	content []byte
	tree    string
	parents []string
}

var (
	treeLine   = regexp.MustCompile(`^tree ([0-9a-f]{40})$`)
	parentLine = regexp.MustCompile(`^parent ([0-9a-f]{40})$`)
	personLine = regexp.MustCompile(`^(author|committer) [^<>\x00]*<[^<>\x00]*> [0-9]{1,11} [+-][0-9]{4}$`)
)

// commit parses a received commit. It accepts only the form of a commit that all readers interpret
// in the same way.
func (r *receiver) commit(name string) (*pushedCommit, error) {
	kind, size, ok := r.came.Stat(name)
	if !ok || kind != code.CommitObject {
		return nil, code.Fault("the commit %.12s is missing: push from a clone with the whole history", name)
	}
	bad := code.Fault("the commit %.12s is malformed, or larger than %d KiB", name, maxCommit>>10)
	if size > maxCommit {
		return nil, bad
	}
	content, err := r.came.Content(name)
	if err != nil {
		return nil, err
	}
	head, _, ok := bytes.Cut(content, []byte("\n\n"))
	if !ok || bytes.IndexByte(content, 0) >= 0 {
		return nil, bad
	}
	lines := strings.Split(string(head), "\n")
	c := &pushedCommit{content: content}
	m := treeLine.FindStringSubmatch(lines[0])
	if m == nil {
		return nil, bad
	}
	c.tree, lines = m[1], lines[1:]
	for len(lines) > 0 {
		m := parentLine.FindStringSubmatch(lines[0])
		if m == nil {
			break
		}
		c.parents, lines = append(c.parents, m[1]), lines[1:]
	}
	if len(lines) < 2 || !strings.HasPrefix(lines[0], "author ") || !strings.HasPrefix(lines[1], "committer ") ||
		!personLine.MatchString(lines[0]) || !personLine.MatchString(lines[1]) {
		return nil, bad
	}
	for _, more := range lines[2:] {
		for _, taken := range []string{"tree ", "parent ", "author ", "committer "} {
			if strings.HasPrefix(more, taken) {
				return nil, bad
			}
		}
	}
	decoded, err := (&manifest{Tree: name, Commit: content}).commit()
	if err != nil || decoded.TreeHash.String() != c.tree || len(decoded.ParentHashes) != len(c.parents) {
		return nil, bad
	}
	for i, p := range decoded.ParentHashes {
		if p.String() != c.parents[i] {
			return nil, bad
		}
	}
	if decoded.Committer.When.After(latest) {
		return nil, code.Fault("the commit %.12s is dated later than %d", name, latest.Year())
	}
	return c, nil
}

// check returns an error if a commit is invalid, and adds the bytes that it would need in the store
// to added.
func (r *receiver) check(name string) error {
	c, err := r.commit(name)
	if err != nil {
		return err
	}
	files, err := r.files(c.tree)
	if err != nil {
		return err
	}
	if r.entries += len(files); r.entries > maxPushedEntries {
		return code.Fault("the commits of the push have too many files together: push fewer at a time")
	}
	r.added += 4096 + int64(2*len(c.content))
	for path, e := range files {
		r.added += 300 + int64(len(path))
		if !r.counted[e.Ref] {
			r.counted[e.Ref] = true
			if _, here := r.h.blobs[e.Ref]; !here {
				r.added += e.Size
			}
		}
	}
	if r.sound[c.tree] {
		return nil
	}
	for path := range files {
		if r.checked[path] {
			continue
		}
		if err := r.path(path); err != nil {
			return err
		}
		r.checked[path] = true
	}
	if err := check(files); err != nil {
		return err
	}
	top, err := writeTrees(hashOnly, files)
	if err != nil {
		return err
	}
	if top.String() != c.tree {
		return code.Fault("a folder of the commit %.12s is empty or malformed", name)
	}
	r.sound[c.tree] = true
	return nil
}

// path returns an error if a file's path is invalid. A path that a stored parent commit already has
// stays valid, even if Windows forbids it, because earlier releases did not check that.
func (r *receiver) path(path string) error {
	if err := code.CheckPath(path); err != nil {
		return err
	}
	wrong := code.CheckNewPath(path)
	if wrong == nil {
		return nil
	}
	for _, p := range r.parents {
		m, err := r.h.manifest(p)
		if err != nil {
			return err
		}
		if m.byPath[path] != nil {
			return nil
		}
	}
	return wrong
}

// files returns the files of a received or stored tree.
func (r *receiver) files(tree string) (map[string]entry, error) {
	w := &walk{r: r, files: map[string]entry{}}
	err := w.folder("", tree)
	return w.files, err
}

// walk collects the files of a tree.
type walk struct {
	r       *receiver
	files   map[string]entry
	folders int
}

func (w *walk) folder(at, name string) error {
	if w.folders++; w.folders > maxFolders {
		return code.Fault("a commit has more than %d folders", maxFolders)
	}
	kind, _, came := w.r.came.Stat(name)
	if !came {
		t, ok, err := w.r.find.tree(name)
		if err != nil {
			return err
		}
		if !ok {
			return code.Fault("the tree %.12s is neither in this workspace nor in the push", name)
		}
		for path, e := range t.below() {
			if err := w.file(at+path, e); err != nil {
				return err
			}
		}
		return nil
	}
	if kind != code.TreeObject {
		return code.Fault("%.12s is not a tree", name)
	}
	content, err := w.r.came.Content(name)
	if err != nil {
		return err
	}
	for len(content) > 0 {
		head, rest, ok := bytes.Cut(content, []byte{0})
		mode, part, spaced := strings.Cut(string(head), " ")
		if !ok || !spaced || len(rest) < 20 {
			return code.Fault("the tree %.12s is malformed", name)
		}
		id := fmt.Sprintf("%x", rest[:20])
		content = rest[20:]
		path := at + part
		if strings.Contains(part, "/") {
			return code.Fault("the tree %.12s is malformed", name)
		}
		if mode == "40000" {
			// Check each folder. Otherwise an invalid path would be noticed only at its end, and a
			// hostile push can have paths without an end.
			if err := code.CheckPath(path); err != nil {
				return err
			}
			if err := w.folder(path+"/", id); err != nil {
				return err
			}
			continue
		}
		e, err := w.blob(path, mode, id)
		if err == nil {
			err = w.file(path, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) file(path string, e entry) error {
	if len(w.files) == code.MaxFiles {
		return code.Fault("there would be more than %d files", code.MaxFiles)
	}
	if _, twice := w.files[path]; twice {
		return code.Fault("%q occurs twice", path)
	}
	w.files[path] = e
	return nil
}

// blob returns the entry of a file in a received tree.
func (w *walk) blob(path, mode, id string) (e entry, err error) {
	e.Ref = id
	switch mode {
	case "100644":
		e.Mode = code.Regular
	case "100755":
		e.Mode = code.Executable
	case "120000":
		return e, code.Fault("%q is a symbolic link, which a workspace cannot contain", path)
	case "160000":
		return e, code.Fault("%q is a submodule, which a workspace cannot contain", path)
	default:
		return e, code.Fault("%q is neither a file nor a folder", path)
	}
	kind, size, came := w.r.came.Stat(id)
	if !came {
		b, ok, err := w.r.find.blob(id)
		if err != nil {
			return e, err
		}
		if !ok {
			return e, code.Fault("the content of %q is neither in this workspace nor in the push", path)
		}
		e.Size = b.f.Size
		return e, nil
	}
	if kind != code.BlobObject {
		return e, code.Fault("%q is neither a file nor a folder", path)
	}
	if size > maxFile {
		return e, code.Fault("%q is larger than %d MiB", path, maxFile>>20)
	}
	e.Size = size
	return e, nil
}

// store puts a checked commit.
func (r *receiver) store(name string) error {
	c, err := r.commit(name)
	if err != nil {
		return err
	}
	files, err := r.files(c.tree)
	if err != nil {
		return err
	}
	b := newBuilder(code.Git)
	b.Tree, b.Commit = name, c.content
	for _, path := range sorted(files) {
		e := files[path]
		if src, known := r.h.blobs[e.Ref]; known {
			f := *src.f
			f.Path, f.Executable = path, e.Mode == code.Executable
			b.take(f, src.m.bundleOf(src.f))
			continue
		}
		content, err := r.came.Content(e.Ref)
		if err != nil {
			return err
		}
		b.bring(path, content, e.Mode)
	}
	if err := b.checkCommit(); err != nil {
		return err
	}
	if err := b.put(r.h.ctx, r.s.opts.Objects, r.id); err != nil {
		return err
	}
	for i := range b.Files {
		if f := &b.Files[i]; f.In == 0 {
			r.h.blobs[f.Git] = located{&b.manifest, f}
		}
	}
	r.s.remember(r.id, &b.manifest)
	return nil
}
