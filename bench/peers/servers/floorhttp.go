package servers

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"os"

	"github.com/valyala/fasthttp"
)

// floorHTTP is a bare fasthttp server. It answers each GET with the same bytes, and each POST
// without a body. It shows the cost of reading and writing without any lookup, check or storage.
type floorHTTP struct {
	file string
	size int
}

func (*floorHTTP) About() string { return "bare github.com/valyala/fasthttp" }

func (f *floorHTTP) Flags(flags *flag.FlagSet) {
	flags.StringVar(&f.file, "body", "", "answer GET with the content of this `file`")
	flags.IntVar(&f.size, "size", 3051, "answer GET with this number of `bytes`, without --body")
}

func (f *floorHTTP) Run(ctx context.Context, listen string, ready func(string)) error {
	body := bytes.Repeat([]byte("x"), max(f.size, 0))
	if f.file != "" {
		var err error
		if body, err = os.ReadFile(f.file); err != nil {
			return fmt.Errorf("body: %w", err)
		}
	}
	return serveFast(ctx, listen, ready, func(c *fasthttp.RequestCtx) {
		switch {
		case c.IsGet():
			c.SetContentType("application/json")
			c.SetBody(body)
		case c.IsPost():
			c.SetStatusCode(fasthttp.StatusNoContent)
		default:
			c.SetStatusCode(fasthttp.StatusMethodNotAllowed)
		}
	})
}

// serveFast serves HTTP with fasthttp until ctx ends.
func serveFast(ctx context.Context, listen string, ready func(string), handler fasthttp.RequestHandler) error {
	ln, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	srv := &fasthttp.Server{Handler: handler, NoDefaultServerHeader: true}
	defer context.AfterFunc(ctx, func() {
		closing, cancel := context.WithTimeout(context.Background(), closeWithin)
		defer cancel()
		_ = srv.ShutdownWithContext(closing) // a timeout is not a failure: the process ends
	})()
	ready(ln.Addr().String())
	if err := srv.Serve(ln); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
