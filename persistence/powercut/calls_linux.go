package powercut

import (
	"maps"
	"slices"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Lookup finds a name.
func (d *Disk) Lookup(_ <-chan struct{}, in *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	file, ok := d.find(in.NodeId, name)
	if !ok {
		return fuse.ENOENT
	}
	d.describe(file, out)
	return fuse.OK
}

// GetAttr is stat(2).
func (d *Disk) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.attributes(number(in.NodeId), &out.Attr)
	return fuse.OK
}

// SetAttr is truncate(2), chmod(2) and utimes(2). Owners do not change.
func (d *Disk) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	file := number(in.NodeId)
	status := fuse.OK
	if mode, ok := in.GetMode(); ok {
		_, status = d.do(Op{Kind: Chmod, File: file, Size: int64(mode)})
	}
	if size, ok := in.GetSize(); ok && status.Ok() {
		_, status = d.do(Op{Kind: Truncate, File: file, Size: int64(size)})
	}
	if when, ok := in.GetMTime(); ok && status.Ok() {
		d.changed[file] = when
	}
	d.attributes(file, &out.Attr)
	return status
}

// Create is open(2) of a new file.
func (d *Disk) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	return d.make(Create, in.NodeId, name, in.Mode&0o7777|syscall.S_IFREG, &out.EntryOut)
}

// Mknod creates a socket, or a file without opening it.
func (d *Disk) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.make(Create, in.NodeId, name, in.Mode, out)
}

// Mkdir is mkdir(2).
func (d *Disk) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.make(Mkdir, in.NodeId, name, in.Mode&0o7777|syscall.S_IFDIR, out)
}

// Link is link(2).
func (d *Disk) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	file := number(in.Oldnodeid)
	_, status := d.do(Op{Kind: Link, File: file, Folder: number(in.NodeId), Name: name})
	d.describe(file, out)
	return status
}

// Unlink is unlink(2).
func (d *Disk) Unlink(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return d.remove(Unlink, in.NodeId, name)
}

// Rmdir is rmdir(2).
func (d *Disk) Rmdir(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return d.remove(Rmdir, in.NodeId, name)
}

func (d *Disk) remove(kind Kind, folder uint64, name string) fuse.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	file, ok := d.find(folder, name)
	if !ok {
		return fuse.ENOENT
	}
	if len(d.folder.files[file].names) > 0 {
		return fuse.Status(syscall.ENOTEMPTY)
	}
	_, status := d.do(Op{Kind: kind, File: file, Folder: number(folder), Name: name})
	return status
}

// Rename is rename(2).
func (d *Disk) Rename(_ <-chan struct{}, in *fuse.RenameIn, name, newName string) fuse.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	file, ok := d.find(in.NodeId, name)
	if !ok {
		return fuse.ENOENT
	}
	if in.Flags&^unix.RENAME_NOREPLACE != 0 {
		return fuse.EINVAL
	}
	if replaced, ok := d.find(in.Newdir, newName); ok && len(d.folder.files[replaced].names) > 0 {
		return fuse.Status(syscall.ENOTEMPTY)
	}
	_, status := d.do(Op{Kind: Rename, File: file, Folder: number(in.NodeId), Name: name, To: number(in.Newdir), NewName: newName})
	return status
}

// Open is open(2) of an existing file.
func (d *Disk) Open(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	return fuse.OK
}

// Read is pread(2).
func (d *Disk) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	data := d.folder.files[number(in.NodeId)].data
	from := min(in.Offset, uint64(len(data)))
	return fuse.ReadResultData(buf[:copy(buf, data[from:])]), fuse.OK
}

// Write is pwrite(2), or a write from mapped memory.
func (d *Disk) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, status := d.do(Op{Kind: Write, File: number(in.NodeId), Offset: int64(in.Offset), Mapped: in.WriteFlags&fuse.WRITE_CACHE != 0, Data: data})
	return uint32(n), status
}

// Fallocate is fallocate(2) without punching holes.
func (d *Disk) Fallocate(_ <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	op := Op{Kind: Allocate, File: number(in.NodeId), Offset: int64(in.Offset)}
	switch in.Mode {
	case 0:
		op.Size = int64(in.Offset + in.Length)
	case unix.FALLOC_FL_KEEP_SIZE:
	default:
		return fuse.Status(syscall.EOPNOTSUPP)
	}
	_, status := d.do(op)
	return status
}

// Flush is a part of close(2).
func (d *Disk) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.OK }

// Fsync is fsync(2) and fdatasync(2) of a file.
func (d *Disk) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status { return d.sync(Sync, in) }

// FsyncDir is fsync(2) of a folder.
func (d *Disk) FsyncDir(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return d.sync(SyncFolder, in)
}

func (d *Disk) sync(kind Kind, in *fuse.FsyncIn) fuse.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, status := d.do(Op{Kind: kind, File: number(in.NodeId)})
	return status
}

// OpenDir copies the names, so that changes do not affect the listing being read.
func (d *Disk) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []fuse.DirEntry
	names := d.folder.files[number(in.NodeId)].names
	for _, name := range slices.Sorted(maps.Keys(names)) {
		list = append(list, fuse.DirEntry{Name: name, Ino: uint64(names[name]) + 1, Mode: d.folder.files[names[name]].mode})
	}
	d.opened++
	d.lists[d.opened], out.Fh = list, d.opened
	return fuse.OK
}

// ReadDir lists a folder.
func (d *Disk) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := d.lists[in.Fh]
	for _, e := range list[min(in.Offset, uint64(len(list))):] {
		if !out.AddDirEntry(e) {
			break
		}
	}
	return fuse.OK
}

// ReleaseDir closes a folder.
func (d *Disk) ReleaseDir(in *fuse.ReleaseIn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.lists, in.Fh)
}

// StatFs always reports freeBytes of free space.
func (d *Disk) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	out.Bsize, out.Frsize, out.NameLen = PageBytes, PageBytes, 255
	out.Blocks, out.Bfree, out.Bavail = 2*freeBytes/PageBytes, freeBytes/PageBytes, freeBytes/PageBytes
	return fuse.OK
}
