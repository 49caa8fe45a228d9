package frames

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Opcodes of RFC 6455, section 5.2.
const (
	opContinuation = 0x0
	opText         = 0x1
	opBinary       = 0x2
	opClose        = 0x8
	opPing         = 0x9
	opPong         = 0xa
)

// maxMessage bounds a message from the server, in bytes. Atelier's largest messages are relayed
// signals of 64 KiB.
const maxMessage = 4 << 20

// Protocol errors of the server.
var (
	errReserved  = errors.New("reserved bits set")
	errOpcode    = errors.New("unknown opcode")
	errMasked    = errors.New("server masked a frame")
	errBinary    = errors.New("binary message")
	errControl   = errors.New("control frame is fragmented or too long")
	errStart     = errors.New("new message inside a fragmented one")
	errNoStart   = errors.New("continuation of nothing")
	errLength    = errors.New("length is not in its shortest form")
	errTooLong   = fmt.Errorf("message is longer than %d bytes", maxMessage)
	errCloseSize = errors.New("close frame of one byte")
)

// Sink receives the results of a Decoder. Payloads are valid only during the call.
type Sink interface {
	Message(payload []byte)
	Ping(payload []byte)
	// Close is called for a close frame; 1005 means that the frame has no code. Nothing is decoded
	// after it.
	Close(code int)
}

// Decoder decodes the bytes of a server into messages, for any split on the network. The zero value
// is ready to use. It stores bytes only while a frame or a fragmented message is incomplete.
type Decoder struct {
	// Binary allows binary messages, which are returned like text. Atelier sends none.
	Binary bool

	// pending is the received part of an incomplete frame.
	pending []byte
	// parts contains the received fragments of a message.
	parts []byte
	// fragmented means that a message has begun; parts can still be empty.
	fragmented bool
	stopped    bool
}

// Stop makes the decoder ignore all further bytes. A Sink can call it.
func (d *Decoder) Stop() { d.stopped = true }

// Feed decodes p. An error is final.
func (d *Decoder) Feed(p []byte, out Sink) error {
	for len(d.pending) > 0 && len(p) > 0 {
		// Take no more than the frame needs, so that the rest is not copied.
		n := min(d.wanted(), len(p))
		d.pending, p = append(d.pending, p[:n]...), p[n:]
		used, err := d.decode(d.pending, out)
		if err != nil {
			return err
		}
		if used > 0 {
			d.pending = nil
		}
	}
	used, err := d.decode(p, out)
	if err != nil {
		return err
	}
	if used < len(p) && !d.stopped {
		d.pending = append(d.pending, p[used:]...)
	}
	return nil
}

// wanted returns a number of bytes that the pending frame certainly lacks.
func (d *Decoder) wanted() int {
	h, ok, err := d.header(d.pending)
	if err != nil || !ok {
		return 1 // to determine its length or its error
	}
	return h.size + h.length - len(d.pending)
}

// decode decodes all complete frames of p and returns the number of their bytes.
func (d *Decoder) decode(p []byte, out Sink) (int, error) {
	used := 0
	for !d.stopped {
		h, ok, err := d.header(p[used:])
		if err != nil {
			return used, err
		}
		if !ok || h.size+h.length > len(p)-used {
			return used, nil
		}
		payload := p[used+h.size : used+h.size+h.length]
		used += h.size + h.length
		if err := d.frame(h, payload, out); err != nil {
			return used, err
		}
	}
	return len(p), nil
}

// header describes a frame: size bytes of header, length bytes of payload.
type header struct {
	final        bool
	opcode       byte
	size, length int
}

// header parses and checks the header of the first frame of p. It returns false if the header is
// incomplete.
func (d *Decoder) header(p []byte) (header, bool, error) {
	if len(p) < 2 {
		return header{}, false, nil
	}
	h := header{final: p[0]&0x80 != 0, opcode: p[0] & 0x0f, size: 2, length: int(p[1] & 0x7f)}
	switch {
	case p[0]&0x70 != 0:
		return h, false, errReserved
	case p[1]&0x80 != 0:
		return h, false, errMasked
	case h.opcode > opPong || h.opcode > opBinary && h.opcode < opClose:
		return h, false, errOpcode
	case h.opcode == opBinary && !d.Binary:
		return h, false, errBinary
	case h.opcode >= opClose && (!h.final || h.length > 125):
		return h, false, errControl
	case (h.opcode == opText || h.opcode == opBinary) && d.fragmented:
		return h, false, errStart
	case h.opcode == opContinuation && !d.fragmented:
		return h, false, errNoStart
	}
	switch h.length {
	case 126:
		if len(p) < 4 {
			return h, false, nil
		}
		h.size, h.length = 4, int(binary.BigEndian.Uint16(p[2:]))
		if h.length < 126 {
			return h, false, errLength
		}
	case 127:
		if len(p) < 10 {
			return h, false, nil
		}
		long := binary.BigEndian.Uint64(p[2:])
		if long > maxMessage {
			return h, false, errTooLong
		}
		if long < 1<<16 {
			return h, false, errLength
		}
		h.size, h.length = 10, int(long)
	}
	if len(d.parts)+h.length > maxMessage {
		return h, false, errTooLong
	}
	return h, true, nil
}

// frame handles one complete frame.
func (d *Decoder) frame(h header, payload []byte, out Sink) error {
	switch h.opcode {
	case opPing:
		out.Ping(payload)
	case opPong:
	case opClose:
		code := 1005
		if len(payload) == 1 {
			return errCloseSize
		}
		if len(payload) >= 2 {
			code = int(binary.BigEndian.Uint16(payload))
		}
		d.Stop()
		out.Close(code)
	case opText, opBinary:
		if h.final {
			out.Message(payload)
			return nil
		}
		d.fragmented = true
		d.parts = append(d.parts[:0], payload...)
	case opContinuation:
		d.parts = append(d.parts, payload...)
		if h.final {
			whole := d.parts
			d.parts, d.fragmented = nil, false
			out.Message(whole)
		}
	}
	return nil
}
