package live

import (
	"bytes"
	"strconv"

	"atelier/transport/rfc6455"
)

// Protocol is the framing of outgoing payloads.
type Protocol uint8

const (
	// WebSocket sends each payload as a text message.
	WebSocket Protocol = iota
	// SSE sends each payload as a server-sent event. Input of the client is ignored.
	SSE
)

// append encodes one payload. seq is 0 for transients and private payloads. An SSE client receives
// any other seq, with the epoch, as the event's id, and returns this id as Last-Event-ID.
func (f Protocol) append(dst []byte, epoch string, seq uint64, payload []byte) []byte {
	if f == WebSocket {
		return rfc6455.AppendFrame(dst, rfc6455.Text, payload)
	}
	if seq != 0 {
		dst = append(append(dst, "id: "...), epoch...)
		dst = append(strconv.AppendUint(append(dst, ':'), seq, 10), '\n')
	}
	// A line break would end the field, so each line is a separate field. JSON from encoders has no
	// line breaks.
	for {
		line, rest, found := bytes.Cut(payload, []byte{'\n'})
		dst = append(append(append(dst, "data: "...), line...), '\n')
		if !found {
			return append(dst, '\n')
		}
		payload = rest
	}
}

// heartbeat returns the bytes that keep an idle connection of the protocol open.
func (f Protocol) heartbeat() []byte {
	if f == SSE {
		return sseBeat
	}
	return emptyPing
}

var (
	// sseBeat is a named event with data, because EventSource hides comments from pages. It has no
	// id, so the client's position does not change.
	sseBeat   = []byte("event: beat\ndata: {}\n\n")
	emptyPing = rfc6455.AppendHeader(nil, rfc6455.Ping, 0)
)
