package httpapi

import (
	"io"

	"github.com/valyala/fasthttp"
)

// sentKey is the user value of a request whose answer is counted.
type sentKey struct{}

// CountSent counts the body of the answer that is about to be made. Call the returned function
// when the answer is made. It calls told with the bytes of the body when the answer has been
// sent, even if the client left before its end.
func CountSent(ctx *fasthttp.RequestCtx) func(told func(bytes int64)) {
	c := &counted{}
	// Behind a struct of its own: the server closes what of a request can be closed.
	ctx.SetUserValue(sentKey{}, counting{c})
	return func(told func(int64)) {
		switch resp := &ctx.Response; {
		case c.ReadCloser != nil && !c.closed:
			c.told = told
		case ctx.IsHead(), resp.SkipBody:
			told(0)
		case resp.IsBodyStream():
			told(int64(max(resp.Header.ContentLength(), 0)))
		default:
			told(int64(len(resp.Body())))
		}
	}
}

// Send answers with the content of a reader and then closes the reader. size is in bytes, or -1
// if it is unknown.
func (r *Exchange) Send(content io.ReadCloser, size int) {
	if a, counts := r.UserValue(sentKey{}).(counting); counts {
		a.answer.ReadCloser = content
		content = a.answer
	}
	r.Response.SetBodyStream(content, size)
}

type counting struct{ answer *counted }

// counted counts what is read of an answer.
type counted struct {
	io.ReadCloser
	n      int64
	closed bool        // before the answer was made: another one took its place, or it has no body
	told   func(int64) // nil until the answer is made
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

// SupportsBodyWriteTo implements fasthttp.BodyWriterTo as the content does.
func (c *counted) SupportsBodyWriteTo() bool {
	s, ok := c.ReadCloser.(fasthttp.BodyWriterTo)
	return ok && s.SupportsBodyWriteTo()
}

func (c *counted) Close() error {
	err := c.ReadCloser.Close()
	if c.closed = true; c.told != nil {
		c.told(c.n)
		c.told = nil
	}
	return err
}
