package wire

import (
	"bufio"
	"io"
	"reflect"

	"github.com/valyala/fasthttp"
)

// ReadSecretBody does the same as ReadBody for a body that must not stay in memory. It returns a
// copy, which the caller must wipe. The only other copies are the server's own, which WipeBody
// wipes.
func ReadSecretBody(ctx *fasthttp.RequestCtx, limit int, share *BodyShare) ([]byte, error) {
	if !ctx.Request.IsBodyStream() {
		b := ctx.Request.Body()
		if len(b) > limit {
			return nil, ErrTooLarge
		}
		return append([]byte{}, b...), nil
	}
	return readStream(ctx, limit, share)
}

// WipeBody overwrites the copies of the request's body that the server still has. These are the
// body's own buffer and, for a streamed body, the part of the connection's read buffer without
// unread data. That part can also contain the raw header and earlier requests. WipeBody cannot reach
// the parsed header fields, or data that is still unread. Afterwards the body is no longer
// available, so call WipeBody after DiscardBody. wiping, if set, is called with each copy before it
// is overwritten.
func WipeBody(ctx *fasthttp.RequestCtx, wiping func([]byte)) {
	wipe := func(b []byte) {
		if wiping != nil {
			wiping(b)
		}
		clear(b)
	}
	if ctx.Request.IsBodyStream() {
		before, after := consumed(ctx.Request.BodyStream())
		wipe(before)
		wipe(after)
		_ = ctx.Request.CloseBodyStream()
	}
	b := ctx.Request.SwapBody(nil)
	wipe(b[:cap(b)])
	ctx.Request.SwapBody(b[:0])
}

// consumed returns the two parts of a stream's buffer that hold no unread data. before is the part
// up to the read position. after is the part beyond the buffered data, which can be left from
// earlier requests. The bytes between them can contain the next request. The library does not
// expose its buffer, so consumed uses reflection. A test fails if the library changes.
func consumed(stream io.Reader) (before, after []byte) {
	v := reflect.ValueOf(stream)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil, nil
	}
	reader := v.Elem().FieldByName("reader")
	if !reader.IsValid() || reader.Type() != reflect.TypeFor[*bufio.Reader]() || reader.IsNil() {
		return nil, nil
	}
	buffer, r, w := reader.Elem().FieldByName("buf"), reader.Elem().FieldByName("r"), reader.Elem().FieldByName("w")
	if !buffer.IsValid() || !r.IsValid() || !w.IsValid() || buffer.Type() != reflect.TypeFor[[]byte]() || !r.CanInt() || !w.CanInt() {
		return nil, nil
	}
	b := buffer.Bytes()
	from, to := r.Int(), w.Int()
	if from < 0 || to < from || int64(len(b)) < to {
		return nil, nil
	}
	return b[:from], b[to:]
}
