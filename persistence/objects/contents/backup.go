package contents

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/persistence/backup"
	"atelier/persistence/objects"
)

// Section is the store as a part of a backup, in the same form wherever the contents
// lie: a backup of the one place restores into the other. Contents that are put while it
// is saved may be in it or not.
func (s *Store) Section(name, folder string) backup.Section {
	return backup.Section{Name: name, Folder: folder, Hold: s.Hold, Save: s.save, Load: Load}
}

// save writes the contents as a tar stream that Load takes. One that is known to be
// damaged is left out, and the log says so: it must not keep the rest from being saved.
// One that turns out to be damaged while it is written fails the backup, which cannot
// take back what it has written.
func (s *Store) save(w io.Writer) error {
	tw := tar.NewWriter(w)
	err := s.each(func(sum files.Sum) error {
		f, size, err := s.Open(sum)
		if errors.Is(err, files.ErrMissing) {
			return nil // nobody holds the store, or it was never referred to
		}
		if errors.Is(err, durable.ErrCorrupt) {
			s.log.Error("a stored file is damaged and is left out of the backup", "content", sum.String())
			return nil
		}
		if err != nil {
			return err
		}
		defer f.Close()
		name := sum.String()
		if err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "objects/" + name[:2] + "/" + name, Mode: 0o600, Size: size}); err != nil {
			return err
		}
		check := sha256.New()
		if _, err := io.Copy(io.MultiWriter(tw, check), f); err != nil {
			return fmt.Errorf("save content %s: %w", sum, err)
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

// Load makes a folder of contents in dir from a section of a backup.
func Load(dir string, r io.Reader) error {
	if err := backup.LoadFolder(dir, r); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(dir, "objects"), 0o700)
}

// Place puts the contents of a folder of contents into a store of objects
// that holds none.
func Place(ctx context.Context, to objects.Store, dir string) error {
	return filepath.WalkDir(filepath.Join(dir, "objects"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := hex.DecodeString(e.Name())
		sum, ok := files.SumOf(b)
		if err != nil || !ok {
			return nil // nothing of ours
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		return to.Put(ctx, prefixOf(sum)+objects.Random(), f, info.Size(), sum)
	})
}
