package backup

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"atelier/persistence/ondisk"
)

// SaveFolder writes the folders and regular files below dir as a tar stream. It skips the folders
// whose paths below dir are in skip. It also omits files that disappear meanwhile, and anything
// that is neither a folder nor a regular file. If dir is missing, it counts as empty.
func SaveFolder(w io.Writer, dir string, skip ...string) error {
	tw := tar.NewWriter(w)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case e.IsDir() && slices.Contains(skip, name):
			return fs.SkipDir
		case e.IsDir():
			return tw.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o700})
		case e.Type().IsRegular():
			return saveFile(tw, path, name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return tw.Close()
}

// SaveFiles writes the named files of dir in the format of SaveFolder. It omits missing files.
func SaveFiles(w io.Writer, dir string, names ...string) error {
	tw := tar.NewWriter(w)
	for _, name := range names {
		if err := saveFile(tw, filepath.Join(dir, name), name); err != nil {
			return err
		}
	}
	return tw.Close()
}

func saveFile(tw *tar.Writer, path, name string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(info.Mode().Perm()), Size: info.Size(), ModTime: info.ModTime()}); err != nil {
		return err
	}
	// A growing file is saved with its size at the time of opening.
	_, err = io.CopyN(tw, f, info.Size())
	return err
}

// LoadFolder creates dir from the output of SaveFolder. Nothing is written outside dir, whatever
// the stream contains.
func LoadFolder(dir string, r io.Reader) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	tr := tar.NewReader(r)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return damaged(err)
		}
		name := filepath.FromSlash(h.Name)
		if !filepath.IsLocal(name) {
			return fmt.Errorf("%w: the path %q leads outside the folder", ErrDamaged, h.Name)
		}
		switch h.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(name, 0o700)
		case tar.TypeReg:
			err = loadFile(root, name, fs.FileMode(h.Mode)&0o700|0o600, tr)
		default:
			err = fmt.Errorf("%w: %q is not a regular file", ErrDamaged, h.Name)
		}
		if err != nil {
			return err
		}
	}
	return syncFolders(dir)
}

func loadFile(root *os.Root, name string, mode fs.FileMode, r io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err != nil {
		err = damaged(err)
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// damaged adds ErrDamaged to an error of a truncated or malformed stream. Other errors stay
// unchanged.
func damaged(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, tar.ErrHeader) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// syncFolders syncs dir and all folders below it, so that all file names are durable.
func syncFolders(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return ondisk.SyncFolder(path)
	})
}

// CheckVacant returns an error unless dir is missing or empty.
func CheckVacant(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty", dir)
	}
	return err
}

// PutInPlace durably renames temp to dir.
func PutInPlace(temp, dir string) error {
	// Remove an empty folder first, because os.Rename does not replace a folder.
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(temp, dir); err != nil {
		return err
	}
	return ondisk.SyncFolder(filepath.Dir(dir))
}
