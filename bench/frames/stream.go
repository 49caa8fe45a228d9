package frames

import (
	"bytes"
	"errors"
	"fmt"
)

// Format errors of the event stream.
var (
	errNotEvents = errors.New("answer is not an event stream")
	errChunk     = errors.New("chunk is malformed")
	errStreamEnd = errors.New("event stream ended")
)

// StreamAnswer checks the server's answer to the request of AppendStream. It returns the length of
// the answer's head in bytes (0 while the head is incomplete), and whether the stream is chunked. A
// refusal is a *RefusedError.
func StreamAnswer(p []byte) (n int, chunked bool, err error) {
	end := bytes.Index(p, []byte("\r\n\r\n"))
	if end < 0 {
		if len(p) > maxAnswer {
			return 0, false, errAnswer
		}
		return 0, false, nil
	}
	headers, err := status(p[:end], 200)
	if err != nil {
		return 0, false, err
	}
	kind, _, _ := bytes.Cut(headerValue(headers, "Content-Type"), []byte(";"))
	if !bytes.EqualFold(bytes.TrimSpace(kind), []byte("text/event-stream")) {
		return 0, false, fmt.Errorf("%w: it is %q", errNotEvents, kind)
	}
	return end + 4, bytes.EqualFold(headerValue(headers, "Transfer-Encoding"), []byte("chunked")), nil
}

// Stream decodes the bytes of an event stream (WHATWG HTML, 9.2) into messages, for any split on
// the network. A message is the data of each event, with its lines joined. The zero value reads a
// stream without chunks.
type Stream struct {
	// Chunked means that the bytes are in chunks (RFC 9112, 7.1).
	Chunked bool

	// line is the received part of an incomplete line.
	line []byte
	// data is the data of the incomplete event. some means that it has a data field, even an empty
	// one.
	data []byte
	some bool
	// left is the number of remaining bytes of the current chunk. head is the received part of the
	// next chunk's head.
	left int
	head []byte
	// tail is the number of missing bytes of the line break after a chunk.
	tail    int
	stopped bool
}

// Stop makes the stream ignore all further bytes. A Sink can call it.
func (s *Stream) Stop() { s.stopped = true }

// Feed decodes p. An error is final; the end of a chunked stream is also an error.
func (s *Stream) Feed(p []byte, out Sink) error {
	if !s.Chunked {
		return s.lines(p, out)
	}
	for len(p) > 0 && !s.stopped {
		switch {
		case s.left > 0:
			n := min(s.left, len(p))
			if err := s.lines(p[:n], out); err != nil {
				return err
			}
			p = p[n:]
			if s.left -= n; s.left == 0 {
				s.tail = 2
			}
		case s.tail > 0:
			if p[0] != "\r\n"[2-s.tail] {
				return errChunk
			}
			p = p[1:]
			s.tail--
		default:
			end := bytes.IndexByte(p, '\n')
			if end < 0 {
				end = len(p) - 1
			}
			s.head = append(s.head, p[:end+1]...)
			p = p[end+1:]
			if len(s.head) > 256 {
				return errChunk
			}
			if s.head[len(s.head)-1] != '\n' {
				return nil
			}
			size, err := chunkSize(s.head)
			if err != nil {
				return err
			}
			s.head = s.head[:0]
			if s.left = size; size == 0 {
				return errStreamEnd
			}
		}
	}
	return nil
}

// chunkSize parses the head of a chunk: hexadecimal digits, and optional extensions.
func chunkSize(head []byte) (int, error) {
	digits, _, _ := bytes.Cut(bytes.TrimRight(head, "\r\n"), []byte(";"))
	digits = bytes.TrimSpace(digits)
	if len(digits) == 0 || len(digits) > 7 {
		return 0, errChunk
	}
	n := 0
	for _, c := range digits {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | int(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			n = n<<4 | int(c|0x20-'a'+10)
		default:
			return 0, errChunk
		}
	}
	return n, nil
}

// lines handles a piece of the stream. Lines end with LF or CR LF. The standard also allows a
// single CR, which is not supported.
func (s *Stream) lines(p []byte, out Sink) error {
	for !s.stopped {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			if len(s.line)+len(p) > maxMessage {
				return errTooLong
			}
			s.line = append(s.line, p...)
			return nil
		}
		line := p[:end]
		if len(s.line) > 0 {
			s.line = append(s.line, line...)
			line = s.line
		}
		if err := s.field(bytes.TrimSuffix(line, []byte("\r")), out); err != nil {
			return err
		}
		s.line = s.line[:0]
		p = p[end+1:]
	}
	return nil
}

// field handles one line. It collects data and emits it at the end of an event. It ignores ids,
// names of events and comments.
func (s *Stream) field(line []byte, out Sink) error {
	if len(line) == 0 {
		if s.some {
			out.Message(s.data)
		}
		s.data, s.some = s.data[:0], false
		return nil
	}
	value, ok := bytes.CutPrefix(line, []byte("data"))
	if !ok || len(value) > 0 && value[0] != ':' {
		return nil
	}
	value = bytes.TrimPrefix(bytes.TrimPrefix(value, []byte(":")), []byte(" "))
	if len(s.data)+len(value) > maxMessage {
		return errTooLong
	}
	if s.some {
		s.data = append(s.data, '\n')
	}
	s.data, s.some = append(s.data, value...), true
	return nil
}
