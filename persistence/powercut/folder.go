package powercut

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Folder is a folder tree in memory: the tree of a Disk, or a possible result of a power failure.
type Folder struct {
	// Reach is the position of the cut or, if mapped writes after the cut are present, the position
	// after the last of them.
	Reach int
	// Unsynced has one line per unsynced change, with its outcome.
	Unsynced []string

	files map[uint32]*file // by number, including files without a name
}

type file struct {
	mode  uint32            // type and permissions, as in stat(2)
	names map[string]uint32 // set only for a folder
	data  []byte            // set only for a regular file
}

func newFolder() *Folder {
	return &Folder{files: map[uint32]*file{0: newFile(syscall.S_IFDIR | 0o700)}}
}

func newFile(mode uint32) *file {
	f := &file{mode: mode}
	if mode&syscall.S_IFMT == syscall.S_IFDIR {
		f.names = map[string]uint32{}
	}
	return f
}

func (f *Folder) noteFate(op *Op, path, fate string) {
	what := path
	switch op.Kind {
	case Rename:
		what = fmt.Sprintf("%s (was %s)", path, op.Name)
	case Link, Unlink, Rmdir:
		what = op.Name
	case Write:
		what = fmt.Sprintf("%s at %d, %d bytes", path, op.Offset, len(op.Data))
	case Truncate:
		what = fmt.Sprintf("%s to %d bytes", path, op.Size)
	}
	f.Unsynced = append(f.Unsynced, fmt.Sprintf("%s %s: %s", op.Kind, what, fate))
}

// applyName applies a call that changes names. A Create or Mkdir always creates the file or folder,
// but applyName changes names only if there is true.
func (f *Folder) applyName(op *Op, there bool) {
	if op.Kind == Create || op.Kind == Mkdir {
		f.files[op.File] = newFile(uint32(op.Size))
	}
	if !there {
		return
	}
	names := f.files[op.Folder].names
	switch op.Kind {
	case Create, Mkdir, Link:
		names[op.Name] = op.File
	case Unlink, Rmdir:
		if names[op.Name] == op.File {
			delete(names, op.Name)
		}
	case Rename:
		if names[op.Name] == op.File {
			delete(names, op.Name)
		}
		f.files[op.To].names[op.NewName] = op.File
	}
}

// change applies a call that changes a file's contents or mode. Of a write it applies the pages for
// which keep returns true, or all pages if keep is nil.
func (f *file) change(op *Op, keep func() bool) {
	switch op.Kind {
	case Chmod:
		f.mode = f.mode&syscall.S_IFMT | uint32(op.Size)&^syscall.S_IFMT
	case Truncate:
		if op.Size < int64(len(f.data)) {
			f.data = f.data[:op.Size:op.Size]
		} else {
			f.grow(op.Size)
		}
	case Allocate:
		f.grow(op.Size)
	case Write:
		for from := 0; from < len(op.Data); {
			at := op.Offset + int64(from)
			to := min(len(op.Data), from+int(PageBytes-at%PageBytes))
			if keep == nil || keep() {
				f.grow(op.Offset + int64(to))
				copy(f.data[at:], op.Data[from:to])
			}
			from = to
		}
	}
}

func (f *file) grow(size int64) {
	if more := size - int64(len(f.data)); more > 0 {
		f.data = append(f.data, make([]byte, more)...)
	}
}

// Make writes the folder to path, which must not exist. Pages of zeros become holes.
func (f *Folder) Make(path string) error {
	made := map[uint32]string{}
	return f.makeFile(0, path, made)
}

func (f *Folder) makeFile(number uint32, path string, made map[uint32]string) error {
	one := f.files[number]
	if first, ok := made[number]; ok && one.names == nil {
		return os.Link(first, path)
	}
	made[number] = path
	mode := fs.FileMode(one.mode & 0o777)
	switch one.mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		return writeSparse(path, one.data, mode)
	case syscall.S_IFDIR:
	default:
		return nil // a socket is not written, because no process listens on it any more
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	for name, child := range one.names {
		if err := f.makeFile(child, filepath.Join(path, name), made); err != nil {
			return err
		}
	}
	return os.Chmod(path, mode)
}

var emptyPage [PageBytes]byte

func writeSparse(path string, data []byte, mode fs.FileMode) error {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	err = out.Truncate(int64(len(data)))
	for at := 0; at < len(data) && err == nil; at += PageBytes {
		if page := data[at:min(at+PageBytes, len(data))]; !bytes.Equal(page, emptyPage[:len(page)]) {
			_, err = out.WriteAt(page, int64(at))
		}
	}
	return errors.Join(err, out.Close())
}
