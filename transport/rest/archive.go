package rest

import (
	"io"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/archive"
)

func exportCodelab(r *Request) error {
	v := r.Lab.View()
	if v.Meta == nil {
		return errNoCodelab
	}
	if _, err := r.do(&pb.Command{Body: &pb.Command_NoteExport{NoteExport: &pb.NoteExport{}}}); err != nil {
		return err
	}
	r.streamZIP("codelab-"+v.Meta.Id+".zip", func(w io.Writer) error { return archive.Write(w, v, r.api.Files) })
	return nil
}

// downloadSubmissions answers all that was handed in as a ZIP.
func downloadSubmissions(r *Request) error {
	v := r.Lab.View()
	if v.Meta == nil {
		return errNoCodelab
	}
	r.streamZIP("submissions-"+v.Meta.Id+".zip", func(w io.Writer) error {
		return archive.WriteSubmissions(w, v, r.api.Files.Blobs())
	})
	return nil
}

// streamZIP answers what write writes, while it is written. When that fails
// on the way, the answer breaks off without its end.
func (r *Request) streamZIP(name string, write func(io.Writer) error) {
	pr, pw := io.Pipe()
	log := r.api.Logger.With("request_id", r.id)
	go func() {
		err := write(pw)
		if pw.CloseWithError(err); err != nil && err != io.ErrClosedPipe {
			log.Warn("an archive was not finished", "error", err)
		}
	}()
	r.Response.Header.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	r.SetContentType("application/zip")
	r.Response.SetBodyStream(pr, -1) // closes it, also when the client has left
}

func importCodelab(r *Request) error {
	part, err := r.filePart(archive.MaxPacked)
	if err != nil {
		return err
	}
	f, size, err := r.api.Files.Blobs().Spool(part, archive.MaxPacked)
	if err != nil {
		return r.storeError(err)
	}
	defer f.Close()
	in := archive.Importer{Workshops: r.api.Workshops, Files: r.api.Files, Now: r.api.Now}
	m, _, err := in.Import(r.Caller, f, size)
	if err != nil {
		return err
	}
	return r.json(toCodelab(m, true))
}
