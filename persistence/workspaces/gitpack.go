package workspaces

import (
	"bytes"
	"fmt"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
	"github.com/go-git/go-git/v5/plumbing/revlist"

	"atelier/actors/code"
)

const gitConfig = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"

// pack writes the first head checked out, and the repository beside: every
// head, and the objects they need and no others.
func (g *repository) pack(to *packer, heads []code.Head) error {
	if len(heads) == 0 {
		return nil
	}
	for _, h := range heads {
		c, err := g.commit(h.Tree)
		if err != nil {
			return err
		}
		if c.Committer.When.After(to.at) {
			to.at = c.Committer.When
		}
	}
	files, err := g.files(heads[0].Tree)
	if err != nil {
		return err
	}
	idx := &index.Index{Version: 2}
	for _, name := range sorted(files) {
		h := plumbing.NewHash(files[name].ref)
		content, err := g.blob(h)
		if err != nil {
			return err
		}
		if err := to.file(name, content); err != nil {
			return err
		}
		idx.Entries = append(idx.Entries, &index.Entry{
			Name: name, Hash: h, Mode: filemode.Regular, Size: uint32(len(content)), CreatedAt: to.at, ModifiedAt: to.at,
		})
	}
	var staged bytes.Buffer
	if err := index.NewEncoder(&staged).Encode(idx); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	for _, name := range []string{".git", ".git/objects", ".git/objects/info", ".git/objects/pack", ".git/refs", ".git/refs/heads", ".git/refs/tags"} {
		if err := to.folder(name); err != nil {
			return err
		}
	}
	for _, f := range []code.File{
		{Path: ".git/HEAD", Content: []byte("ref: refs/heads/" + heads[0].Name + "\n")}, {Path: ".git/config", Content: []byte(gitConfig)}, {Path: ".git/index", Content: staged.Bytes()},
	} {
		if err := to.file(f.Path, f.Content); err != nil {
			return err
		}
	}
	var tips []plumbing.Hash
	for _, h := range heads {
		tips = append(tips, plumbing.NewHash(h.Tree))
		if err := to.file(".git/refs/heads/"+h.Name, []byte(h.Tree+"\n")); err != nil {
			return err
		}
	}
	return g.packObjects(to, tips)
}

// packObjects copies what the tips need, as it lies on disk.
func (g *repository) packObjects(to *packer, tips []plumbing.Hash) error {
	hashes, err := revlist.Objects(g.st, tips, nil)
	if err != nil {
		return fmt.Errorf("list objects: %w", err)
	}
	names := make([]string, len(hashes))
	for i, h := range hashes {
		names[i] = h.String()
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		at := path.Join("objects", name[:2], name[2:])
		content, err := g.root.ReadFile(path.Join(gitFolder, at))
		if err != nil {
			return fmt.Errorf("read object: %w", err)
		}
		if err := to.file(path.Join(".git", at), content); err != nil {
			return err
		}
	}
	return nil
}
