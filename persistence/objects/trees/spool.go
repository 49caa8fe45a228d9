package trees

import (
	"context"
	"errors"
	"io"
	"os"

	"atelier/actors/code"
	"atelier/persistence/objects"
)

// spool contains the objects of a workspace's trees in a file on the node's disk, for a reader that
// needs all of them. Each object is fetched once, with one request unless a transfer is
// interrupted. Not safe for concurrent use.
type spool struct {
	s         *Store
	id        string
	kind      code.Kind
	f         *os.File
	end       int64
	at        map[string]span
	manifests map[string]*manifest
}

// span is the position of an object in the file.
type span struct{ from, size int64 }

func (s *Store) spool(id string, kind code.Kind) (*spool, error) {
	f, err := s.nameless()
	if err != nil {
		return nil, err
	}
	return &spool{s: s, id: id, kind: kind, f: f, at: map[string]span{}, manifests: map[string]*manifest{}}, nil
}

func (p *spool) close() { _ = p.f.Close() }

// fetch copies the object of a tree to the file, unless the file already contains it, and returns
// its position.
func (p *spool) fetch(ctx context.Context, name string) (at span, err error) {
	if at, there := p.at[name]; there {
		return at, nil
	}
	for range 3 { // an interrupted transfer is repeated
		if at, err = p.fetchOnce(ctx, name); err == nil || !errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
	}
	if err == nil {
		p.at[name] = at
		p.end = at.from + at.size
	}
	return at, err
}

func (p *spool) fetchOnce(ctx context.Context, name string) (span, error) {
	r, size, err := p.s.opts.Objects.Get(ctx, treeKey(p.id, name), 0, -1)
	if errors.Is(err, objects.ErrNotFound) {
		return span{}, code.ErrNotFound
	}
	if err != nil {
		return span{}, err
	}
	defer r.Close()
	// The limit is twice that of a workspace, because two nodes can write concurrently.
	if size < 0 || p.end+size > 2*maxWorkspace {
		return span{}, damaged("the workspace is too large")
	}
	n, err := io.Copy(io.NewOffsetWriter(p.f, p.end), io.LimitReader(r, size))
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	return span{p.end, size}, err
}

// manifest returns the manifest of a tree, and fetches the tree's object if necessary.
func (p *spool) manifest(ctx context.Context, name string) (*manifest, error) {
	if m := p.manifests[name]; m != nil {
		return m, nil
	}
	if !treeForm[p.kind].MatchString(name) {
		return nil, code.ErrNotFound
	}
	at, err := p.fetch(ctx, name)
	if err != nil {
		return nil, err
	}
	r := io.NewSectionReader(p.f, at.from, at.size)
	line := make([]byte, min(lineBytes, at.size))
	if _, err := io.ReadFull(r, line); err != nil {
		return nil, damaged("%s is empty", name)
	}
	n, sum, err := lengthOf(line)
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, damaged("%s is truncated", name)
	}
	m, err := decode(b, sum, p.kind, name)
	if err == nil {
		p.manifests[name] = m
	}
	return m, err
}

// read returns the verified content of a file.
func (p *spool) read(ctx context.Context, m *manifest, f *file) ([]byte, error) {
	src := m.bundleOf(f)
	at, err := p.fetch(ctx, src.Tree)
	if errors.Is(err, code.ErrNotFound) {
		err = damaged("%s of %s is missing", f.Path, m.Tree)
	}
	if err != nil {
		return nil, err
	}
	if src.Start+f.At+f.Size > at.size {
		return nil, damaged("%s of %s is truncated", f.Path, m.Tree)
	}
	content := make([]byte, f.Size)
	if _, err := p.f.ReadAt(content, at.from+src.Start+f.At); err != nil && len(content) > 0 {
		return nil, err
	}
	return content, m.check(f, content)
}

// folders packs the plain trees of heads. Each tree is in a folder with the name of its head.
func (p *spool) folders(ctx context.Context, to *packer, heads []code.Head) error {
	for _, h := range heads {
		if err := to.Folder(h.Name); err != nil {
			return err
		}
		m, err := p.manifest(ctx, h.Tree)
		if err != nil {
			return err
		}
		for i := range m.Files {
			content, err := p.read(ctx, m, &m.Files[i])
			if err != nil {
				return err
			}
			if err := to.File(h.Name+"/"+m.Files[i].Path, content, m.Files[i].mode()); err != nil {
				return err
			}
		}
	}
	return nil
}
