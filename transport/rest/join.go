package rest

import (
	"net/url"
	"strings"
	"unicode"
)

// joinRecord contains the data of a codelab that a person with the join code can read before they
// register.
type joinRecord struct {
	ID               string `json:"id" is:"Id"`
	Title            string `json:"title" length:"1..200"`
	Description      string `json:"description" length:"..4000"`
	Author           string `json:"author" length:"..120"`
	IsPublic         bool   `json:"is_public"`
	RegistrationOpen bool   `json:"registration_open" doc:"False if a facilitator closed the registration or ended the workshop."`
	Attendees        int    `json:"attendees" doc:"The number of registered attendees."`
}

// joinCode returns a typed code in the stored form, without spaces and dashes and in upper case.
func joinCode(typed string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Pd, r) || r == minus {
			return -1
		}
		return unicode.ToUpper(r)
	}, typed)
}

// minus is U+2212, which Unicode does not classify as a dash.
const minus = 0x2212

// findByCode returns the codelab of a join code.
func findByCode(r *Request) error {
	typed, err := url.PathUnescape(r.Param("code"))
	if err != nil {
		return errNoCodelab
	}
	code := joinCode(typed)
	if code == "" {
		return errNoCodelab
	}
	m, err := r.api.List.ByJoinCode(code)
	if err != nil {
		return err
	}
	if m == nil {
		return errNoCodelab
	}
	if r.Codelab, err = r.api.Codelabs.Get(m.Id); err != nil {
		return err
	}
	v := r.view()
	if v.Meta == nil {
		return errNoCodelab
	}
	c := r.toCodelab(v.Meta, false)
	return r.JSON(joinRecord{c.ID, c.Title, c.Description, c.Author, c.IsPublic, c.RegistrationOpen, v.CountPeople()})
}
