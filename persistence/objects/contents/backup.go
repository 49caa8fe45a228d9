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

// Section returns the store as a section of a backup. The format is the same for a folder and an
// object store, so that a backup of one can be restored into the other. The section can include
// objects put during the backup.
func (s *Store) Section(name, folder string) backup.Section {
	return backup.Section{Name: name, Folder: folder, Hold: s.Hold, Save: s.save, Load: Load}
}

// save writes the objects as a tar stream for Load. It omits and logs objects that are found
// damaged before they are written, so that the rest can be saved. If damage is detected while an
// object is being written, the backup fails, because a part of the object is already in the backup.
func (s *Store) save(w io.Writer) error {
	tw := tar.NewWriter(w)
	err := s.each(func(sum files.Sum) error {
		f, size, err := s.Open(sum)
		if errors.Is(err, files.ErrMissing) {
			return nil // removed meanwhile; nothing refers to it, or the caller does not hold the store
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

// Load creates an object folder in dir from a section of a backup.
func Load(dir string, r io.Reader) error {
	if err := backup.LoadFolder(dir, r); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(dir, "objects"), 0o700)
}

// Place puts the files of a folder that Load created into an empty object store.
func Place(ctx context.Context, to objects.Store, dir string) error {
	return filepath.WalkDir(filepath.Join(dir, "objects"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := hex.DecodeString(e.Name())
		sum, ok := files.SumOf(b)
		if err != nil || !ok {
			return nil // not a file of this store
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
