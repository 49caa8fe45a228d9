package powercut

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Disk is a mounted file system in memory that records its calls. Of the calls that change names or
// contents, it supports the kinds that a trace can contain, and refuses all others.
//
// A program that uses the disk must run in another process, because a process that waits for its
// own file system in a page fault hangs forever.
type Disk struct {
	fuse.RawFileSystem // refuses all other calls
	server             *fuse.Server
	at                 string

	// mu is held during each call, so the trace has the real order of the calls.
	mu      sync.Mutex
	trace   Trace
	folder  *Folder
	newest  uint32               // number of the newest file
	changed map[uint32]time.Time // by number; the modification time
	paths   map[uint32]string    // by number; the path at the file's last creation, link or rename
	lists   map[uint64][]fuse.DirEntry
	opened  uint64
	fault   func(Call) Fault
}

// freeBytes is the free space that a disk reports.
const freeBytes = 64 << 30

// Mount mounts an empty disk at a folder. It needs /dev/fuse and either the permission to mount or
// fusermount3.
func Mount(at string) (*Disk, error) {
	d := &Disk{
		RawFileSystem: fuse.NewDefaultRawFileSystem(), folder: newFolder(),
		changed: map[uint32]time.Time{0: time.Now()}, paths: map[uint32]string{0: "."}, lists: map[uint64][]fuse.DirEntry{},
	}
	server, err := fuse.NewServer(d, at, &fuse.MountOptions{
		FsName: "powercut", Name: "powercut", DirectMount: true, DisableXAttrs: true, DisableReadDirPlus: true,
		// Every change is made through the kernel, so its cache is never stale.
		ExplicitDataCacheControl: true,
	})
	if err != nil {
		return nil, fmt.Errorf("mount at %s: %w", at, err)
	}
	d.server, d.at = server, at
	if err := keepToOurselves(); err != nil {
		return nil, errors.Join(err, server.Unmount())
	}
	go server.Serve()
	if err := server.WaitMount(); err != nil {
		return nil, fmt.Errorf("mount at %s: %w", at, err)
	}
	return d, nil
}

// keepToOurselves prevents child processes from inheriting the connection to the kernel, which
// go-fuse opens as inheritable. Otherwise a child would keep the disk alive after this process has
// ended, and then wait for the disk forever.
func keepToOurselves() error {
	open, err := os.ReadDir("/proc/self/fd")
	for _, e := range open {
		if to, _ := os.Readlink("/proc/self/fd/" + e.Name()); to == "/dev/fuse" {
			fd, _ := strconv.Atoi(e.Name())
			syscall.CloseOnExec(fd)
		}
	}
	return err
}

// Unmount ends the file system. If one of its files is still open, the folder can be used again
// immediately, and the file system ends later.
func (d *Disk) Unmount() error {
	if err := unix.Unmount(d.at, unix.MNT_DETACH); err != nil {
		return d.server.Unmount() // works if fusermount3 has mounted the disk
	}
	return nil
}

// Inject sets the function that decides which calls fail. nil means that no call fails. The
// function is called with the disk locked.
func (d *Disk) Inject(fault func(Call) Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = fault
}

// Note adds a text to the trace.
func (d *Disk) Note(text []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.trace = append(d.trace, Op{Kind: Note, Data: text})
}

// Trace returns the calls and notes so far.
func (d *Disk) Trace() Trace {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.trace[:len(d.trace):len(d.trace)]
}

// do executes and records a call. If an error is injected, do does not execute the call, and
// records it only if it is a sync. The caller holds d.mu.
func (d *Disk) do(op Op) (written int, status fuse.Status) {
	at := d.paths[op.File]
	switch op.Kind {
	case Create, Mkdir, Link:
		at = path.Join(d.paths[op.Folder], op.Name)
	case Rename:
		at = path.Join(d.paths[op.To], op.NewName)
	}
	if d.fault != nil {
		f := d.fault(Call{op.Kind, at, op.Mapped})
		if f.Err != 0 && (op.Kind == Sync || op.Kind == SyncFolder) {
			op.Failed = true
			d.trace = append(d.trace, op)
		}
		if f.Err != 0 {
			return 0, fuse.Status(f.Err)
		}
		if f.Short > 0 && f.Short < len(op.Data) && !op.Mapped {
			op.Data = op.Data[:f.Short]
		}
	}
	op.Data = append([]byte(nil), op.Data...)
	d.trace = append(d.trace, op)
	switch {
	case isName(op.Kind):
		d.folder.applyName(&op, true)
		d.changed[op.Folder] = time.Now()
		if op.Kind == Rename {
			d.changed[op.To] = time.Now()
		}
		if op.Kind != Unlink && op.Kind != Rmdir {
			d.paths[op.File] = at
		}
	case isData(op.Kind):
		d.folder.files[op.File].change(&op, nil)
		d.changed[op.File] = time.Now()
	}
	return len(op.Data), fuse.OK
}

// make creates a file or folder. The caller holds d.mu.
func (d *Disk) make(kind Kind, folder uint64, name string, mode uint32, out *fuse.EntryOut) fuse.Status {
	file := d.newest + 1
	if _, status := d.do(Op{Kind: kind, File: file, Folder: number(folder), Name: name, Size: int64(mode)}); !status.Ok() {
		return status
	}
	d.newest, d.changed[file] = file, time.Now()
	d.describe(file, out)
	return fuse.OK
}

// number returns the number of the file for a node id of the kernel, whose first id is 1.
func number(node uint64) uint32 { return uint32(node - 1) }

func (d *Disk) describe(file uint32, out *fuse.EntryOut) {
	out.NodeId = uint64(file) + 1
	d.attributes(file, &out.Attr)
}

func (d *Disk) attributes(file uint32, out *fuse.Attr) {
	f, when := d.folder.files[file], d.changed[file]
	out.Ino, out.Mode, out.Size, out.Nlink, out.Blksize = uint64(file)+1, f.mode, uint64(len(f.data)), 1, PageBytes
	out.Blocks = (out.Size + 511) / 512
	out.SetTimes(&when, &when, &when)
}

// find returns the file number for a name. The caller holds d.mu.
func (d *Disk) find(folder uint64, name string) (file uint32, ok bool) {
	file, ok = d.folder.files[number(folder)].names[name]
	return file, ok
}
