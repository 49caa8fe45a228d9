package rest

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"atelier/actors/files"
	"atelier/transport/httpapi"
	"atelier/transport/intake"
)

// file describes a stored object and how to serve it.
type file struct {
	sum       []byte
	mediaType string
	// name is the file name for downloads. With "" the browser chooses a name.
	name  string
	cache string // the header Cache-Control
}

// serveUpload serves files under /uploads/ to everybody who knows their name.
func serveUpload(r *Request) error {
	name := r.Param("kind") + "/" + r.Param("name")
	if files.NameAt(name) != name {
		return errNoFile
	}
	u, err := r.api.Files.Get(name)
	if errors.Is(err, files.ErrMissing) {
		return errNoFile
	}
	if err != nil {
		return err
	}
	// A name never refers to other content, so the file can be cached, but only for some minutes,
	// because it can be erased.
	return r.serveFile(file{sum: u.Sum, mediaType: u.MediaType, name: u.OriginalName, cache: "public, max-age=600"})
}

var errNoFile = &httpapi.Error{Status: fasthttp.StatusNotFound, Text: "file not found"}

// serveFile streams a stored object, in full or the requested range. It responds 304 if the client
// has the object.
func (r *Request) serveFile(f file) error {
	sum, ok := files.SumOf(f.sum)
	if !ok {
		return errNoFile
	}
	h := &r.Response.Header
	tag := `"` + sum.String() + `"`
	h.Set("ETag", tag)
	h.Set("Cache-Control", f.cache)
	if r.NoneMatch(sum.String()) {
		r.SetStatusCode(fasthttp.StatusNotModified)
		return nil
	}
	content, size, err := r.api.Files.Blobs().Open(sum)
	if err != nil {
		h.Del("ETag")
		h.Set("Cache-Control", "no-store")
		return fmt.Errorf("serve a file that is recorded: %w", err)
	}
	h.Set("Accept-Ranges", "bytes")
	// A file that is opened directly must not load or run anything.
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Disposition", disposition(f.mediaType, f.name))
	r.SetContentType(f.mediaType)

	from, n, how := r.wantedRange(tag, size)
	switch how {
	case unsatisfiable:
		_ = content.Close()
		for _, name := range []string{"ETag", "Content-Disposition", "Content-Security-Policy"} {
			h.Del(name)
		}
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Range", fmt.Sprintf("bytes */%d", size))
		return &httpapi.Error{Status: fasthttp.StatusRequestedRangeNotSatisfiable, Text: fmt.Sprintf("the file has %d bytes", size)}
	case part:
		if _, err := content.Seek(from, io.SeekStart); err != nil {
			_ = content.Close()
			return fmt.Errorf("serve a part of a file: %w", err)
		}
		r.SetStatusCode(fasthttp.StatusPartialContent)
		h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, from+n-1, size))
		r.Send(&section{io.LimitedReader{R: content, N: n}, content}, int(n))
	default:
		// The whole file is sent as a plain *os.File, so that the kernel can send it directly.
		r.Send(content, int(size))
	}
	return nil
}

// section is a part of a file; closing it closes the file.
type section struct {
	io.LimitedReader
	f io.Closer
}

func (s *section) Close() error { return s.f.Close() }

// disposition returns the Content-Disposition header. Browsers display images of a known kind, and
// save every other file, including HTML and SVG. The header contains the name in both forms of
// RFC 6266.
func disposition(mediaType, name string) string {
	kind := "attachment"
	if intake.Shown(mediaType) {
		kind = "inline"
	}
	if name == "" {
		return kind
	}
	plain := strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' || c == '"' || c == '\\' || c == '%' {
			return '_'
		}
		return c
	}, name)
	return kind + `; filename="` + plain + `"; filename*=UTF-8''` + percent(name)
}

// percent encodes all characters except the attr-char of RFC 5987.
func percent(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("!#$&+-.^_`|~", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// rangeKind is the way in which a Range header is answered.
type rangeKind uint8

const (
	whole rangeKind = iota
	part
	unsatisfiable
)

// wantedRange parses the Range header (RFC 9110). If the header is malformed, has several ranges,
// or is sent with an If-Range for other content, the whole file is sent.
func (r *Request) wantedRange(tag string, size int64) (from, n int64, how rangeKind) {
	text := string(r.Request.Header.Peek("Range"))
	if text == "" || !r.IsGet() {
		return 0, size, whole
	}
	if match := string(r.Request.Header.Peek("If-Range")); match != "" && match != tag {
		return 0, size, whole
	}
	return parseRange(text, size)
}

func parseRange(text string, size int64) (from, n int64, how rangeKind) {
	spec, ok := strings.CutPrefix(text, "bytes=")
	first, last, dash := strings.Cut(strings.TrimSpace(spec), "-")
	if !ok || !dash {
		return 0, size, whole
	}
	if first == "" {
		n, ok := digits(last)
		switch n = min(n, size); {
		case !ok:
			return 0, size, whole
		case n == 0:
			return 0, 0, unsatisfiable
		}
		return size - n, n, part
	}
	from, ok = digits(first)
	to := size - 1
	if last != "" && ok {
		to, ok = digits(last)
	}
	switch {
	case !ok || last != "" && to < from:
		return 0, size, whole
	case from >= size:
		return 0, 0, unsatisfiable
	}
	return from, min(to, size-1) - from + 1, part
}

// digits parses a number as in RFC 9110. A number above the maximum int64 becomes that maximum.
func digits(s string) (int64, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		n = 1<<63 - 1
	}
	return n, true
}
