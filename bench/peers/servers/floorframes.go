package servers

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// The floor needs two parts of RFC 6455: the opening handshake, and frames with whole messages.

// shake answers the opening handshake.
func shake(out io.Writer, in *bufio.Reader) error {
	r, err := http.ReadRequest(in)
	if err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	key := r.Header.Get("Sec-WebSocket-Key")
	if key == "" {
		_, _ = io.WriteString(out, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		return errors.New("no WebSocket")
	}
	// The GUID is defined in RFC 6455, 1.3.
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	_, err = io.WriteString(out, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "+
		base64.StdEncoding.EncodeToString(sum[:])+"\r\n\r\n")
	return err
}

const (
	opText  = 1
	opClose = 8
	final   = 0x80
	masked  = 0x80
)

// appendFrame appends a text message as a server sends it (RFC 6455, 5.2).
func appendFrame(dst, payload []byte) []byte {
	dst = append(dst, final|opText)
	switch n := len(payload); {
	case n < 126:
		dst = append(dst, byte(n))
	case n < 1<<16:
		dst = binary.BigEndian.AppendUint16(append(dst, 126), uint16(n))
	default:
		dst = binary.BigEndian.AppendUint64(append(dst, 127), uint64(n))
	}
	return append(dst, payload...)
}

var errFrame = errors.New("not a frame that the floor can read")

// readFrame reads the next message from a client. The end of the connection, including a close
// frame, is io.EOF.
func readFrame(in *bufio.Reader) ([]byte, error) {
	for {
		var head [14]byte
		if _, err := io.ReadFull(in, head[:2]); err != nil {
			return nil, err
		}
		op, size := head[0]&0x0f, uint64(head[1]&0x7f)
		long := map[uint64]int{126: 2, 127: 8}[size]
		if _, err := io.ReadFull(in, head[2:2+long+4]); err != nil {
			return nil, err
		}
		switch long {
		case 2:
			size = uint64(binary.BigEndian.Uint16(head[2:]))
		case 8:
			size = binary.BigEndian.Uint64(head[2:])
		}
		if head[0]&final == 0 || head[1]&masked == 0 || size > largestMessage {
			return nil, errFrame
		}
		mask := head[2+long : 2+long+4]
		p := make([]byte, size)
		if _, err := io.ReadFull(in, p); err != nil {
			return nil, err
		}
		for i := range p {
			p[i] ^= mask[i%4]
		}
		switch {
		case op == opClose:
			return nil, io.EOF
		case op < opClose:
			return p, nil
		}
		// Pings and pongs are not answered, because the generator sends none.
	}
}
