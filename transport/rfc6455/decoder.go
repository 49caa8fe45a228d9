package rfc6455

import (
	"encoding/binary"
	"unicode/utf8"
)

// ProtocolError is the reason to fail a connection (RFC 6455, 7.1.7).
type ProtocolError struct {
	Code   int // for the close frame
	Reason string
}

func (e *ProtocolError) Error() string { return e.Reason }

var (
	errReservedBits   = &ProtocolError{CloseProtocol, "reserved bits set"}
	errOpcode         = &ProtocolError{CloseProtocol, "unknown opcode"}
	errUnmasked       = &ProtocolError{CloseProtocol, "frame is not masked"}
	errLength         = &ProtocolError{CloseProtocol, "length is not in its shortest form"}
	errControlSize    = &ProtocolError{CloseProtocol, "control frame is too long"}
	errControlPart    = &ProtocolError{CloseProtocol, "control frame is fragmented"}
	errNoStart        = &ProtocolError{CloseProtocol, "continuation frame without a message"}
	errNotFinished    = &ProtocolError{CloseProtocol, "new message inside a fragmented message"}
	errCloseLength    = &ProtocolError{CloseProtocol, "close frame of one byte"}
	errCloseCode      = &ProtocolError{CloseProtocol, "invalid close code"}
	errCloseText      = &ProtocolError{CloseInvalidText, "close reason is not UTF-8"}
	errBinary         = &ProtocolError{CloseUnsupported, "binary messages are not supported"}
	errText           = &ProtocolError{CloseInvalidText, "message is not UTF-8"}
	errMessageTooLong = &ProtocolError{CloseTooBig, "message is too long"}
)

// Sink receives the results of a decoder. Payloads are valid only during the call.
type Sink interface {
	Message(payload []byte)
	Ping(payload []byte)
	Pong()
	// Closed is called for a valid close frame. Nothing is decoded after this frame.
	Closed(code int)
}

// Decoder decodes the bytes of a client to messages. The zero value is ready. It keeps bytes only
// while a frame or a fragmented message is incomplete, so that an idle connection needs no memory
// for them. Messages do not depend on how the bytes were split in transit.
type Decoder struct {
	// pending is the beginning of a frame whose end has not arrived.
	pending []byte
	// message contains the received fragments of a message.
	message []byte
	// fragmented means that a message has begun, even if it is still empty.
	fragmented bool
	// done means that a close frame was received.
	done bool
}

// Idle reports whether the decoder has no state and can be dropped.
func (d *Decoder) Idle() bool {
	return len(d.pending) == 0 && !d.fragmented && !d.done
}

// Feed decodes p and unmasks it in place. limit is the maximum size of a message, in bytes. After an
// error the decoder must not be used again.
func (d *Decoder) Feed(p []byte, limit int, out Sink) *ProtocolError {
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

// complete appends the missing bytes of the pending frame, and returns the rest of p.
func (d *Decoder) complete(p []byte, limit int, out Sink) ([]byte, *ProtocolError) {
	for {
		h, err := d.header(d.pending, limit)
		if err != nil {
			return nil, err
		}
		if h.size == 0 {
			// The header itself is incomplete, so single bytes are appended, at most 13.
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

// header is the header of a frame.
type header struct {
	op     Opcode
	fin    bool
	length int
	// size is the length of the header itself, or 0 while it is incomplete.
	size int
}

// header parses and checks the header at the start of p. It refuses a frame as early as possible,
// so that nothing is buffered for it.
func (d *Decoder) header(p []byte, limit int) (header, *ProtocolError) {
	if len(p) < 2 {
		return header{}, nil
	}
	h := header{op: Opcode(p[0] & 0x0F), fin: p[0]&finBit != 0}
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
	if length > uint64(limit) || h.op < Close && len(d.message)+int(length) > limit {
		return h, errMessageTooLong
	}
	h.length = int(length)
	if len(p) < size+4 {
		return header{}, nil
	}
	h.size = size + 4
	return h, nil
}

// admit checks whether the opcode is permitted here.
func (d *Decoder) admit(h header, short int) *ProtocolError {
	switch h.op {
	case Text, Binary:
		if d.fragmented {
			return errNotFinished
		}
		if h.op == Binary {
			return errBinary
		}
	case Continuation:
		if !d.fragmented {
			return errNoStart
		}
	case Close, Ping, Pong:
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

// frame processes one complete frame.
func (d *Decoder) frame(h header, p []byte, out Sink) *ProtocolError {
	payload := p[h.size:]
	Unmask(payload, [4]byte(p[h.size-4:]))
	switch h.op {
	case Ping:
		out.Ping(payload)
		return nil
	case Pong:
		out.Pong()
		return nil
	case Close:
		code, err := parseClose(payload)
		if err == nil {
			d.done = true
			out.Closed(code)
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
	out.Message(payload)
	return nil
}
