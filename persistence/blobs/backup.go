package blobs

import (
	"archive/tar"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/persistence/backup"
)

// Section is the store as a part of a backup. Objects that are put while it is
// saved may be in it or not.
func (s *Store) Section(name, folder string) backup.Section {
	return backup.Section{Name: name, Folder: folder, Hold: s.Hold, Save: s.save, Load: Load}
}

// save writes the objects as a tar stream that Load takes. One whose content
// is known to be damaged is left out, and the log says so: it must not keep
// the rest from being saved. One that turns out to be damaged while it is
// written fails the backup, which cannot take back what it has written.
func (s *Store) save(w io.Writer) error {
	tw := tar.NewWriter(w)
	err := s.each(func(sum files.Sum, path string) error {
		f, size, err := s.Open(sum)
		if errors.Is(err, files.ErrMissing) {
			return nil // nobody holds the store, or it was never referred to
		}
		if errors.Is(err, durable.ErrCorrupt) {
			s.opts.Logger.Error("a damaged content is left out of the backup", "content", sum.String())
			return nil
		}
		if err != nil {
			return err
		}
		defer f.Close()
		name, err := filepath.Rel(s.opts.Dir, path)
		if err != nil {
			return err
		}
		if err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(name), Mode: 0o600, Size: size}); err != nil {
			return err
		}
		check := sha256.New()
		if _, err := io.Copy(io.MultiWriter(tw, check), f); err != nil {
			return fmt.Errorf("save blob %s: %w", sum, err)
		}
		if files.Sum(check.Sum(nil)) != sum {
			return fmt.Errorf("%w: blob %s", durable.ErrCorrupt, sum)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return tw.Close()
}

// Load makes a store in dir out of what its section of a backup holds.
func Load(dir string, r io.Reader) error {
	if err := backup.LoadFolder(dir, r); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(dir, "objects"), 0o700)
}
