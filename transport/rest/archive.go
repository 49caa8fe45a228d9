package rest

import (
	"io"

	"atelier/actors/codelab"
	"atelier/transport/archive"
)

func exportCodelab(r *Request) error {
	v := r.Codelab.View()
	if v.Meta == nil {
		return errNoCodelab
	}
	if _, err := r.do(codelab.NoteExport{}); err != nil {
		return err
	}
	r.Stream("codelab-"+v.Meta.Id+".zip", "application/zip", func(w io.Writer) error { return archive.Write(w, v, r.api.Files) })
	return nil
}

// downloadSubmissions answers all that was handed in as a ZIP.
func downloadSubmissions(r *Request) error {
	v := r.Codelab.View()
	if v.Meta == nil {
		return errNoCodelab
	}
	r.Stream("submissions-"+v.Meta.Id+".zip", "application/zip", func(w io.Writer) error {
		return archive.WriteSubmissions(w, v, r.api.Files.Blobs())
	})
	return nil
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
	made, err := in.Import(r.Caller, f, size, r.present)
	if err != nil {
		return err
	}
	return r.JSON(struct {
		codelabRecord
		LeftOut []archive.LeftOut `json:"left_out"`
	}{toCodelab(made.Codelab, true), made.LeftOut})
}
