package workspaces

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"atelier/actors/code"
	"atelier/persistence/internal/tree"
)

// sumsFolder holds, for each tree of plain files, a file of its name with their
// tree.Sums. Trees from before there were sums have none, and are taken as they
// are.
const sumsFolder = "sums"

// sums are those of one tree; of one that has none it is nil.
func (f *folders) sums(name string) (*tree.Sums, error) {
	b, err := f.root.ReadFile(filepath.Join(sumsFolder, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read sums: %w", err)
	}
	known, ok := tree.DecodeSums(b)
	if !ok {
		return nil, fmt.Errorf("%w: the sums of tree %s", ErrDamaged, name)
	}
	return known, nil
}

// verify compares what was read of a path with its sum.
func verify(known *tree.Sums, path string, content []byte, err error) ([]byte, error) {
	if known == nil {
		return content, err
	}
	want, ours := known.ByPath[path]
	switch {
	case ours && (errors.Is(err, code.ErrNotFound) || err == nil && tree.SumOf(content) != want):
		return nil, fmt.Errorf("%w: %s", ErrDamaged, path)
	case !ours && err == nil:
		return nil, fmt.Errorf("%w: %s is not of this tree", ErrDamaged, path)
	}
	return content, err
}

// note writes the sums of a tree that is being made: of what is new, and of
// what it takes over those it had.
func (f *folders) note(base, name string, files map[string]entry) error {
	var before *tree.Sums
	if base != "" {
		var err error
		if before, err = f.sums(base); err != nil {
			return err
		}
	}
	after := tree.NewSums()
	for path, e := range files {
		var sum string
		switch {
		case e.Ref == "":
			sum = tree.SumOf(e.Content)
		case before == nil:
			content, _, err := f.read(base, e.Ref)
			if err != nil {
				return err
			}
			sum = tree.SumOf(content)
		default:
			if sum = before.ByPath[e.Ref]; sum == "" {
				return fmt.Errorf("%w: %s has no sum", ErrDamaged, e.Ref)
			}
		}
		after.Add(path, sum, e.Mode)
	}
	return f.writeSums(name, after.Encode())
}

// writeSums makes the sums of a tree last.
func (f *folders) writeSums(name string, content []byte) error {
	if err := f.root.Mkdir(sumsFolder, 0o700); err == nil {
		if err := f.s.syncer.sync(filepath.Join(f.s.dir, f.id)); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return err
	}
	path := filepath.Join(sumsFolder, name)
	out, err := f.root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(content)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	full := filepath.Join(f.s.dir, f.id)
	return errors.Join(f.s.syncer.sync(filepath.Join(full, path)), f.s.syncer.sync(filepath.Join(full, sumsFolder)))
}
