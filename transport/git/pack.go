package git

import (
	"bufio"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"atelier/actors/code"
)

// packHead begins a pack of version 2, followed by the number of its objects.
const (
	packHead     = "PACK\x00\x00\x00\x02"
	packHeadSize = int64(len(packHead) + 4)
)

// write writes a plan's pack into an empty file, and returns its size in bytes.
func (p *Plan) write(f *os.File) (size int64, err error) {
	files, err := p.repo.Open()
	if err != nil {
		return 0, err
	}
	defer files.Close()
	w := &packWriter{w: bufio.NewWriterSize(f, 64<<10)}
	w.z, _ = zlib.NewWriterLevel(io.Discard, zlib.BestSpeed) // the level is valid, so this cannot fail
	if _, err := w.w.Write(make([]byte, packHeadSize)); err != nil {
		return 0, err
	}
	seen := map[string]bool{}
	for _, c := range p.had {
		err := files.Files(c.Files, func(o code.Object) error {
			seen[o.Name] = true
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	for _, c := range p.send {
		if err := w.object(code.CommitObject, c.Content); err != nil {
			return 0, err
		}
	}
	for _, c := range p.send {
		err := files.Files(c.Files, func(o code.Object) (err error) {
			if seen[o.Name] {
				return nil
			}
			seen[o.Name] = true
			if o.Kind == code.BlobObject {
				if o.Content, err = files.Blob(o.Name); err != nil {
					return err
				}
			}
			return w.object(o.Kind, o.Content)
		})
		if err != nil {
			return 0, err
		}
	}
	if err := w.w.Flush(); err != nil {
		return 0, err
	}
	return w.finish(f)
}

// packWriter writes whole objects into a pack.
type packWriter struct {
	w     *bufio.Writer
	z     *zlib.Writer
	count uint32
}

func (w *packWriter) object(kind code.ObjectKind, content []byte) error {
	w.count++
	head := []byte{byte(kind)<<4 | byte(len(content)&0xf)}
	for n := len(content) >> 4; n > 0; n >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(n&0x7f))
	}
	_, err := w.w.Write(head)
	w.z.Reset(w.w)
	if err == nil {
		_, err = w.z.Write(content)
	}
	return errors.Join(err, w.z.Close())
}

// finish writes the header, because the number of objects is known only now, and the checksum at
// the end.
func (w *packWriter) finish(f *os.File) (size int64, err error) {
	if _, err := f.WriteAt(binary.BigEndian.AppendUint32([]byte(packHead), w.count), 0); err != nil {
		return 0, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	sum := sha1.New()
	if size, err = io.Copy(sum, f); err != nil {
		return 0, err
	}
	if _, err := f.WriteAt(sum.Sum(nil), size); err != nil {
		return 0, fmt.Errorf("write the sum of a pack: %w", err)
	}
	return size + sha1.Size, nil
}
