package layout

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"atelier/persistence/backup"
)

// The store's part of a backup is a line with two format numbers, and entries in checked frames
// (package backup).
const (
	backupFormat = 1
	backupHeader = "atelier-backup %d " + formatMark + "%d\n"
	formatMark   = "store-format "
	maxHeader    = 64
)

var (
	// ErrBadBackup means that a backup is truncated, damaged, or not a backup.
	ErrBadBackup = backup.ErrDamaged
	// ErrNewerFormat means that a newer program wrote the store or the backup.
	ErrNewerFormat = errors.New("store: format is newer than this program")
)

// maxValue bounds the size of an entry's value when a backup is read, in case the backup is
// damaged.
const maxValue = 256 << 20

// Entry is one key with its sealed value.
type Entry struct {
	Key, Value []byte
	// Expires is the expiry, in seconds since 1970. 0 means never.
	Expires uint64
}

// EntryWriter writes the store's part of a backup. Finish completes it.
type EntryWriter struct {
	out    *bufio.Writer
	frames *backup.FrameWriter
	head   []byte
}

// NewEntryWriter writes the first line to w.
func NewEntryWriter(w io.Writer) (*EntryWriter, error) {
	out := bufio.NewWriterSize(w, 64<<10)
	if _, err := fmt.Fprintf(out, backupHeader, backupFormat, Format); err != nil {
		return nil, err
	}
	return &EntryWriter{out: out, frames: backup.NewFrameWriter(out)}, nil
}

// Put writes one entry: the lengths of key and value and the expiry as uvarints, the key, and the
// value with its seal. It retains neither key nor value.
func (w *EntryWriter) Put(e Entry) error {
	w.head = binary.AppendUvarint(w.head[:0], uint64(len(e.Key)))
	w.head = binary.AppendUvarint(w.head, uint64(len(e.Value)))
	w.head = binary.AppendUvarint(w.head, e.Expires)
	w.head = append(w.head, e.Key...)
	if _, err := w.frames.Write(w.head); err != nil {
		return err
	}
	_, err := w.frames.Write(e.Value)
	return err
}

// Finish writes the end. Without it the backup counts as incomplete.
func (w *EntryWriter) Finish() error {
	if err := w.frames.Finish(); err != nil {
		return err
	}
	return w.out.Flush()
}

// EntryReader reads the output of an EntryWriter.
type EntryReader struct{ in *bufio.Reader }

// NewEntryReader reads the first line.
func NewEntryReader(r io.Reader) (*EntryReader, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	line, err := in.ReadSlice('\n')
	if err != nil || len(line) > maxHeader {
		return nil, fmt.Errorf("%w: no header", ErrBadBackup)
	}
	var form, store int
	if n, err := fmt.Sscanf(string(line), backupHeader, &form, &store); err != nil || n != 2 {
		return nil, fmt.Errorf("%w: no header", ErrBadBackup)
	}
	if form > backupFormat || store > Format {
		return nil, fmt.Errorf("%w: the backup has format %d of a store of format %d, this program reads %d and %d",
			ErrNewerFormat, form, store, backupFormat, Format)
	}
	if store < FirstFormat {
		return nil, fmt.Errorf("%w: %w", ErrBadBackup, Unreleased(store))
	}
	return &EntryReader{in: bufio.NewReader(backup.NewFrameReader(in))}, nil
}

// FormatIn returns the format of a store, from the beginning of a backup that contains the store's
// part.
func FormatIn(beginning []byte) (format int, ok bool) {
	_, after, ok := bytes.Cut(beginning, []byte(formatMark))
	line, _, whole := bytes.Cut(after, []byte{'\n'})
	format, err := strconv.Atoi(string(line))
	return format, ok && whole && err == nil && format > 0
}

// Next returns the next entry, whose memory belongs to the caller. It returns io.EOF only at the
// end of a complete backup.
func (r *EntryReader) Next() (Entry, error) {
	keySize, err := binary.ReadUvarint(r.in)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return Entry{}, endsEarly(err)
	}
	if err != nil {
		return Entry{}, err // io.EOF before the first byte
	}
	valueSize, err1 := binary.ReadUvarint(r.in)
	expires, err2 := binary.ReadUvarint(r.in)
	if err := errors.Join(err1, err2); err != nil {
		return Entry{}, endsEarly(err)
	}
	if keySize == 0 || keySize > MaxRowKey+MaxTable+2 || valueSize > maxValue {
		return Entry{}, fmt.Errorf("%w: entry of %d and %d bytes", ErrBadBackup, keySize, valueSize)
	}
	buf := make([]byte, keySize+valueSize)
	if _, err := io.ReadFull(r.in, buf); err != nil {
		return Entry{}, endsEarly(err)
	}
	return Entry{Key: buf[:keySize:keySize], Value: buf[keySize:], Expires: expires}, nil
}

// endsEarly converts the end of the input inside an entry to damage.
func endsEarly(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: the data ends inside an entry", ErrBadBackup)
	}
	return err
}
