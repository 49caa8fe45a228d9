package powercut

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/klauspost/compress/zstd"
)

// Kind is a kind of call that changes a file system, or makes a change durable.
type Kind uint8

// The kinds of calls. Their numbers are part of the format of a trace.
const (
	Create     Kind = 1 + iota // a file
	Mkdir                      // a folder
	Link                       // another name for a file
	Unlink                     // the name of a file
	Rmdir                      // a folder
	Rename                     // of a file or a folder
	Write                      // bytes at an offset
	Truncate                   // to a size
	Allocate                   // space for a file
	Chmod                      // the mode of a file or a folder
	Sync                       // fsync or fdatasync of a file
	SyncFolder                 // fsync of a folder
	Note                       // no call, but a message of the program under test
	kinds      = iota
)

var kindNames = [...]string{"", "create", "mkdir", "link", "unlink", "rmdir", "rename", "write", "truncate", "allocate", "chmod", "sync", "sync folder", "note"}

func (k Kind) String() string { return kindNames[k] }

// Kinds returns all kinds of calls, without notes.
func Kinds() (all []Kind) {
	for k := Create; k < Note; k++ {
		all = append(all, k)
	}
	return all
}

// Op is one executed call, or a failed sync.
type Op struct {
	Kind Kind
	// File is the number of the call's file or folder. Files and folders are numbered from 1 in the
	// order of creation; 0 is the root folder.
	File uint32
	// Folder and Name are the name that a call creates, removes or renames. To and NewName are the
	// target of a rename.
	Folder, To    uint32
	Name, NewName string
	// Offset is the offset of a write or an allocation, in bytes.
	Offset int64
	// Size is the size after a truncation, the end of an allocation that extends the file, or the
	// mode after a Create, Mkdir or Chmod.
	Size int64
	// Mapped means that a write is from memory mapped to the file. The program stored the bytes in
	// this memory some time earlier.
	Mapped bool
	// Failed means that a sync failed, so that it made nothing durable.
	Failed bool
	// Data is the data of a write, or the text of a note.
	Data []byte
}

// Trace contains the calls on an initially empty folder, in order.
type Trace []Op

// At calls visit for every call, with the path of its file ("." is the root). For a file that no
// longer has a name, it is the last path.
func (t Trace) At(visit func(position int, op *Op, path string)) {
	type place struct {
		folder uint32
		name   string
	}
	places := map[uint32]place{}
	var find func(file uint32) string
	find = func(file uint32) string {
		if file == 0 {
			return "."
		}
		p := places[file]
		return path.Join(find(p.folder), p.name)
	}
	for i := range t {
		op := &t[i]
		switch op.Kind {
		case Create, Mkdir, Link:
			places[op.File] = place{op.Folder, op.Name}
		case Rename:
			places[op.File] = place{op.To, op.NewName}
		}
		visit(i, op, find(op.File))
	}
}

const magic = "POWERCUT1\n"

// maxField limits a name, a note or a write in a decoded trace, in bytes.
const maxField = 64 << 20

// Encode writes a trace, compressed.
func (t Trace) Encode(w io.Writer) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(32<<20))
	if err != nil {
		return err
	}
	b := []byte(magic)
	for i := range t {
		op := &t[i]
		flags := byte(0)
		if op.Mapped {
			flags |= 1
		}
		if op.Failed {
			flags |= 2
		}
		b = append(b, byte(op.Kind), flags)
		for _, n := range [...]uint64{uint64(op.File), uint64(op.Folder), uint64(op.To), uint64(op.Offset), uint64(op.Size)} {
			b = binary.AppendUvarint(b, n)
		}
		for _, field := range [...][]byte{[]byte(op.Name), []byte(op.NewName), op.Data} {
			b = binary.AppendUvarint(b, uint64(len(field)))
			b = append(b, field...)
		}
		if _, err := z.Write(b); err != nil {
			return err
		}
		b = b[:0]
	}
	if _, err := z.Write(b); err != nil { // the header of an empty trace
		return err
	}
	return z.Close()
}

// Decode reads a trace written by Encode.
func Decode(r io.Reader) (Trace, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	in := bufio.NewReader(z)
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(in, head); err != nil || string(head) != magic {
		return nil, errors.Join(errors.New("this is not a trace of a file system"), err)
	}
	var t Trace
	for {
		op, err := decodeOp(in)
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, fmt.Errorf("call %d of the trace: %w", len(t), err)
		}
		t = append(t, op)
	}
}

// decodeOp decodes a call. It returns io.EOF only at the beginning of a call.
func decodeOp(in *bufio.Reader) (op Op, err error) {
	kind, err := in.ReadByte()
	if err != nil {
		return op, err
	}
	defer func() {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
	}()
	flags, err := in.ReadByte()
	if err != nil {
		return op, err
	}
	if kind == 0 || kind > kinds || flags > 3 {
		return op, fmt.Errorf("kind %d with flags %d is unknown", kind, flags)
	}
	var n [5]uint64
	for i := range n {
		if n[i], err = binary.ReadUvarint(in); err != nil {
			return op, err
		}
	}
	var fields [3][]byte
	for i := range fields {
		size, err := binary.ReadUvarint(in)
		if err == nil && size > maxField {
			err = fmt.Errorf("a field has %d bytes", size)
		}
		if err != nil {
			return op, err
		}
		fields[i] = make([]byte, size)
		if _, err := io.ReadFull(in, fields[i]); err != nil {
			return op, err
		}
	}
	return Op{
		Kind: Kind(kind), Mapped: flags&1 != 0, Failed: flags&2 != 0,
		File: uint32(n[0]), Folder: uint32(n[1]), To: uint32(n[2]), Offset: int64(n[3]), Size: int64(n[4]),
		Name: string(fields[0]), NewName: string(fields[1]), Data: fields[2],
	}, nil
}
