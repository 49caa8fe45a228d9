package rest

import (
	"errors"
	"io"

	"atelier/actors/codelab"
	"atelier/transport/archive"
	"atelier/transport/wire"
)

func exportCodelab(r *Request) error {
	v := r.Codelab.View()
	if v.Meta == nil {
		return errNoCodelab
	}
	if err := r.noteExport(codelab.NoteExport{}); err != nil {
		return err
	}
	r.Stream("codelab-"+v.Meta.Id+".zip", "application/zip", func(w io.Writer) error { return archive.Write(w, v, r.api.Files) })
	return nil
}

// downloadSubmissions sends all submissions as a ZIP.
func downloadSubmissions(r *Request) error {
	v := r.Codelab.View()
	if v.Meta == nil {
		return errNoCodelab
	}
	if err := r.noteExport(codelab.NoteExport{What: "submissions"}); err != nil {
		return err
	}
	r.Stream("submissions-"+v.Meta.Id+".zip", "application/zip", func(w io.Writer) error {
		return archive.WriteSubmissions(w, v, r.api.Files.Blobs())
	})
	return nil
}

// importCodelab creates a codelab from a file. With into or match it publishes the file as a newer
// version of an existing codelab (RULES.md, "Publishing").
func importCodelab(r *Request) error {
	into, match := r.Query("into"), false
	dry, err := r.flag("dry_run")
	if err == nil {
		match, err = r.flag("match")
	}
	if err == nil {
		err = r.knows("into", "match", "dry_run")
	}
	switch {
	case err != nil:
		return err
	case into != "" && match:
		return wire.Invalid("use into or match, not both")
	case dry && into == "" && !match:
		return wire.Invalid("dry_run needs into or match, because a new codelab does not change any other")
	}
	part, err := r.filePart(archive.MaxPacked)
	if err != nil {
		return err
	}
	f, size, err := r.api.Files.Blobs().Spool(part, archive.MaxPacked)
	if err != nil {
		return r.storeError(err)
	}
	defer f.Close()
	in, err := archive.Importer{Files: r.api.Files, Now: r.api.Now, Codelab: r.codelabOf}.Open(part.FileName(), f, size, r.present)
	if err != nil {
		return err
	}
	switch {
	case into != "":
		err = r.publishFile(in, into, dry)
	case match:
		err = r.publishMatch(in, dry)
	default:
		err = r.importNew(in, false)
	}
	return errors.Join(err, in.Close(archive.Unknown(err)))
}

// codelabOf returns the id of the codelab with this slug, or "" if there is none.
func (r *Request) codelabOf(slug string) (id string, err error) {
	id, _, err = r.api.Codelabs.BySlug(slug)
	return id, err
}

// importNew creates a codelab from a file, with the file's slug. If another codelab has this slug,
// the new codelab gets none. With must, the import then fails instead.
func (r *Request) importNew(in *archive.Incoming, must bool) error {
	if !must && in.Codelab.Slug != "" {
		has, _, err := r.api.Codelabs.BySlug(in.Codelab.Slug)
		if err != nil {
			return err
		}
		if has != "" {
			in.Codelab.Slug = ""
		}
	}
	m, err := r.api.Codelabs.Create(r.Caller, in.Create)
	if err != nil {
		return err
	}
	out := importedRecord{codelabRecord: r.toCodelab(m, true), LeftOut: in.LeftOut, TitleFrom: wire.OrNull(string(in.TitleFrom)), Created: true}
	return r.JSON(out)
}

// importedRecord is the result of importing a file.
type importedRecord struct {
	codelabRecord
	LeftOut   []archive.LeftOut `json:"left_out" items:"..101" doc:"The parts of the archive that the codelab does not contain, by file. With more than 100, the last entry contains the number of the others."`
	TitleFrom *string           `json:"title_from" enum:"h1|header|name" doc:"The source of a tutorial's title: its H1, its header («title:»), or the name of the file. Null for other formats."`
	Created   bool              `json:"created" doc:"True for a new codelab, false for an updated one."`
	*changesRecord
}
