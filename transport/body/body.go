// Package body reads the bodies of requests within limits, and what is left of
// those that nobody wants: the next request of a connection begins behind it.
package body

import (
	"errors"
	"io"
	"time"

	"github.com/valyala/fasthttp"
)

var (
	// ErrTooLarge says that the body is over its limit.
	ErrTooLarge = errors.New("the body is too large")
	// ErrBroken says that the client stopped sending.
	ErrBroken = errors.New("the body broke off")
)

// Read returns a body of at most limit bytes. It is valid until the handler
// returns.
func Read(ctx *fasthttp.RequestCtx, limit int) ([]byte, error) {
	if ctx.Request.Header.ContentLength() > limit {
		return nil, ErrTooLarge
	}
	if !ctx.Request.IsBodyStream() {
		b := ctx.Request.Body()
		if len(b) > limit {
			return nil, ErrTooLarge
		}
		return b, nil
	}
	b, err := io.ReadAll(io.LimitReader(ctx.Request.BodyStream(), int64(limit)+1))
	if err != nil {
		ctx.SetConnectionClose()
		return nil, ErrBroken
	}
	if len(b) > limit {
		return nil, ErrTooLarge
	}
	return b, nil
}

const (
	// small is what is read without a deadline of its own.
	small = 4 << 20
	// discardFor bounds the time for a large body that nobody wants.
	discardFor = 5 * time.Second
)

// Discard reads what is left of the body, at most limit bytes, so that a
// client that is still sending gets to read the answer. Where more remains,
// the connection ends with the answer.
func Discard(ctx *fasthttp.RequestCtx, limit int64) {
	if !ctx.Request.IsBodyStream() {
		return
	}
	if n := ctx.Request.Header.ContentLength(); n > small {
		_ = ctx.Conn().SetReadDeadline(time.Now().Add(discardFor))
	}
	n, err := io.Copy(io.Discard, io.LimitReader(ctx.Request.BodyStream(), limit))
	if err != nil || n == limit {
		ctx.SetConnectionClose()
	}
}
