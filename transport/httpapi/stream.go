package httpapi

import (
	"errors"
	"fmt"
	"io"
)

// Stream sends the output of write as a download with a file name, while it is being written. If
// write fails or panics, the response is cut off. For a HEAD request, write is not called.
func (r *Exchange) Stream(name, mediaType string, write func(io.Writer) error) {
	r.Response.Header.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	r.SetContentType(mediaType)
	if r.IsHead() {
		return
	}
	pr, pw := io.Pipe()
	log := r.api.Logger.With("request_id", r.ID)
	go func() {
		err := guarded(write, pw)
		_ = pw.CloseWithError(err)
		// A client that disconnected has closed the other end of the pipe.
		if err != nil && !errors.Is(err, io.ErrClosedPipe) {
			log.Warn("a download broke off before its end", "error", err)
		}
	}()
	r.Send(r.Paced(pr), -1) // closes the pipe, even if the client has disconnected
}

// guarded calls write, and returns an error if it panics. The value of the panic can contain a
// person's text, so the error has only its type.
func guarded(write func(io.Writer) error, w io.Writer) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %T", p)
		}
	}()
	return write(w)
}
