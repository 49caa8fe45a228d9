package rest

import (
	_ "embed"
	"html/template"

	"atelier/transport/archive"
	"atelier/transport/language"
)

//go:embed takeout.html
var takeoutHTML string

// takeoutPage explains the contents of the ZIP. The template escapes every text.
var takeoutPage = template.Must(template.New("takeout").Parse(takeoutHTML))

type takeoutFile struct {
	Name, Title, What string
	N                 int
}

// page writes index.html.
func (t *takeout) page(p *archive.Pack) error {
	texts := &t.texts.Takeout
	all := t.person == ""
	title, about := t.v.Meta.Title, language.Fill(texts.All, "at", t.at)
	if !all {
		title, about = t.v.Attendee(t.person).GetName(), language.Fill(texts.Person, "codelab", t.v.Meta.Title, "at", t.at)
	}
	var where, lacks []string
	switch {
	case len(t.submitted) == 0:
	case all:
		where = append(where, texts.SubmissionsOfAll)
	default:
		where = append(where, texts.Submissions)
	}
	where = append(where, texts.Pictures)
	if all {
		where, lacks = append(where, texts.Codelab), append(lacks, texts.AllLacks, texts.PINs)
	} else {
		lacks = append(lacks, texts.PersonLacks, texts.PINs)
	}
	data := struct {
		*language.Texts
		Title, About, Codelab string
		Rows                  []takeoutFile
		Where, Lacks          []string
	}{t.texts, title, about, t.v.Meta.Title, nil, where, lacks}
	for _, w := range t.written {
		m := texts.Kinds[w.name]
		data.Rows = append(data.Rows, takeoutFile{w.name, m.Title, m.Text, w.n})
	}
	w, err := p.Create("index.html")
	if err != nil {
		return err
	}
	return takeoutPage.Execute(w, data)
}
