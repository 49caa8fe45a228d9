package intake

import (
	"bufio"
	"encoding/binary"
	"io"
	"strings"
)

// Flags of the VP8X chunk.
const (
	webpXMP  = 0x04
	webpEXIF = 0x08
)

const (
	riffHead  = 12 // "RIFF", size, "WEBP"
	chunkHead = 8
	frameHead = 16 // of ANMF, before its own chunks
	// maxPieces bounds the pieces of a new file, which are mostly frames of an animation.
	maxPieces = 20_000
)

// piece is a part of the new file. It consists of its own bytes and a range of the old file, padded
// to an even length.
type piece struct {
	own       []byte
	from, len int64
}

func (p piece) size() int64 { return int64(len(p.own)) + p.len + p.len&1 }

// webpFile is a WebP file being scanned.
type webpFile struct {
	r      io.ReaderAt
	end    int64
	pieces []piece
	turn   uint16
	picture,
	extended bool
}

// stripWebP keeps the pixels, the colours, the animation, and the orientation. Sizes and
// flags are at the beginning of the file, so the file is scanned before it is written.
func stripWebP(r io.ReaderAt, size int64, out *bufio.Writer) error {
	f := &webpFile{r: r}
	var err error
	if f.end, err = riffEnd(r, size); err != nil {
		return err
	}
	if err := f.plan(); err != nil {
		return err
	}
	total := int64(4)
	for _, p := range f.pieces {
		total += p.size()
	}
	head := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(total))...)
	_, _ = out.Write(append(head, "WEBP"...))
	for _, p := range f.pieces {
		_, _ = out.Write(p.own)
		if err := copyBytes(out, io.NewSectionReader(r, p.from, p.len), p.len); err != nil {
			return err
		}
		if p.len&1 == 1 {
			_ = out.WriteByte(0)
		}
	}
	return nil
}

// riffEnd checks the header of the file and returns the end of its content. Data after this end
// does not belong to the file.
func riffEnd(r io.ReaderAt, size int64) (int64, error) {
	var head [riffHead]byte
	if _, err := r.ReadAt(head[:], 0); err != nil && err != io.EOF || size < riffHead {
		return 0, errMalformed
	}
	end := int64(binary.LittleEndian.Uint32(head[4:])) + 8
	if string(head[:4]) != "RIFF" || string(head[8:]) != "WEBP" || end > size || end < riffHead+chunkHead {
		return 0, errMalformed
	}
	return end, nil
}

// chunk reads the header of the chunk at an offset. A chunk that extends past end is malformed.
func (f *webpFile) chunk(at, end int64) (kind string, size int64, err error) {
	var head [chunkHead]byte
	if at+chunkHead > end {
		return "", 0, errMalformed
	}
	if _, err := f.r.ReadAt(head[:], at); err != nil {
		return "", 0, err
	}
	size = int64(binary.LittleEndian.Uint32(head[4:]))
	// The padding is not checked, because it is often missing after the last chunk.
	if at+chunkHead+size > end {
		return "", 0, errMalformed
	}
	return string(head[:4]), size, nil
}

// plan fills pieces with the parts of the new file.
func (f *webpFile) plan() error {
	for at := int64(riffHead); at < f.end; {
		kind, size, err := f.chunk(at, f.end)
		if err != nil {
			return err
		}
		if at == riffHead && kind != "VP8X" && kind != "VP8 " && kind != "VP8L" {
			return errMalformed
		}
		switch kind {
		case "VP8X":
			err = f.planExtended(at, size)
		case "VP8 ", "VP8L", "ALPH", "ICCP", "ANIM":
			f.picture = f.picture || strings.HasPrefix(kind, "VP8")
			err = f.keep(piece{from: at, len: chunkHead + size})
		case "ANMF":
			f.picture = true
			err = f.planFrame(at+chunkHead, size)
		case "EXIF":
			err = f.planEXIF(at+chunkHead, size)
		}
		if err != nil {
			return err
		}
		at += chunkHead + size + size&1
	}
	if !f.picture {
		return errMalformed
	}
	if f.extended && f.turn != 0 {
		block := turned(f.turn)
		chunk := append([]byte("EXIF"), binary.LittleEndian.AppendUint32(nil, uint32(len(block)))...)
		f.pieces[0].own[chunkHead] |= webpEXIF
		return f.keep(piece{own: append(chunk, block...)})
	}
	return nil
}

func (f *webpFile) keep(p piece) error {
	if len(f.pieces) >= maxPieces {
		return errMalformed
	}
	f.pieces = append(f.pieces, p)
	return nil
}

// planExtended keeps the header of an extended file. Its flags list the kinds of later chunks.
func (f *webpFile) planExtended(at, size int64) error {
	if at != riffHead || size != 10 {
		return errMalformed
	}
	own := make([]byte, chunkHead+size)
	if _, err := f.r.ReadAt(own, at); err != nil {
		return err
	}
	own[chunkHead] &^= webpXMP | webpEXIF
	f.extended = true
	return f.keep(piece{own: own})
}

// planFrame keeps the chunks with the pixels of a frame.
func (f *webpFile) planFrame(at, size int64) error {
	if size < frameHead {
		return errMalformed
	}
	own := make([]byte, chunkHead+frameHead)
	if _, err := f.r.ReadAt(own, at-chunkHead); err != nil {
		return err
	}
	frame := len(f.pieces)
	if err := f.keep(piece{own: own}); err != nil {
		return err
	}
	total := int64(frameHead)
	for in, end := at+frameHead, at+size; in < end; {
		kind, n, err := f.chunk(in, end)
		if err != nil {
			return err
		}
		if kind == "VP8 " || kind == "VP8L" || kind == "ALPH" {
			p := piece{from: in, len: chunkHead + n}
			total += p.size()
			if err := f.keep(p); err != nil {
				return err
			}
		}
		in += chunkHead + n + n&1
	}
	binary.LittleEndian.PutUint32(f.pieces[frame].own[4:], uint32(total))
	return nil
}

func (f *webpFile) planEXIF(at, size int64) error {
	if size > maxEXIF {
		return nil
	}
	block := make([]byte, size)
	if _, err := f.r.ReadAt(block, at); err != nil {
		return err
	}
	f.turn = orientation([]byte(strings.TrimPrefix(string(block), exifMark)))
	return nil
}

// webpDimensions reads the dimensions from the first chunk.
func webpDimensions(r io.ReaderAt, size int64) (width, height int, err error) {
	end, err := riffEnd(r, size)
	if err != nil {
		return 0, 0, err
	}
	f := &webpFile{r: r, end: end}
	kind, n, err := f.chunk(riffHead, end)
	if err != nil {
		return 0, 0, err
	}
	var b [10]byte
	if n < 5 {
		return 0, 0, errMalformed
	}
	if _, err := r.ReadAt(b[:min(n, 10)], riffHead+chunkHead); err != nil {
		return 0, 0, err
	}
	switch {
	case kind == "VP8X" && n == 10:
		return int(uint24(b[4:])) + 1, int(uint24(b[7:])) + 1, nil
	case kind == "VP8L" && b[0] == 0x2f:
		bits := binary.LittleEndian.Uint32(b[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, nil
	case kind == "VP8 " && n >= 10 && string(b[3:6]) == "\x9d\x01\x2a":
		return int(binary.LittleEndian.Uint16(b[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(b[8:]) & 0x3fff), nil
	}
	return 0, 0, errMalformed
}

func uint24(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }
