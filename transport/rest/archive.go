package rest

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"os"
	"strings"
	"time"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/archive"
	"atelier/transport/wire"
)

func exportCodelab(r *Request) error {
	v := r.Lab.View()
	if v.Meta == nil {
		return errNoCodelab
	}
	var b bytes.Buffer
	if err := archive.Write(&b, v); err != nil {
		return err
	}
	if _, err := r.do(&pb.Command{Body: &pb.Command_NoteExport{NoteExport: &pb.NoteExport{}}}); err != nil {
		return err
	}
	r.Response.Header.Set("Content-Disposition", `attachment; filename="codelab-`+v.Meta.Id+`.zip"`)
	r.SetContentType("application/zip")
	r.Response.SetBodyRaw(b.Bytes())
	return nil
}

func importCodelab(r *Request) error {
	f, size, err := r.file(archive.MaxPacked)
	if err != nil {
		return err
	}
	defer f.Close()
	c, err := archive.Read(f, size)
	if err != nil {
		return err
	}
	m, err := r.api.Workshops.Create(r.Caller, c)
	if err != nil {
		return err
	}
	return r.json(toCodelab(m, true))
}

// uploadFor is how long the body of an upload may take.
const uploadFor = 10 * time.Minute

// file streams the multipart field "file" to disk and returns it. The file
// has no name any more: it is gone when it is closed, whatever happens.
func (r *Request) file(limit int64) (*os.File, int64, error) {
	kind, params, err := mime.ParseMediaType(string(r.Request.Header.ContentType()))
	if err != nil || kind != "multipart/form-data" || params["boundary"] == "" {
		return nil, 0, errMultipart
	}
	// The parts around the file take a little.
	if int64(r.Request.Header.ContentLength()) > limit+1<<20 {
		return nil, 0, errBodyTooBig
	}
	_ = r.Conn().SetReadDeadline(time.Now().Add(uploadFor))
	body := io.Reader(bytes.NewReader(r.Request.Body()))
	if r.Request.IsBodyStream() {
		body = r.Request.BodyStream()
	}
	parts := multipart.NewReader(io.LimitReader(body, limit+1<<20), params["boundary"])
	for n := 0; n < 100; n++ {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, wire.Invalid("the multipart body is malformed or broke off")
		}
		if part.FormName() != "file" {
			continue
		}
		return spool(part, limit)
	}
	return nil, 0, wire.Invalid("file is required")
}

// spool copies a stream into a nameless file.
func spool(from io.Reader, limit int64) (*os.File, int64, error) {
	f, err := os.CreateTemp("", "atelier-upload-*")
	if err != nil {
		return nil, 0, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	n, err := io.Copy(f, io.LimitReader(from, limit+1))
	switch {
	case err != nil && isDisk(err):
		err = errSpool
	case err != nil:
		err = wire.Invalid("the file broke off")
	case n > limit:
		err = errBodyTooBig
	case n == 0:
		err = wire.Invalid("file is empty")
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, n, nil
}

var errSpool = &statusError{status: 503, text: "the upload cannot be stored right now; try again", retry: 10 * time.Second}

// isDisk tells an error of our disk from one of the client's stream.
func isDisk(err error) bool {
	var p *os.PathError
	return errors.As(err, &p) && strings.HasPrefix(p.Op, "write")
}
