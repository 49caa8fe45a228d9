package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Bounds of an upstream's answer, in bytes. maxEvent bounds each line and the data of each event.
const (
	maxEvent  = 1 << 20
	maxAnswer = 16 << 20
)

// events reads the data of server-sent events within bounds.
type events struct {
	r    *bufio.Reader
	left int // remaining bytes of maxAnswer
	data []byte
}

func newEvents(r io.Reader) *events {
	return &events{r: bufio.NewReaderSize(r, 16<<10), left: maxAnswer}
}

// next returns the data of the next event that has data. The data is valid until the next call. At
// the end of the stream, next ignores an incomplete event and returns io.EOF, or
// io.ErrUnexpectedEOF if the last line is incomplete. It returns errLong if a bound is exceeded.
func (e *events) next() ([]byte, error) {
	e.data = e.data[:0]
	some := false
	for {
		line, err := e.line()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			if some {
				return e.data, nil
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte{':'})
		if string(name) != "data" {
			continue
		}
		if some {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, bytes.TrimPrefix(value, []byte{' '})...)
		if len(e.data) > maxEvent {
			return nil, errLong
		}
		some = true
	}
}

// line reads a line and removes its line end. Errors are as in next.
func (e *events) line() ([]byte, error) {
	var long []byte
	for {
		part, err := e.r.ReadSlice('\n')
		if e.left -= len(part); e.left < 0 || len(long)+len(part) > maxEvent {
			return nil, errLong
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, part...)
			continue
		}
		if err != nil {
			if errors.Is(err, io.EOF) && len(long)+len(part) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if long != nil {
			part = append(long, part...)
		}
		return bytes.TrimSuffix(part[:len(part)-1], []byte{'\r'}), nil
	}
}
