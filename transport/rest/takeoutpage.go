package rest

import (
	_ "embed"
	"html/template"

	"atelier/transport/archive"
)

//go:embed takeout.html
var takeoutHTML string

// takeoutPage explains what is in the ZIP; every text in it is escaped.
var takeoutPage = template.Must(template.New("takeout").Parse(takeoutHTML))

type takeoutFile struct {
	Name, Title, What string
	N                 int
}

// page writes index.html.
func (t *takeout) page(p *archive.Pack) error {
	data := struct {
		Codelab, At, Person string
		Files               []takeoutFile
		Submissions, All    bool
	}{t.v.Meta.Title, t.at, t.v.Attendee(t.person).GetName(), nil, len(t.submitted) > 0, t.person == ""}
	for _, w := range t.written {
		data.Files = append(data.Files, takeoutFile{w.name, w.title, w.what, w.n})
	}
	w, err := p.Create("index.html")
	if err != nil {
		return err
	}
	return takeoutPage.Execute(w, data)
}
