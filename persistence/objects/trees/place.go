package trees

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"atelier/actors/code"
	"atelier/persistence/objects"
)

// PlaceFolders imports workspaces from a data folder older than version 1 of this layout
// into a store of objects: Git repositories and plain folders. Damaged parts are left out,
// or stay damaged; then the log reports them, and sound is false. It can be repeated.
func PlaceFolders(ctx context.Context, to objects.Store, dir string, log *slog.Logger) (sound bool, err error) {
	workspaces, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	sound = true
	for _, e := range workspaces {
		id := e.Name()
		if !e.IsDir() || !idForm.MatchString(id) {
			continue // nothing of ours
		}
		p := placer{ctx, to, id, filepath.Join(dir, id), log, &sound}
		kind, place := code.Plain, p.plain
		if _, err := os.Stat(filepath.Join(p.dir, "repository")); err == nil {
			kind, place = code.Git, p.repository
		}
		if err := place(); err != nil {
			return false, fmt.Errorf("place workspace %s: %w", id, err)
		}
		if err := objects.PutBytes(ctx, to, madeKey(id, kind), nil); err != nil {
			return false, fmt.Errorf("place workspace %s: %w", id, err)
		}
	}
	return sound, nil
}

type placer struct {
	ctx context.Context
	to  objects.Store
	id  string
	dir string
	log *slog.Logger
	// sound is false when something was damaged.
	sound *bool
}

func (p placer) damaged(what string, err error) {
	*p.sound = false
	p.log.Error("stored code is damaged", "workspace", p.id, "what", what, "error", err)
}

func (p placer) plain() error {
	trees, err := os.ReadDir(filepath.Join(p.dir, "trees"))
	if err != nil {
		return err
	}
	for _, e := range trees {
		if !e.IsDir() || !treeForm[code.Plain].MatchString(e.Name()) {
			continue
		}
		if err := p.plainTree(e.Name()); err != nil {
			return err
		}
	}
	return nil
}

func (p placer) plainTree(name string) error {
	contents := map[string]entry{}
	top := filepath.Join(p.dir, "trees", name)
	err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if err == nil {
			err = code.CheckPath(filepath.ToSlash(rel))
		}
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		contents[filepath.ToSlash(rel)] = entry{Size: int64(len(content)), Content: content}
		return err
	})
	if err != nil {
		return err
	}
	stored, err := os.ReadFile(filepath.Join(p.dir, "sums", name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	summed := err == nil
	known := &sums{}
	if summed {
		var ok bool
		if known, ok = decodeSums(stored); !ok {
			p.damaged("sums of "+name, nil)
			return nil
		}
	}
	for path := range known.byPath {
		if _, there := contents[path]; !there && code.CheckPath(path) == nil {
			contents[path] = entry{}
		}
	}
	b := newBuilder(code.Plain)
	b.Tree = name
	for _, path := range sorted(contents) {
		b.bring(path, contents[path].Content, known.modes[path])
		if f := &b.Files[len(b.Files)-1]; summed && f.Sum != known.byPath[path] {
			p.damaged(name+"/"+path, nil)
			f.Sum = known.byPath[path] // so it stays damaged
		}
	}
	return b.put(p.ctx, p.to, p.id)
}

// repository places every commit that is there, each after its parents: which
// of them count is recorded elsewhere.
func (p placer) repository() error {
	st := filesystem.NewStorage(osfs.New(filepath.Join(p.dir, "repository"), osfs.WithBoundOS()), cache.NewObjectLRU(4<<20))
	iter, err := st.IterEncodedObjects(plumbing.CommitObject)
	if err != nil {
		return err
	}
	var todo []plumbing.Hash
	err = iter.ForEach(func(o plumbing.EncodedObject) error {
		todo = append(todo, o.Hash())
		return nil
	})
	if err != nil {
		p.damaged("some commits", err)
	}
	const begun, done = 1, 2
	state := map[plumbing.Hash]int{}
	lies := map[string]located{} // where the blobs lie, by hash
	for len(todo) > 0 {
		h := todo[len(todo)-1]
		c, err := object.GetCommit(st, h)
		switch {
		case state[h] == done:
			todo = todo[:len(todo)-1]
		case err != nil:
			p.damaged("commit "+h.String(), err)
			state[h] = done
		case state[h] == 0:
			state[h] = begun
			todo = append(todo, c.ParentHashes...)
		default:
			if err := p.commit(st, c, lies); err != nil {
				return err
			}
			state[h] = done
		}
	}
	return nil
}

func (p placer) commit(st *filesystem.Storage, c *object.Commit, lies map[string]located) error {
	hashes := map[string]entry{}
	top, err := c.Tree()
	if err == nil {
		err = top.Files().ForEach(func(f *object.File) error {
			if mode, plain := modeOf(f.Mode); plain {
				hashes[f.Name] = entry{Ref: f.Hash.String(), Mode: mode}
			}
			return nil
		})
	}
	if err != nil {
		p.damaged("commit "+c.Hash.String(), err)
		return nil
	}
	b := newBuilder(code.Git)
	b.Tree = c.Hash.String()
	if _, b.Commit, err = encoded(plumbing.CommitObject, c.Encode); err != nil {
		return err
	}
	for _, path := range sorted(hashes) {
		hash := hashes[path].Ref
		if at, placed := lies[hash]; placed {
			f := *at.f
			f.Path, f.Executable = path, hashes[path].Mode == code.Executable
			b.take(f, at.m.lies(at.f))
			continue
		}
		content, err := readBlob(st, plumbing.NewHash(hash))
		b.bring(path, content, hashes[path].Mode)
		if f := &b.Files[len(b.Files)-1]; err != nil || f.Git != hash {
			p.damaged(b.Tree+"/"+path, err)
			f.Git = hash // so it stays damaged
		}
	}
	if err := b.put(p.ctx, p.to, p.id); err != nil {
		return err
	}
	for i := range b.Files {
		if f := &b.Files[i]; f.In == 0 {
			lies[f.Git] = located{&b.manifest, f}
		}
	}
	return nil
}

func readBlob(st *filesystem.Storage, h plumbing.Hash) ([]byte, error) {
	blob, err := object.GetBlob(st, h)
	if err != nil {
		return nil, err
	}
	r, err := blob.Reader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(r)
	return b.Bytes(), err
}
