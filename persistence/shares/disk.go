package shares

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"atelier/actors/durable"
	"atelier/persistence/ondisk"
)

// ErrDisk means that a secret cannot be written to the folder, or cannot be read back.
var ErrDisk = fmt.Errorf("%w: the folder of secrets cannot be written", durable.ErrReadOnly)

// Disk is the folder that contains the secrets.
type Disk interface {
	// List returns the names of the folder's files.
	List() ([]string, error)
	Open(name string, flag int) (File, error)
	Remove(name string) error
	// Sync makes the file names durable.
	Sync() error
}

// File is an open file. Sync makes its content durable.
type File interface {
	io.ReadWriteCloser
	Stat() (fs.FileInfo, error)
	Sync() error
}

// read returns the first bytes of a file, up to most, and the file's metadata.
func read(d Disk, name string, most int) ([]byte, fs.FileInfo, error) {
	f, err := d.Open(name, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	b := make([]byte, most)
	n, err := io.ReadFull(f, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return b[:n], info, err
}

// keep stores content on disk under a name. If keep returns nil, the content survives a crash and
// was read back. If an earlier attempt left a partial file, keep writes the whole file again, in
// place. A second sync alone would not be enough: after a failed sync, the system treats the pages
// as clean, so it would report success for missing data.
func keep(d Disk, name string, content []byte) error {
	if err := write(d, name, content); err != nil {
		return fmt.Errorf("%w: %w", ErrDisk, err)
	}
	return nil
}

func write(d Disk, name string, content []byte) error {
	f, err := d.Open(name, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		return err
	}
	back, _, err := read(d, name, len(content))
	defer clear(back)
	if err == nil && !bytes.Equal(back, content) {
		err = fmt.Errorf("%s does not contain the written data", name)
	}
	return err
}

// erase overwrites a file with zeros, in place, and removes its name. It does not sync the folder,
// so a file of zeros can reappear after a crash.
func erase(d Disk, name string) error {
	f, err := d.Open(name, os.O_WRONLY)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.Write(make([]byte, info.Size()))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return d.Remove(name)
}

// folder is a folder of the operating system.
type folder string

func (d folder) List() ([]string, error) {
	entries, err := os.ReadDir(string(d))
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

func (d folder) Open(name string, flag int) (File, error) {
	f, err := os.OpenFile(filepath.Join(string(d), name), flag, 0o600)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (d folder) Remove(name string) error { return os.Remove(filepath.Join(string(d), name)) }

func (d folder) Sync() error { return ondisk.SyncFolder(string(d)) }
