package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
)

// Content is written as frames, so that a reader never uses unverified bytes. A frame consists of
// its length (4 bytes), a CRC32C (4 bytes), and at most FrameBytes of content. A frame of length 0
// ends the content. The length of all content in bytes (8) and its SHA-256 (32) follow, so that
// missing or misplaced frames are detected.
const (
	FrameBytes    = 1 << 20
	TrailerBytes  = 8 + sha256.Size
	FrameOverhead = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrDamaged means that a backup is truncated, damaged, or not a backup.
var ErrDamaged = errors.New("backup is damaged")

// FrameWriter writes its input as frames. Finish completes the output.
type FrameWriter struct {
	w     io.Writer
	buf   bytes.Buffer
	total uint64
	sum   hash.Hash
}

// NewFrameWriter writes frames to w.
func NewFrameWriter(w io.Writer) *FrameWriter {
	return &FrameWriter{w: w, sum: sha256.New()}
}

// Write implements io.Writer.
func (f *FrameWriter) Write(p []byte) (int, error) {
	f.buf.Write(p)
	for f.buf.Len() >= FrameBytes {
		if err := f.frame(f.buf.Next(FrameBytes)); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (f *FrameWriter) frame(content []byte) error {
	f.total += uint64(len(content))
	f.sum.Write(content)
	head := make([]byte, 0, FrameOverhead)
	head = binary.BigEndian.AppendUint32(head, uint32(len(content)))
	head = binary.BigEndian.AppendUint32(head, crc32.Checksum(content, castagnoli))
	if _, err := f.w.Write(head); err != nil {
		return err
	}
	_, err := f.w.Write(content)
	return err
}

// Finish flushes, and writes the trailer.
func (f *FrameWriter) Finish() error {
	if f.buf.Len() > 0 {
		if err := f.frame(f.buf.Next(f.buf.Len())); err != nil {
			return err
		}
	}
	if err := f.frame(nil); err != nil {
		return err
	}
	trailer := binary.BigEndian.AppendUint64(nil, f.total)
	_, err := f.w.Write(f.sum.Sum(trailer))
	return err
}

// FrameReader reads verified content. It returns io.EOF only after a valid trailer, and ErrDamaged
// for every fault of the data.
type FrameReader struct {
	r       io.Reader
	content []byte // rest of the current frame
	buf     []byte
	total   uint64
	sum     hash.Hash
	ended   bool
}

// NewFrameReader reads the output of a FrameWriter.
func NewFrameReader(r io.Reader) *FrameReader {
	return &FrameReader{r: r, sum: sha256.New()}
}

// Read implements io.Reader.
func (f *FrameReader) Read(p []byte) (int, error) {
	for len(f.content) == 0 {
		if f.ended {
			return 0, io.EOF
		}
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, f.content)
	f.content = f.content[n:]
	return n, nil
}

func (f *FrameReader) next() error {
	head := make([]byte, FrameOverhead)
	if err := f.full(head); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head)
	if size > FrameBytes {
		return fmt.Errorf("%w: frame of %d bytes", ErrDamaged, size)
	}
	if size == 0 {
		return f.trailer()
	}
	if f.buf == nil {
		f.buf = make([]byte, FrameBytes)
	}
	content := f.buf[:size]
	if err := f.full(content); err != nil {
		return err
	}
	if crc32.Checksum(content, castagnoli) != binary.BigEndian.Uint32(head[4:]) {
		return fmt.Errorf("%w: the checksum of the frame at byte %d does not match", ErrDamaged, f.total)
	}
	f.total += uint64(size)
	f.sum.Write(content)
	f.content = content
	return nil
}

func (f *FrameReader) trailer() error {
	trailer := make([]byte, TrailerBytes)
	if err := f.full(trailer); err != nil {
		return err
	}
	want := f.sum.Sum(binary.BigEndian.AppendUint64(nil, f.total))
	if !bytes.Equal(trailer, want) {
		return fmt.Errorf("%w: trailer does not match", ErrDamaged)
	}
	f.ended = true
	return nil
}

func (f *FrameReader) full(p []byte) error {
	_, err := io.ReadFull(f.r, p)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: the backup ends early", ErrDamaged)
	}
	return err
}
