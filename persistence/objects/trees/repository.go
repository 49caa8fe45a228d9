package trees

import (
	"bytes"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/index"

	"atelier/actors/code"
)

// gitConfig is the configuration of a downloaded repository.
const gitConfig = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"

// repository writes the checked-out files of the first head, and the repository itself. The
// repository has all heads, and exactly the objects that they need.
func (p *packer) repository(from *history, heads []code.Head) error {
	if len(heads) == 0 {
		return nil
	}
	for _, h := range heads {
		c, err := from.commit(h.Tree)
		if err != nil {
			return err
		}
		if c.Committer.When.After(p.At) {
			p.At = c.Committer.When
		}
	}
	files, err := from.entries(heads[0].Tree)
	if err != nil {
		return err
	}
	idx := &index.Index{Version: 2}
	for _, name := range sorted(files) {
		h := plumbing.NewHash(files[name].Ref)
		content, err := from.blob(h)
		if err != nil {
			return err
		}
		if err := p.File(name, content, files[name].Mode); err != nil {
			return err
		}
		idx.Entries = append(idx.Entries, &index.Entry{
			Name: name, Hash: h, Mode: gitMode(files[name].Mode), Size: uint32(len(content)), CreatedAt: p.At, ModifiedAt: p.At,
		})
	}
	var staged bytes.Buffer
	if err := index.NewEncoder(&staged).Encode(idx); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	for _, name := range []string{".git", ".git/objects", ".git/objects/info", ".git/objects/pack", ".git/refs", ".git/refs/heads", ".git/refs/tags"} {
		if err := p.Folder(name); err != nil {
			return err
		}
	}
	for _, f := range []code.File{
		{Path: ".git/HEAD", Content: []byte("ref: refs/heads/" + heads[0].Name + "\n")}, {Path: ".git/config", Content: []byte(gitConfig)}, {Path: ".git/index", Content: staged.Bytes()},
	} {
		if err := p.File(f.Path, f.Content, f.Mode); err != nil {
			return err
		}
	}
	var tips []plumbing.Hash
	for _, h := range heads {
		tips = append(tips, plumbing.NewHash(h.Tree))
		if err := p.File(".git/refs/heads/"+h.Name, []byte(h.Tree+"\n"), code.Regular); err != nil {
			return err
		}
	}
	return from.objects(tips, func(name string, content []byte) error {
		return p.File(".git/objects/"+name[:2]+"/"+name[2:], content, code.Regular)
	})
}
