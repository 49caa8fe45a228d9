package objects

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Save writes the objects under a prefix for a backup, as a tar stream with the object keys as file
// names. Save does not verify contents; if their sums are known, the caller must verify them. The
// caller must hold the store.
func Save(ctx context.Context, s Store, prefix string, w io.Writer) error {
	out := tar.NewWriter(w)
	err := s.List(ctx, prefix, func(i Info) error {
		if err := saveObject(ctx, s, i.Key, out); err != nil && !errors.Is(err, ErrNotFound) {
			return fmt.Errorf("save %s: %w", i.Key, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return out.Close()
}

func saveObject(ctx context.Context, s Store, key string, out *tar.Writer) error {
	content, size, err := s.Get(ctx, key, 0, -1)
	if err != nil {
		return err
	}
	if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: key, Mode: 0o600, Size: size}); err != nil {
		return errors.Join(err, content.Close())
	}
	for done, try := int64(0), 1; ; try++ {
		n, err := io.CopyN(out, content, size-done)
		if err = errors.Join(err, content.Close()); err == nil || try == tries {
			return err
		}
		// An interrupted transfer resumes at the same position.
		done += n
		if content, _, err = s.Get(ctx, key, done, size-done); err != nil {
			return err
		}
	}
}

// Place puts the files of a folder into a store, each under its path. The folder is the output of
// Save after backup.LoadFolder.
func Place(ctx context.Context, to Store, dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		key, err := filepath.Rel(dir, path)
		if err == nil {
			err = placeObject(ctx, to, filepath.ToSlash(key), path)
		}
		return err
	})
}

func placeObject(ctx context.Context, to Store, key, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err != nil {
		return err
	}
	return to.Put(ctx, key, f, size, [sha256.Size]byte(sum.Sum(nil)))
}
