package web

import (
	"bytes"
	"strconv"
)

// coding is how a body is compressed.
type coding int

const (
	identity coding = iota
	gzip
	brotli
	codings // how many
)

// names of the codings as HTTP has them.
var names = [codings]string{identity: "identity", gzip: "gzip", brotli: "br"}

// suffixes of the files that hold a coding of the file beside them.
var suffixes = [codings]string{gzip: ".gz", brotli: ".br"}

// choose returns the coding that a client likes best (RFC 9110, 12.5.3) of
// those for which has says yes; of equals the smallest. A client that accepts
// none gets identity, which every client reads.
func choose(accept []byte, has func(coding) bool) coding {
	if len(accept) == 0 {
		return identity
	}
	const unset = -1
	weights, star := [codings]float64{unset, unset, unset}, float64(unset)
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
			weights[brotli] = q
		case bytes.EqualFold(name, []byte("gzip")), bytes.EqualFold(name, []byte("x-gzip")):
			weights[gzip] = q
		case bytes.EqualFold(name, []byte("identity")):
			weights[identity] = q
		}
	}
	best, most := identity, 0.0
	for c := brotli; c >= identity; c-- {
		q := weights[c]
		if q == unset {
			q = star
		}
		if q == unset && c == identity {
			// Accepted, but after whatever is named: that is smaller.
			q = 0.0001
		}
		if q > most && has(c) {
			best, most = c, q
		}
	}
	return best
}

// quality reads the weight among a coding's parameters, 0 to 1; 0 when it is
// malformed: what cannot be read is not asked for.
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
