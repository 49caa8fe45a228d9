package live

import (
	"encoding/binary"
	"unicode/utf8"
)

// protocolError says why a connection must be failed (RFC 6455, 7.1.7).
type protocolError struct {
	code   int
	reason string
}

func (e *protocolError) Error() string { return e.reason }

var (
	errReservedBits   = &protocolError{CloseProtocol, "reserved bits set"}
	errOpcode         = &protocolError{CloseProtocol, "unknown opcode"}
	errUnmasked       = &protocolError{CloseProtocol, "frame is not masked"}
	errLength         = &protocolError{CloseProtocol, "length is not in its shortest form"}
	errControlSize    = &protocolError{CloseProtocol, "control frame is too long"}
	errControlPart    = &protocolError{CloseProtocol, "control frame is fragmented"}
	errNoStart        = &protocolError{CloseProtocol, "continuation of nothing"}
	errNotFinished    = &protocolError{CloseProtocol, "new message inside of a fragmented one"}
	errCloseLength    = &protocolError{CloseProtocol, "close frame of one byte"}
	errCloseCode      = &protocolError{CloseProtocol, "invalid close code"}
	errCloseText      = &protocolError{CloseInvalidText, "close reason is not UTF-8"}
	errBinary         = &protocolError{CloseUnsupported, "binary messages are not understood"}
	errText           = &protocolError{CloseInvalidText, "message is not UTF-8"}
	errMessageTooLong = &protocolError{CloseTooBig, "message is too long"}
)

// sink takes what a decoder finds. The payloads are valid only during the call.
type sink interface {
	message(payload []byte)
	ping(payload []byte)
	pong()
	// closed is called for a valid close frame; nothing is decoded after it.
	closed(code int)
}

// decoder turns the bytes of a client into messages. The zero value is ready.
// It keeps bytes only while a frame or a fragmented message is incomplete, so
// an idle connection needs none; how the bytes were cut on their way makes no
// difference to what comes out.
type decoder struct {
	// pending is the beginning of a frame whose end has not arrived.
	pending []byte
	// message is what has arrived of a fragmented message.
	message []byte
	// fragmented says that a message has begun; it may still be empty.
	fragmented bool
	// done says that a close frame was seen.
	done bool
}

// idle reports whether the decoder could be forgotten.
func (d *decoder) idle() bool {
	return len(d.pending) == 0 && !d.fragmented && !d.done
}

// feed decodes p, which it unmasks in place. An error is final.
func (d *decoder) feed(p []byte, limit int, out sink) *protocolError {
	for len(p) > 0 && !d.done {
		if len(d.pending) > 0 {
			rest, err := d.complete(p, limit, out)
			if err != nil {
				return err
			}
			p = rest
			continue
		}
		h, err := d.header(p, limit)
		if err != nil {
			return err
		}
		if h.size == 0 || h.size+h.length > len(p) {
			d.pending = append(d.pending, p...)
			return nil
		}
		if err := d.frame(h, p[:h.size+h.length], out); err != nil {
			return err
		}
		p = p[h.size+h.length:]
	}
	return nil
}

// complete adds to the pending frame what it lacks and no more, and returns the
// rest of p.
func (d *decoder) complete(p []byte, limit int, out sink) ([]byte, *protocolError) {
	for {
		h, err := d.header(d.pending, limit)
		if err != nil {
			return nil, err
		}
		if h.size == 0 {
			// The header itself is cut: take one byte at a time, 13 at most.
			if len(p) == 0 {
				return nil, nil
			}
			d.pending, p = append(d.pending, p[0]), p[1:]
			continue
		}
		missing := h.size + h.length - len(d.pending)
		if missing > len(p) {
			d.pending = append(d.pending, p...)
			return nil, nil
		}
		whole := append(d.pending, p[:missing]...)
		d.pending = nil
		return p[missing:], d.frame(h, whole, out)
	}
}

// header is what precedes a payload.
type header struct {
	op     opcode
	fin    bool
	length int
	// size is the length of the header itself; 0 while it is incomplete.
	size int
}

// header reads and checks the header at the start of p. It judges as early as
// the bytes allow, so that nothing is buffered for a frame that is refused.
func (d *decoder) header(p []byte, limit int) (header, *protocolError) {
	if len(p) < 2 {
		return header{}, nil
	}
	h := header{op: opcode(p[0] & 0x0F), fin: p[0]&finBit != 0}
	short := int(p[1] &^ maskBit)
	switch {
	case p[0]&rsvBits != 0:
		return h, errReservedBits
	case p[1]&maskBit == 0:
		return h, errUnmasked
	}
	if err := d.admit(h, short); err != nil {
		return h, err
	}
	size, length := 2, uint64(short)
	switch short {
	case 126:
		if size = 4; len(p) < size {
			return header{}, nil
		}
		if length = uint64(binary.BigEndian.Uint16(p[2:])); length <= maxControl {
			return h, errLength
		}
	case 127:
		if size = 10; len(p) < size {
			return header{}, nil
		}
		if length = binary.BigEndian.Uint64(p[2:]); length <= 0xFFFF || length>>63 != 0 {
			return h, errLength
		}
	}
	if length > uint64(limit) || h.op < opClose && len(d.message)+int(length) > limit {
		return h, errMessageTooLong
	}
	h.length = int(length)
	if len(p) < size+4 {
		return header{}, nil
	}
	h.size = size + 4
	return h, nil
}

// admit checks what the opcode allows at this place.
func (d *decoder) admit(h header, short int) *protocolError {
	switch h.op {
	case opText, opBinary:
		if d.fragmented {
			return errNotFinished
		}
		if h.op == opBinary {
			return errBinary
		}
	case opContinuation:
		if !d.fragmented {
			return errNoStart
		}
	case opClose, opPing, opPong:
		if short > maxControl {
			return errControlSize
		}
		if !h.fin {
			return errControlPart
		}
	default:
		return errOpcode
	}
	return nil
}

// frame acts on one whole frame.
func (d *decoder) frame(h header, p []byte, out sink) *protocolError {
	payload := p[h.size:]
	unmask(payload, [4]byte(p[h.size-4:]))
	switch h.op {
	case opPing:
		out.ping(payload)
		return nil
	case opPong:
		out.pong()
		return nil
	case opClose:
		code, err := parseClose(payload)
		if err == nil {
			d.done = true
			out.closed(code)
		}
		return err
	}
	if !h.fin {
		d.fragmented = true
		d.message = append(d.message, payload...)
		return nil
	}
	if d.fragmented {
		payload = append(d.message, payload...)
		d.message, d.fragmented = nil, false
	}
	if !utf8.Valid(payload) {
		return errText
	}
	out.message(payload)
	return nil
}
