//go:build linux

package keepalive

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

// Within is the request timeout. With a paused server, the timeout must be longer than the pause.
// Otherwise the pause would cause errors instead of latency.
const Within = 30 * time.Second

// maxBody bounds a response body, in bytes.
const maxBody = 64 << 20

// Conn is one connection. It connects on first use, and again after an error.
type Conn struct {
	// Address is the address to connect to; Host is the Host header.
	Address, Host string

	net  net.Conn
	in   *bufio.Reader
	out  []byte
	body []byte
}

// Request is an HTTP request.
type Request struct {
	Method, Path string
	// Headers are complete lines, each with its CR LF.
	Headers string
	// Body is sent as JSON; nil sends none.
	Body []byte
}

// Close ends the connection.
func (c *Conn) Close() {
	if c.net != nil {
		_ = c.net.Close()
		c.net = nil
	}
}

// Do sends a request and returns the status and the body of the response. The body is valid until
// the next call. After an error it is unknown whether the request was executed.
func (c *Conn) Do(r *Request) (status int, answer []byte, err error) {
	if c.net == nil {
		if c.net, err = net.DialTimeout("tcp", c.Address, 5*time.Second); err != nil {
			return 0, nil, fmt.Errorf("%w: %w", errConnect, err)
		}
		c.in = bufio.NewReaderSize(c.net, 16<<10)
	}
	c.out = append(c.out[:0], r.Method...)
	c.out = append(c.out, ' ')
	c.out = append(c.out, r.Path...)
	c.out = append(c.out, " HTTP/1.1\r\nHost: "...)
	c.out = append(c.out, c.Host...)
	c.out = append(c.out, "\r\n"...)
	c.out = append(c.out, r.Headers...)
	if r.Body != nil {
		c.out = append(c.out, "Content-Type: application/json\r\nContent-Length: "...)
		c.out = strconv.AppendInt(c.out, int64(len(r.Body)), 10)
		c.out = append(c.out, "\r\n"...)
	}
	c.out = append(c.out, "\r\n"...)
	c.out = append(c.out, r.Body...)
	_ = c.net.SetDeadline(time.Now().Add(Within))
	if _, err = c.net.Write(c.out); err == nil {
		status, err = c.read()
	}
	if err != nil {
		c.Close()
		return 0, nil, err
	}
	return status, c.body, nil
}

// Unsent reports whether an error of Do guarantees that the server did not receive the request.
func Unsent(err error) bool { return errors.Is(err, errConnect) }

var (
	errConnect = errors.New("connect")
	errAnswer  = errors.New("the answer is not HTTP")
	errLength  = errors.New("the answer has no Content-Length")
)

// read reads one answer. It must have a Content-Length; chunked answers are not supported.
func (c *Conn) read() (status int, err error) {
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
	length, known := 0, status == 204 || status == 304
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return 0, err
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			break
		}
		if name, value, ok := bytes.Cut(line, []byte(": ")); ok && bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(value)); err != nil || length < 0 || length > maxBody {
				return 0, errAnswer
			}
			known = true
		}
	}
	if !known {
		return 0, errLength
	}
	if cap(c.body) < length {
		c.body = make([]byte, length)
	}
	c.body = c.body[:length]
	_, err = io.ReadFull(c.in, c.body)
	return status, err
}
