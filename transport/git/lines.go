package git

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"atelier/actors/code"
)

// Limits of pkt-lines, in bytes. maxLine bounds a line, including its four-digit length. maxBand
// bounds the side-band-64k data in one line.
const (
	maxLine = 65520
	maxBand = maxLine - 5
)

// flush is the pkt-line that ends a section.
const flush = "0000"

var idForm = regexp.MustCompile(`^[0-9a-f]{40}$`)

// noID represents a missing reference.
const noID = "0000000000000000000000000000000000000000"

// appendLine appends a pkt-line.
func appendLine(b []byte, format string, args ...any) []byte {
	at := len(b)
	b = fmt.Appendf(append(b, flush...), format, args...)
	copy(b[at:], fmt.Sprintf("%04x", len(b)-at))
	return b
}

// lines reads pkt-lines.
type lines struct{ r io.Reader }

// next returns a line without its newline. At the end of the input the error is io.EOF. For a
// flush, end is true.
func (l lines) next() (line string, end bool, err error) {
	var head [4]byte
	if _, err := io.ReadFull(l.r, head[:]); err != nil {
		if err == io.ErrUnexpectedEOF {
			err = code.Fault("the request is cut off")
		}
		return "", false, err
	}
	n, err := strconv.ParseUint(string(head[:]), 16, 32)
	switch {
	case err == nil && n == 0:
		return "", true, nil
	case err != nil || n < 4 || n > maxLine:
		return "", false, code.Fault("the request is not in Git's format")
	}
	b := make([]byte, n-4)
	if _, err := io.ReadFull(l.r, b); err != nil {
		return "", false, code.Fault("the request is cut off")
	}
	return strings.TrimSuffix(string(b), "\n"), false, nil
}

// banded encodes a reader for side-band-64k, with a flush at the end.
type banded struct {
	r    io.Reader
	buf  []byte
	left []byte
	err  error
}

// inBand returns r encoded in the band of data.
func inBand(r io.Reader) io.Reader { return &banded{r: r} }

// sizeInBand returns the size of n encoded bytes, with the flush.
func sizeInBand(n int64) int64 {
	const most = maxLine - bandHead
	return n + (n+most-1)/most*bandHead + int64(len(flush))
}

// bandHead is the size of each piece's header: its length and the number of the band.
const bandHead = 5

func (b *banded) Read(p []byte) (int, error) {
	for len(b.left) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		if b.buf == nil {
			b.buf = make([]byte, maxLine)
		}
		n, err := io.ReadFull(b.r, b.buf[bandHead:])
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			b.err = io.EOF
		case err != nil:
			return 0, err
		}
		b.left = b.buf[:0]
		if n > 0 {
			copy(b.buf, fmt.Sprintf("%04x\x01", n+bandHead))
			b.left = b.buf[:n+bandHead]
		}
		if b.err != nil { // the flush follows the last piece
			b.left = append(b.left, flush...)
		}
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}
