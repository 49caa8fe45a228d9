package control

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/valyala/fasthttp"
)

// Operations contains the operations for the operator only, in addition to the public API. Nil
// operations are not offered.
type Operations struct {
	// Backup writes a consistent backup.
	Backup func(w io.Writer) error
	// Scrub verifies everything that is stored, writes a report of the damaged objects, and returns
	// their number.
	Scrub func(w io.Writer) (damaged int, err error)
	// RotateKeys creates a token key and returns the text to print.
	RotateKeys func() (string, error)
	// Cluster returns the state of the nodes as JSON.
	Cluster func() ([]byte, error)
	// Place carries out an operator's request to the nodes. It returns when the change is done or
	// in progress.
	Place func(Placing) error
	// Panicked, if set, is called if an operation panics, with the operation's path and the type of
	// the panic's value. The value itself can contain secrets. The server keeps running.
	Panicked func(path, kind string)
}

// recovered reports a panic to Panicked. p is the result of recover. It returns whether there was a
// panic.
func (o Operations) recovered(path string, p any) bool {
	if p != nil && o.Panicked != nil {
		o.Panicked(path, fmt.Sprintf("%T", p))
	}
	return p != nil
}

// Placing is an operator's request to the nodes.
type Placing struct {
	// Do is "drain", "undrain", "move" or "forget".
	Do string `json:"do"`
	// Node is the node. Codelab is the codelab that moves to this node.
	Node    string `json:"node"`
	Codelab string `json:"codelab,omitempty"`
}

// The paths of the operations.
const (
	backupPath  = "/operator/backup"
	scrubPath   = "/operator/scrub"
	keysPath    = "/operator/keys"
	clusterPath = "/operator/cluster"
	placePath   = "/operator/cluster/place"
)

// scrubbed contains the results of a scrub.
type scrubbed struct {
	Damaged int    `json:"damaged"`
	Report  string `json:"report"`
}

// Handler serves the operations and passes everything else to api.
func (o Operations) Handler(api fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		defer func() {
			if o.recovered(string(ctx.Path()), recover()) {
				answer(ctx, nil, errInternal)
			}
		}()
		switch path := string(ctx.Path()); {
		case path == backupPath && o.Backup != nil:
			o.backup(ctx)
		case path == scrubPath && o.Scrub != nil:
			var report bytes.Buffer
			damaged, err := o.Scrub(&report)
			answer(ctx, scrubbed{damaged, report.String()}, err)
		case path == keysPath && o.RotateKeys != nil:
			text, err := o.RotateKeys()
			answer(ctx, text, err)
		case path == clusterPath && o.Cluster != nil:
			b, err := o.Cluster()
			answer(ctx, json.RawMessage(b), err)
		case path == placePath && o.Place != nil:
			var p Placing
			err := json.Unmarshal(ctx.PostBody(), &p)
			if err == nil {
				err = o.Place(p)
			}
			answer(ctx, nil, err)
		default:
			api(ctx)
		}
	}
}

var errInternal = errors.New("internal error")

func answer(ctx *fasthttp.RequestCtx, v any, err error) {
	if err != nil {
		ctx.SetStatusCode(fasthttp.StatusBadRequest)
		v = map[string]string{"error": err.Error()}
	}
	ctx.SetContentType("application/json")
	b, err := json.Marshal(v)
	if err != nil {
		ctx.SetStatusCode(fasthttp.StatusInternalServerError)
		return
	}
	ctx.SetBody(b)
}

// backup streams a backup. An error before the first byte gets a normal error response. A later
// error ends the stream, and the missing trailer shows that the backup is incomplete.
func (o Operations) backup(ctx *fasthttp.RequestCtx) {
	r, w := io.Pipe()
	go func() {
		err := errInternal
		defer func() {
			o.recovered(backupPath, recover())
			_ = w.CloseWithError(err)
		}()
		err = o.Backup(w)
	}()
	begun := bufio.NewReaderSize(r, 64<<10)
	if _, err := begun.Peek(1); err != nil {
		answer(ctx, nil, errors.Join(err, r.Close()))
		return
	}
	ctx.SetBodyStream(struct {
		io.Reader
		io.Closer
	}{begun, r}, -1)
}

// Backup writes the server's backup to w.
func (c *Client) Backup(w io.Writer) error {
	return c.Send("GET", backupPath, "", nil, func(answer io.Reader) error {
		if _, err := io.Copy(w, answer); err != nil {
			return fmt.Errorf("the backup broke off: %w", err)
		}
		return nil
	})
}

// Scrub verifies everything that is stored, writes a report of the damaged objects, and returns
// their number.
func (c *Client) Scrub(w io.Writer) (damaged int, err error) {
	var found scrubbed
	if err := c.Call("POST", scrubPath, nil, &found); err != nil {
		return 0, err
	}
	_, err = io.WriteString(w, found.Report)
	return found.Damaged, err
}

// RotateKeys creates a token key and returns the text to print.
func (c *Client) RotateKeys() (text string, err error) {
	err = c.Call("POST", keysPath, nil, &text)
	return text, err
}

// Cluster decodes the state of the nodes into out.
func (c *Client) Cluster(out any) error { return c.Call("GET", clusterPath, nil, out) }

// Place sends an operator's request to the nodes.
func (c *Client) Place(p Placing) error { return c.Call("POST", placePath, p, nil) }
