package httpapi

import (
	"io"

	"github.com/valyala/fasthttp"
)

// sentKey is the user value of a request with a counted response.
type sentKey struct{}

// CountSent counts the bytes of the response body. Call the returned function when the response is
// complete. It calls onSent with the number of bytes. For content passed to Send it does so when the
// content is closed, even if the client disconnected early. For any other response it does so
// immediately.
func CountSent(ctx *fasthttp.RequestCtx) func(onSent func(bytes int64)) {
	c := &counted{}
	// c is wrapped in a struct, because the server closes user values that are io.Closers.
	ctx.SetUserValue(sentKey{}, counting{c})
	return func(onSent func(int64)) {
		switch resp := &ctx.Response; {
		case c.ReadCloser != nil && !c.closed:
			c.onSent = onSent
		case ctx.IsHead(), resp.SkipBody:
			onSent(0)
		case resp.IsBodyStream():
			onSent(int64(max(resp.Header.ContentLength(), 0)))
		default:
			onSent(int64(len(resp.Body())))
		}
	}
}

// Send responds with a reader's content and then closes the reader. size is in bytes, or -1 if
// unknown.
func (r *Exchange) Send(content io.ReadCloser, size int) {
	if a, counts := r.UserValue(sentKey{}).(counting); counts {
		a.answer.ReadCloser = content
		content = a.answer
	}
	r.Response.SetBodyStream(content, size)
}

type counting struct{ answer *counted }

// counted is the content of a response. It counts the bytes that were read from it.
type counted struct {
	io.ReadCloser
	n      int64
	closed bool        // if true before the response is complete, the content was replaced or is not sent
	onSent func(int64) // nil until the response is complete
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	c.n += int64(n)
	return n, err
}

// WriteTo implements io.WriterTo, so that content with its own WriteTo uses it.
func (c *counted) WriteTo(w io.Writer) (int64, error) {
	n, err := io.Copy(w, c.ReadCloser)
	c.n += n
	return n, err
}

// SupportsBodyWriteTo implements fasthttp.BodyWriterTo if the content does.
func (c *counted) SupportsBodyWriteTo() bool {
	s, ok := c.ReadCloser.(fasthttp.BodyWriterTo)
	return ok && s.SupportsBodyWriteTo()
}

func (c *counted) Close() error {
	err := c.ReadCloser.Close()
	if c.closed = true; c.onSent != nil {
		c.onSent(c.n)
		c.onSent = nil
	}
	return err
}
