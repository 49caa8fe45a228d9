package rest

import (
	"encoding/json"
	"io"
	"iter"
	"slices"

	"atelier/actors/audit"
	"atelier/actors/codelab"
	"atelier/actors/files"
	"atelier/transport/archive"
	"atelier/transport/language"
	"atelier/transport/wire"
)

// exportAll sends all data about a codelab and its people as a ZIP.
func exportAll(r *Request) error {
	return r.takeOut("", "workshop-"+r.Codelab.ID()+".zip")
}

// exportAttendee sends all data about one person to that person or an admin.
func exportAttendee(r *Request) error {
	id := r.Param("attendee_id")
	if !r.IsAdmin() && id != r.Caller.ID {
		return errForbidden
	}
	return r.takeOut(id, "attendee-"+id+".zip")
}

func (r *Request) takeOut(person, name string) error {
	v := r.view().Real()
	if v.Meta == nil {
		return errNoCodelab
	}
	t := &takeout{
		v: v, lab: v.Meta.Id, person: person, reader: codelab.FacilitatorID, uploads: r.api.Files, deletion: r.deletionAt(v.Meta),
		at:    wire.Stamp(r.api.Now().UnixMilli()),
		texts: language.Asked(r.Request.Header.Peek("Accept-Language")),
	}
	if !r.IsAdmin() {
		t.reader = r.Caller.ID
	}
	noted := codelab.NoteExport{What: "all"}
	if person != "" {
		if v.Attendee(person) == nil {
			return errNoAttendee
		}
		noted = codelab.NoteExport{What: "attendee", AttendeeID: person}
	}
	if err := r.noteExport(noted); err != nil {
		return err
	}
	if person != "" {
		var err error
		if t.audit, err = r.api.Audit.Find(audit.Query{CodelabID: t.lab, Person: person, Limit: maxAudited}); err != nil {
			return err
		}
	}
	r.Stream(name, "application/zip", func(w io.Writer) error {
		p := archive.NewPack(w, r.api.Now())
		if err := t.write(p); err != nil {
			return err
		}
		return p.Close()
	})
	return nil
}

// write writes the files first, so that records can contain their paths. It writes the page last,
// because the page shows the number of records of each kind.
func (t *takeout) write(p *archive.Pack) (err error) {
	if t.person == "" {
		if err := p.Folder("codelab").Codelab(t.v, t.uploads); err != nil {
			return err
		}
	}
	if t.submitted, err = p.Folder("submissions").Submissions(t.v, t.uploads.Blobs(), t.person); err != nil {
		return err
	}
	if err := p.Uploads(t.mentioned(), t.uploads); err != nil {
		return err
	}
	for i := range kinds {
		if err := t.records(p, &kinds[i]); err != nil {
			return err
		}
	}
	return t.page(p)
}

// mentioned returns the names of the images in the exported messages and comments, without
// duplicates.
func (t *takeout) mentioned() (names []string) {
	add := func(text string) { files.Mentioned(text, func(name string, _ int) { names = append(names, name) }) }
	for _, m := range t.v.Chat.All() {
		if t.shows(m) {
			add(m.Message)
		}
	}
	for _, th := range t.v.Threads.All() {
		for _, m := range th.Messages {
			if t.of(m.AuthorId) {
				add(m.Message)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// records writes one kind of record as NAME.json and NAME.csv.
func (t *takeout) records(p *archive.Pack, k *kind) error {
	if k.only != 0 && k.only != t.scope() {
		return nil
	}
	w, err := p.Create(k.name + ".json")
	if err != nil {
		return err
	}
	n, err := writeArray(w, k.records(t))
	if err != nil {
		return err
	}
	if w, err = p.Create(k.name + ".csv"); err != nil {
		return err
	}
	t.written = append(t.written, written{k, n})
	return Records(w, k.of, k.records(t))
}

// writeArray writes a JSON array with one record per line. It keeps only one record in memory.
func writeArray(w io.Writer, records iter.Seq[any]) (n int, err error) {
	between := "[\n"
	for r := range records {
		b, err := json.Marshal(r)
		if err == nil {
			_, err = io.WriteString(w, between+string(b))
		}
		if err != nil {
			return n, err
		}
		between = ",\n"
		n++
	}
	if n == 0 {
		between = "["
	} else {
		between = "\n"
	}
	_, err = io.WriteString(w, between+"]\n")
	return n, err
}
