package frames

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Upgrade is a client's request to open a WebSocket.
type Upgrade struct {
	// Host and Path are the host and the path of the request; Path includes the query.
	Host, Path string
	// Cookie is the value of the Cookie header; "" for none.
	Cookie string
	// Headers are further header lines, "Name: value".
	Headers []string
	// Key is 16 random bytes in Base64 (RFC 6455, 4.1).
	Key string
}

// Append appends the request. It offers no extension, because with compression a fan-out would
// measure the compressor.
func (u *Upgrade) Append(dst []byte) []byte {
	dst = append(dst, "GET "+u.Path+" HTTP/1.1\r\nHost: "+u.Host+
		"\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "+u.Key+"\r\n"...)
	return u.finish(dst)
}

// AppendStream appends the request for an event stream instead of a WebSocket.
func (u *Upgrade) AppendStream(dst []byte) []byte {
	dst = append(dst, "GET "+u.Path+" HTTP/1.1\r\nHost: "+u.Host+"\r\nAccept: text/event-stream\r\nCache-Control: no-cache\r\n"...)
	return u.finish(dst)
}

func (u *Upgrade) finish(dst []byte) []byte {
	if u.Cookie != "" {
		dst = append(dst, "Cookie: "+u.Cookie+"\r\n"...)
	}
	for _, line := range u.Headers {
		dst = append(dst, line+"\r\n"...)
	}
	return append(dst, "\r\n"...)
}

// CheckHeader refuses an invalid header line, or a text with several lines. The error does not
// contain the line, which can be secret.
func CheckHeader(line string) error {
	name, _, ok := strings.Cut(line, ":")
	if !ok || name == "" || strings.ContainsAny(name, " \t") || strings.ContainsAny(line, "\r\n\x00") {
		return errors.New("want a header in one line, such as 'Name: value'")
	}
	return nil
}

// maxAnswer bounds the header of the server's response, in bytes.
const maxAnswer = 16 << 10

// RefusedError means that the server answered the opening request with a status other than 101, or
// other than 200 for an event stream.
type RefusedError struct {
	Status int
}

func (e *RefusedError) Error() string {
	return "opening request refused with status " + strconv.Itoa(e.Status)
}

var errAnswer = errors.New("not an HTTP answer")

// Answer checks the server's response to the upgrade with this key. It returns the length of the
// response's head in bytes, or 0 while the head is incomplete. A refusal is a *RefusedError.
func Answer(p []byte, key string) (int, error) {
	end := bytes.Index(p, []byte("\r\n\r\n"))
	if end < 0 {
		if len(p) > maxAnswer {
			return 0, errAnswer
		}
		return 0, nil
	}
	headers, err := status(p[:end], 101)
	if err != nil {
		return 0, err
	}
	if got := headerValue(headers, "Sec-WebSocket-Accept"); string(got) != accept(key) {
		return 0, fmt.Errorf("server accepted another key: %q", got)
	}
	return end + 4, nil
}

// status checks the first line of an answer and returns the lines after it.
func status(head []byte, want int) (headers []byte, err error) {
	line, headers, _ := bytes.Cut(head, []byte("\r\n"))
	// An HTTP/1.0 server cannot upgrade, but its status can be the reason of a refusal.
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) && !bytes.HasPrefix(line, []byte("HTTP/1.0 ")) {
		return nil, errAnswer
	}
	code, err := strconv.Atoi(string(line[9:12]))
	if err != nil {
		return nil, errAnswer
	}
	if code != want {
		return nil, &RefusedError{code}
	}
	return headers, nil
}

func headerValue(headers []byte, name string) []byte {
	for line := range bytes.SplitSeq(headers, []byte("\r\n")) {
		if key, value, ok := bytes.Cut(line, []byte(":")); ok && bytes.EqualFold(key, []byte(name)) {
			return bytes.TrimSpace(value)
		}
	}
	return nil
}

// accept returns the answer to a key (RFC 6455, 4.2.2).
func accept(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}
