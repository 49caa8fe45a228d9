package wire

import (
	"bytes"
	zip "compress/gzip"
	"fmt"
	"io"
	"strconv"

	br "github.com/andybalholm/brotli"
)

// Coding is the compression of a body.
type Coding int

// The codings. Count is their number.
const (
	Identity Coding = iota
	Gzip
	Brotli
	Count
)

// names lists the HTTP names of codings.
var names = [Count]string{Identity: "identity", Gzip: "gzip", Brotli: "br"}

// String returns the name for Content-Encoding.
func (c Coding) String() string { return names[c] }

// SmallestCompressed is the smallest body worth compressing, in bytes: a body shorter than a
// packet stays uncompressed. scripts/compress.mjs of the app has the same bound.
const SmallestCompressed = 1024

// quick is the level of Brotli for bodies compressed during a request: level 5 takes as long as
// gzip, and its output is a tenth smaller.
const quick = 5

// Compress returns the body in a coding other than Identity, at a fast level.
func (c Coding) Compress(body []byte) ([]byte, error) {
	var b bytes.Buffer
	if c == Brotli {
		w := br.NewWriterLevel(&b, quick)
		if _, err := w.Write(body); err != nil {
			return nil, fmt.Errorf("compress: %w", err)
		}
		if err := w.Close(); err != nil {
			return nil, fmt.Errorf("compress: %w", err)
		}
		return b.Bytes(), nil
	}
	w := zip.NewWriter(&b)
	if _, err := w.Write(body); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return b.Bytes(), nil
}

// Expand decompresses Brotli. The result is unbounded, so it is only for our own data.
func Expand(body []byte) ([]byte, error) {
	plain, err := io.ReadAll(br.NewReader(bytes.NewReader(body)))
	if err != nil {
		return nil, fmt.Errorf("expand: %w", err)
	}
	return plain, nil
}

// ChooseCoding returns the coding that a client prefers (RFC 9110, 12.5.3) among those for which
// has returns true, and the smallest among equals. A client that accepts none gets Identity,
// which every client can read.
func ChooseCoding(accept []byte, has func(Coding) bool) Coding {
	if len(accept) == 0 {
		return Identity
	}
	const unset = -1
	weights, star := [Count]float64{unset, unset, unset}, float64(unset)
	for len(accept) > 0 {
		var item []byte
		item, accept, _ = bytes.Cut(accept, []byte{','})
		name, params, _ := bytes.Cut(item, []byte{';'})
		name = bytes.TrimSpace(name)
		q := quality(params)
		switch {
		case string(name) == "*":
			star = q
		case bytes.EqualFold(name, []byte("br")):
			weights[Brotli] = q
		case bytes.EqualFold(name, []byte("gzip")), bytes.EqualFold(name, []byte("x-gzip")):
			weights[Gzip] = q
		case bytes.EqualFold(name, []byte("identity")):
			weights[Identity] = q
		}
	}
	best, most := Identity, 0.0
	for c := Brotli; c >= Identity; c-- {
		q := weights[c]
		if q == unset {
			q = star
		}
		if q == unset && c == Identity {
			// Accepted, but after explicitly named codings, which are smaller.
			q = 0.0001
		}
		if q > most && has(c) {
			best, most = c, q
		}
	}
	return best
}

// quality parses the weight in a coding's parameters, 0 to 1; 0 if it is malformed, so that the
// coding is not used.
func quality(params []byte) float64 {
	for len(params) > 0 {
		var param []byte
		param, params, _ = bytes.Cut(params, []byte{';'})
		name, value, _ := bytes.Cut(param, []byte{'='})
		if !bytes.EqualFold(bytes.TrimSpace(name), []byte("q")) {
			continue
		}
		q, err := strconv.ParseFloat(string(bytes.TrimSpace(value)), 64)
		if err != nil || q < 0 || q > 1 || q != q {
			return 0
		}
		return q
	}
	return 1
}
