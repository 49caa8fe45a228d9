package broadcast

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// script contains the messages of one client: the dialect with the client's own values filled in. A
// script is immutable, and clients without values share one.
type script struct {
	headers             []Template
	hello, send, resume Template
	// size is the size of a message, in bytes.
	size int
}

func (d *Dialect) script() *script {
	s := &script{hello: ParseTemplate(string(d.Hello)), send: ParseTemplate(string(d.Send)), resume: ParseTemplate(d.Resume), size: d.Size}
	for _, line := range d.Headers {
		s.headers = append(s.headers, ParseTemplate(line))
	}
	return s
}

// of returns the script of a client with values, in the order of the columns.
func (s *script) of(columns []string, values []Raw) *script {
	if len(values) == 0 {
		return s
	}
	own, escaped := map[string]string{}, map[string]string{}
	for i, column := range columns[:min(len(columns), len(values))] {
		own[column], escaped[column] = string(values[i]), Escape(string(values[i]))
	}
	out := &script{hello: s.hello.Fill(own), send: s.send.Fill(own), resume: s.resume.Fill(escaped), size: s.size}
	for _, line := range s.headers {
		out.headers = append(out.headers, line.Fill(own))
	}
	return out
}

// lines returns the headers of the opening request.
func (s *script) lines() []string {
	lines := make([]string, len(s.headers))
	for i, line := range s.headers {
		lines[i] = line.String()
	}
	return lines
}

// message writes a message, with as many letters in the first {{pad}} as its size needs.
func (s *script) message(stamp, seq uint64) []byte {
	b := make([]byte, 0, s.size+64)
	pad := -1
	for _, p := range s.send {
		switch {
		case p.place == "stamp":
			b = strconv.AppendUint(b, stamp, 10)
		case p.place == "seq":
			b = strconv.AppendUint(b, seq, 10)
		case p.place == "pad" && pad < 0:
			pad = len(b)
		default:
			b = append(b, p.String()...)
		}
	}
	if pad >= 0 && len(b) < s.size {
		b = slices.Insert(b, pad, bytes.Repeat([]byte("x"), s.size-len(b))...)
	}
	return b
}

// from returns the text that a reconnecting client adds to its path.
func (s *script) from(position uint64, epoch string) string {
	return s.resume.Fill(map[string]string{"position": strconv.FormatUint(position, 10), "epoch": epoch}).String()
}

// secrets returns the confidential texts that are sent to the server: the client's first message
// and the values of its headers.
func (s *script) secrets() []string {
	out := []string{s.hello.String()}
	for _, line := range s.lines() {
		_, value, _ := strings.Cut(line, ":")
		out = append(out, strings.TrimSpace(value))
	}
	return out
}
