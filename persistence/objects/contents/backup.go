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

// Section is the store as a part of a backup, in the form of package blobs: a
// backup of the one restores into the other.
func (s *Store) Section(name, folder string) backup.Section {
	return backup.Section{Name: name, Folder: folder, Hold: s.Hold, Save: s.save}
}

// each calls fn once for each content.
func (s *Store) each(fn func(sum files.Sum) error) error {
	var last *files.Sum
	return s.opts.Objects.List(context.Background(), prefix, func(i objects.Info) error {
		sum, ours := sumOf(i.Key)
		if !ours || last != nil && *last == sum {
			return nil
		}
		last = &sum
		return fn(sum)
	})
}

// save writes the contents as a tar stream that blobs.Load takes. A damaged one
// is left out, and the log says so.
func (s *Store) save(w io.Writer) error {
	tw := tar.NewWriter(w)
	err := s.each(func(sum files.Sum) error {
		f, size, err := s.Open(sum)
		if errors.Is(err, files.ErrMissing) {
			return nil // it was never referred to
		}
		if errors.Is(err, durable.ErrCorrupt) {
			s.opts.Logger.Error("a damaged content is left out of the backup", "content", sum.String())
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

// Place puts the contents of a folder of package blobs into a store of objects
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

// Scrub holds every object against its sum and calls damaged with those that
// are not what was put. It says how many contents it looked at.
func (s *Store) Scrub(damaged func(what string)) (looked int, err error) {
	ctx := context.Background()
	err = s.opts.Objects.List(ctx, prefix, func(i objects.Info) error {
		sum, ours := sumOf(i.Key)
		if !ours {
			return nil
		}
		sound, err := s.sound(ctx, sum, i.Key)
		if errors.Is(err, objects.ErrNotFound) {
			return nil // discarded meanwhile
		}
		if err != nil {
			return err
		}
		if looked++; !sound {
			_ = s.damaged(sum)
			damaged("blob " + sum.String())
		}
		return nil
	})
	return looked, err
}
