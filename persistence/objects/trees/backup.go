package trees

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"atelier/actors/code"
	"atelier/actors/durable"
	"atelier/persistence/internal/tree"
	"atelier/persistence/objects"
)

// Hold keeps every node from removing anything until release is called.
func (s *Store) Hold() (release func(), err error) { return objects.Hold(s.opts.Objects) }

// saver writes what package workspaces keeps in a folder, as a tar stream.
type saver struct {
	*Store
	ctx context.Context
	tar *tar.Writer
}

// Save writes everything for a backup, in the form of package workspaces: a
// backup of the one restores into the other. What is damaged is left out, and
// the log says so. Heads gives repositories their branches.
func (s *Store) Save(w io.Writer, heads Heads) error {
	v := saver{s, context.Background(), tar.NewWriter(w)}
	kinds := map[string]code.Kind{}
	var ids []string
	err := s.opts.Objects.List(v.ctx, prefix, func(i objects.Info) error {
		id, _, _ := partsOf(i.Key)
		for _, kind := range []code.Kind{code.Git, code.Plain} {
			if i.Key == madeKey(id, kind) && idForm.MatchString(id) {
				kinds[id] = kind
				ids = append(ids, id)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	recorded, err := heads()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := v.workspace(id, kinds[id], recorded[id]); err != nil {
			return fmt.Errorf("save workspace %s: %w", id, err)
		}
	}
	return v.tar.Close()
}

func (v saver) folder(names ...string) error {
	for _, name := range names {
		if err := v.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o700}); err != nil {
			return err
		}
	}
	return nil
}

func (v saver) file(name string, content []byte) error {
	if err := v.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := v.tar.Write(content)
	return err
}

// lost says whether the backup goes on without something.
func (v saver) lost(err error) bool {
	if errors.Is(err, code.ErrNotFound) {
		return true // removed meanwhile
	}
	if !errors.Is(err, durable.ErrCorrupt) {
		return false
	}
	v.opts.Logger.Error("damaged code is left out of the backup", "error", err)
	return true
}

func (v saver) workspace(id string, kind code.Kind, heads []code.Head) error {
	names, _, err := v.names(v.ctx, id, kind)
	if err != nil {
		return err
	}
	sp, err := v.spool(id, kind)
	if err != nil {
		return err
	}
	defer sp.close()
	if err := v.folder(id); err != nil {
		return err
	}
	if kind == code.Git {
		return v.repository(sp, id, names, heads)
	}
	if err := v.folder(id+"/sums", id+"/trees"); err != nil {
		return err
	}
	for _, name := range names {
		if err := v.plain(sp, id, name); err != nil && !v.lost(err) {
			return err
		}
	}
	return nil
}

func (v saver) plain(sp *spool, id, name string) error {
	m, err := sp.manifest(v.ctx, name)
	if err != nil {
		return err
	}
	if err := v.folder(id + "/trees/" + name); err != nil {
		return err
	}
	sums := tree.NewSums()
	for i := range m.Files {
		f := &m.Files[i]
		sums.Add(f.Path, f.Sum, f.mode())
		content, err := sp.read(v.ctx, m, f)
		if err != nil {
			if v.lost(err) {
				continue // its sum says that it is missing
			}
			return err
		}
		if err := v.file(id+"/trees/"+name+"/"+f.Path, content); err != nil {
			return err
		}
	}
	return v.file(id+"/sums/"+name, sums.Encode())
}

func (v saver) repository(sp *spool, id string, names []string, heads []code.Head) error {
	at := id + "/repository"
	if err := v.folder(at, at+"/objects", at+"/objects/info", at+"/objects/pack", at+"/refs", at+"/refs/heads", at+"/refs/tags"); err != nil {
		return err
	}
	err := errors.Join(v.file(at+"/HEAD", []byte("ref: refs/heads/main\n")), v.file(at+"/config", []byte("[core]\n\tbare = false\n")))
	for _, h := range heads {
		if slices.Contains(names, h.Tree) {
			err = errors.Join(err, v.file(at+"/refs/heads/"+h.Name, []byte(h.Tree+"\n")))
		}
	}
	if err != nil {
		return err
	}
	var tips []plumbing.Hash
	for _, name := range names {
		tips = append(tips, plumbing.NewHash(name))
	}
	last := ""
	h := &history{ctx: v.ctx, sp: sp, blobs: map[string]located{}, lost: v.lost}
	return h.Objects(tips, func(name string, content []byte) error {
		if dir := at + "/objects/" + name[:2]; dir != last {
			last = dir
			if err := v.folder(dir); err != nil {
				return err
			}
		}
		return v.file(strings.Join([]string{at, "objects", name[:2], name[2:]}, "/"), content)
	})
}

var _ tree.History = (*history)(nil)
