//go:build linux

package tokens

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// requestWithin bounds one request.
const requestWithin = 30 * time.Second

// conn is one connection kept alive. It is for one goroutine: a general client
// would cost the generator as much as the server.
type conn struct {
	address string
	host    string // for the Host header
	net     net.Conn
	in      *bufio.Reader
	out     []byte
	body    []byte
}

func (c *conn) close() {
	if c.net != nil {
		_ = c.net.Close()
		c.net = nil
	}
}

// post sends a request and returns status and body; the body is valid until
// the next call.
func (c *conn) post(path, secret string, body []byte) (status int, answer []byte, err error) {
	if c.net == nil {
		if c.net, err = net.DialTimeout("tcp", c.address, 5*time.Second); err != nil {
			return 0, nil, fmt.Errorf("connect: %w", err)
		}
		c.in = bufio.NewReaderSize(c.net, 4<<10)
	}
	c.out = append(c.out[:0], "POST "...)
	c.out = append(c.out, path...)
	c.out = append(c.out, " HTTP/1.1\r\nHost: "...)
	c.out = append(c.out, c.host...)
	c.out = append(c.out, "\r\nAuthorization: Bearer "...)
	c.out = append(c.out, secret...)
	c.out = append(c.out, "\r\nContent-Type: application/json\r\nContent-Length: "...)
	c.out = strconv.AppendInt(c.out, int64(len(body)), 10)
	c.out = append(c.out, "\r\n\r\n"...)
	c.out = append(c.out, body...)
	_ = c.net.SetDeadline(time.Now().Add(requestWithin))
	if _, err = c.net.Write(c.out); err == nil {
		status, err = c.read()
	}
	if err != nil {
		c.close()
		return 0, nil, err
	}
	return status, c.body, nil
}

var errAnswer = errors.New("the answer is no HTTP")

// read reads one answer. It knows what this server sends: a length, no chunks.
func (c *conn) read() (status int, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 12 {
		return 0, errAnswer
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, errAnswer
	}
	length := 0
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return 0, err
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			break
		}
		if name, value, ok := bytes.Cut(line, []byte(": ")); ok && bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(value)); err != nil || length < 0 || length > 1<<20 {
				return 0, errAnswer
			}
		}
	}
	if cap(c.body) < length {
		c.body = make([]byte, length)
	}
	c.body = c.body[:length]
	_, err = io.ReadFull(c.in, c.body)
	return status, err
}
