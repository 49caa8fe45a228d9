package workspaces

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"atelier/actors/code"
)

// sumsFolder holds, for each tree of plain files, a file of its name with the
// SHA-256 of each of them, in the form of sha256sum. Trees from before there
// were sums have none, and are taken as they are.
const sumsFolder = "sums"

// sums are those of one tree, by path; nil for none.
type sums map[string]string

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func (f *folders) sums(tree string) (sums, error) {
	b, err := f.root.ReadFile(filepath.Join(sumsFolder, tree))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read sums: %w", err)
	}
	lines, own, ok := bytes.Cut(b, []byte("\n\n"))
	if !ok || sumOf(lines) != string(own) {
		return nil, fmt.Errorf("%w: the sums of tree %s", ErrDamaged, tree)
	}
	known := sums{}
	for line := range strings.SplitSeq(string(lines), "\n") {
		if sum, path, ok := strings.Cut(line, "  "); ok {
			known[path] = sum
		}
	}
	return known, nil
}

// check holds what was read of a path against its sum.
func (k sums) check(path string, content []byte, err error) ([]byte, error) {
	want, known := k[path]
	switch {
	case k == nil:
		return content, err
	case known && (errors.Is(err, code.ErrNotFound) || err == nil && sumOf(content) != want):
		return nil, fmt.Errorf("%w: %s", ErrDamaged, path)
	case !known && err == nil:
		return nil, fmt.Errorf("%w: %s is not of this tree", ErrDamaged, path)
	}
	return content, err
}

// note writes the sums of a tree that is being made: of what is new, and of
// what it takes over those it had.
func (f *folders) note(base, tree string, files map[string]entry) error {
	var before sums
	if base != "" {
		var err error
		if before, err = f.sums(base); err != nil {
			return err
		}
	}
	var lines []byte
	for _, name := range sorted(files) {
		e := files[name]
		sum := before[e.Ref]
		switch {
		case e.Ref == "":
			sum = sumOf(e.Content)
		case before == nil:
			content, err := f.read(base, e.Ref)
			if err != nil {
				return err
			}
			sum = sumOf(content)
		case sum == "":
			return fmt.Errorf("%w: %s has no sum", ErrDamaged, e.Ref)
		}
		lines = fmt.Appendf(lines, "%s  %s\n", sum, name)
	}
	lines = bytes.TrimSuffix(lines, []byte("\n"))
	if err := f.root.Mkdir(sumsFolder, 0o700); err == nil {
		if err := f.s.syncer.sync(filepath.Join(f.s.dir, f.id)); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return err
	}
	name := filepath.Join(sumsFolder, tree)
	out, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(append(append(lines, "\n\n"...), sumOf(lines)...))
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	full := filepath.Join(f.s.dir, f.id)
	return errors.Join(f.s.syncer.sync(filepath.Join(full, name)), f.s.syncer.sync(filepath.Join(full, sumsFolder)))
}
