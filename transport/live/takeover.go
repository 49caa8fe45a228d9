package live

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// TakeOver undoes what fasthttp has wrapped around a connection that was
// hijacked. It returns the connection itself and the bytes that the HTTP
// reader had already taken from it, which a client may have sent right behind
// its request.
//
// The server must run with KeepHijackedConns, or fasthttp closes a TLS
// connection when the hijack handler returns.
func TakeOver(c net.Conn) (raw net.Conn, buffered []byte, err error) {
	wrapped, ok := c.(interface{ UnsafeConn() net.Conn })
	if !ok {
		return c, nil, nil
	}
	raw = wrapped.UnsafeConn()
	// With a deadline in the past a read gives what is in the buffer and then
	// fails before it touches the socket.
	if err := raw.SetReadDeadline(time.Unix(1, 0)); err != nil {
		return nil, nil, fmt.Errorf("set deadline of hijacked connection: %w", err)
	}
	var chunk [512]byte
	for {
		n, err := c.Read(chunk[:])
		buffered = append(buffered, chunk[:n]...)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("drain hijacked connection: %w", err)
		}
	}
	if err := raw.SetReadDeadline(time.Time{}); err != nil {
		return nil, nil, fmt.Errorf("reset deadline of hijacked connection: %w", err)
	}
	return raw, buffered, nil
}
