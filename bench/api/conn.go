package api

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

// Within is the usual timeout of a request. If a test pauses the server, the timeout must be longer
// than the pause. Otherwise the pause would cause errors instead of latency.
const Within = 30 * time.Second

// Conn is a persistent connection that carries one request after another. It connects on first use.
// It connects again after an error, and after an answer with Connection: close. A general HTTP
// client would cost the generator as much CPU time as the server needs for the request. Conn is not
// safe for concurrent use.
type Conn struct {
	// Address is the address to connect to; Host is the Host header.
	Address, Host string

	net  net.Conn
	in   *bufio.Reader
	out  []byte
	body []byte
	// last means that the server closes the connection after the answer.
	last bool
}

// Close ends the connection.
func (c *Conn) Close() {
	if c.net != nil {
		_ = c.net.Close()
		c.net = nil
	}
}

// Do sends a request and returns the status and the body of the response. headers contains complete
// lines, each with its CR LF. content is sent as JSON; nil sends no body. The returned body is
// valid until the next call. An error means that no valid response was received. See Unsent.
func (c *Conn) Do(method, path, headers string, content []byte) (status int, body []byte, err error) {
	if c.net == nil {
		if c.net, err = dial(c.Address); err != nil {
			return 0, nil, err
		}
		c.in, c.last = bufio.NewReaderSize(c.net, 16<<10), false
	}
	c.out = append(c.out[:0], method...)
	c.out = append(c.out, ' ')
	c.out = append(c.out, path...)
	c.out = append(c.out, " HTTP/1.1\r\nHost: "...)
	c.out = append(c.out, c.Host...)
	c.out = append(c.out, "\r\n"...)
	c.out = append(c.out, headers...)
	if content != nil {
		c.out = append(c.out, "Content-Type: application/json\r\nContent-Length: "...)
		c.out = strconv.AppendInt(c.out, int64(len(content)), 10)
		c.out = append(c.out, "\r\n"...)
	}
	c.out = append(c.out, "\r\n"...)
	c.out = append(c.out, content...)
	_ = c.net.SetDeadline(time.Now().Add(Within))
	if _, err = c.net.Write(c.out); err == nil {
		status, err = c.read()
	}
	if err != nil {
		c.Close()
		return 0, nil, err
	}
	if c.last {
		c.Close()
	}
	return status, c.body, nil
}

var (
	errAnswer = errors.New("the answer is not HTTP")
	errLength = errors.New("the answer has no Content-Length")
	errLarge  = fmt.Errorf("the answer is larger than %d MiB", maxAnswer>>20)
)

// read reads one answer. Except with status 204 or 304, the answer must have a Content-Length;
// chunked answers are not supported.
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
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch value = bytes.TrimSpace(value); {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil || length < 0 {
				return 0, errAnswer
			} else if length > maxAnswer {
				return 0, errLarge
			}
			known = true
		case bytes.EqualFold(name, []byte("Connection")):
			c.last = bytes.EqualFold(value, []byte("close"))
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
