package wire

import (
	"errors"
	"io"
	"time"

	"github.com/valyala/fasthttp"
)

var (
	// ErrTooLarge means that the body exceeds its limit.
	ErrTooLarge = errors.New("the body is too large")
	// ErrBroken means that the client stopped sending.
	ErrBroken = errors.New("the body broke off")
)

// ReadBody returns a body of at most limit bytes, which is valid until the handler returns. It
// charges the memory of a body that is not yet in memory to the share. It returns ErrTooLarge,
// ErrBroken or ErrBusy.
func ReadBody(ctx *fasthttp.RequestCtx, limit int, share *BodyShare) ([]byte, error) {
	if !ctx.Request.IsBodyStream() {
		b := ctx.Request.Body()
		if len(b) > limit {
			return nil, ErrTooLarge
		}
		return b, nil
	}
	return readStream(ctx, limit, share)
}

// readStream reads a body into memory that grows with the received bytes, so that an announced
// length alone costs nothing.
func readStream(ctx *fasthttp.RequestCtx, limit int, share *BodyShare) ([]byte, error) {
	declared := ctx.Request.Header.ContentLength()
	if declared > limit {
		return nil, ErrTooLarge
	}
	if declared < 0 {
		declared = limit
	}
	// One more byte, so that EOF is detected without growing.
	b, err := readAll(ctx.Request.BodyStream(), limit, declared+1, share)
	if errors.Is(err, ErrBroken) {
		ctx.SetConnectionClose()
	}
	return b, err
}

// first is the initial size of the buffer, in bytes: the amount that the server has read before the
// handler runs.
const first = 8 << 10

// readAll reads to EOF. Its first buffer has the size first, or most if that is smaller. Each later
// buffer is twice as large, up to one byte above the limit. It wipes replaced buffers, because the
// body can be secret.
func readAll(r io.Reader, limit, most int, share *BodyShare) ([]byte, error) {
	size := min(first, most)
	if err := share.resize(size); err != nil {
		return nil, err
	}
	b := make([]byte, size)
	for n := 0; ; {
		more, err := r.Read(b[n:])
		switch n += more; {
		case n > limit:
			clear(b)
			return nil, ErrTooLarge
		case errors.Is(err, io.EOF):
			return b[:n], nil
		case err != nil:
			clear(b)
			return nil, ErrBroken
		}
		if n == len(b) {
			size := min(2*len(b), max(most, limit+1))
			if err := share.resize(len(b) + size); err != nil { // for both buffers during the copy
				clear(b)
				return nil, err
			}
			larger := make([]byte, size)
			copy(larger, b)
			clear(b)
			b = larger
			_ = share.resize(len(b))
		}
	}
}

const (
	// small is the maximum declared size, in bytes, of a body that is discarded without the deadline
	// discardFor.
	small = 4 << 20
	// discardFor is the time limit for reading a large unwanted body.
	discardFor = 5 * time.Second
)

// DiscardBody reads the rest of the body, at most limit bytes, so that a client that is still
// sending can read the response. If more remains, the connection is closed after the response.
func DiscardBody(ctx *fasthttp.RequestCtx, limit int64) {
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
