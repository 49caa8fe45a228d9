// Package language has the texts of the pages that the server writes, in the
// languages of the app, and finds the one that a browser asks for.
//
// A language is a file in texts. Adding one means adding that file and those of
// the app; see CONTRIBUTING.md.
package language

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/language"
)

//go:embed texts/*.json
var files embed.FS

// Texts are the texts of one language. Where a text has a {name}, Fill puts
// something in its place. Immutable.
type Texts struct {
	// Tag is the language's own (BCP 47), and Direction "ltr" or "rtl".
	Tag       string `json:"-"`
	Direction string `json:"direction"`
	// Date has {day}, {month} and {year}.
	Date   string   `json:"date"`
	Months []string `json:"months"`
	// Titles of the app's pages, until the app gives them better ones, by the
	// name that the page has in web.routes.
	Titles  map[string]string `json:"titles"`
	Verify  Verify            `json:"verify"`
	Plain   Plain             `json:"plain"`
	Takeout Takeout           `json:"takeout"`
}

// Message is a page that says one thing.
type Message struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// Verify are the texts of the page that shows whether a certificate is valid.
type Verify struct {
	Valid string `json:"valid"`
	// Invalid has {number} in its text.
	Invalid Message `json:"invalid"`
	Unknown Message `json:"unknown"` // it cannot be told now
	Often   Message `json:"often"`   // too many requests
	Name    string  `json:"name"`
	Codelab string  `json:"codelab"`
	Author  string  `json:"author"`
	Done    string  `json:"completed"`
	Number  string  `json:"number"`
}

// Plain are the texts of pages for browsers without JavaScript, and of a server
// without the app.
type Plain struct {
	NeedsScript Message `json:"needs_script"`
	Missing     string  `json:"missing"`
	Start       string  `json:"start"`
	Running     Message `json:"running"`
	Build       Message `json:"build"`
	Programs    string  `json:"programs"`
	REST        string  `json:"rest"`
	Messages    string  `json:"messages"`
}

// Takeout are the texts of the page in an export of the data that a codelab, or one of its
// people, has on the server.
type Takeout struct {
	// All and Person have {at}, a time in UTC; Person has {codelab}, too.
	All     string `json:"all"`
	Person  string `json:"person"`
	What    string `json:"what"`
	Records string `json:"records"`
	Files   string `json:"files"`
	Forms   string `json:"forms"`
	// Submissions says where the files lie that one person handed in, and
	// SubmissionsOfAll those of all.
	Submissions      string `json:"submissions"`
	SubmissionsOfAll string `json:"submissions_of_all"`
	Pictures         string `json:"pictures"`
	Codelab          string `json:"codelab"`
	AllLacks         string `json:"all_lacks"`
	PersonLacks      string `json:"person_lacks"`
	PINs             string `json:"pins"`
	// Kinds of records by their names.
	Kinds map[string]Message `json:"kinds"`
}

// All are the languages: English, and then the others by their tags.
var All = load()

var matcher = language.NewMatcher(tags())

func load() []*Texts {
	entries, err := files.ReadDir("texts")
	if err != nil {
		panic(err) // embedded
	}
	var all []*Texts
	for _, e := range entries {
		b, err := files.ReadFile("texts/" + e.Name())
		t := &Texts{Tag: strings.TrimSuffix(e.Name(), path.Ext(e.Name()))}
		if err == nil {
			err = json.Unmarshal(b, t)
		}
		if err != nil {
			panic(fmt.Errorf("texts of pages: %s: %w", e.Name(), err)) // embedded
		}
		all = append(all, t)
	}
	slices.SortStableFunc(all, func(a, b *Texts) int {
		english := func(t *Texts) int {
			if t.Tag == "en" {
				return 0
			}
			return 1
		}
		return english(a) - english(b)
	})
	return all
}

func tags() []language.Tag {
	var tags []language.Tag
	for _, t := range All {
		tags = append(tags, language.MustParse(t.Tag))
	}
	return tags
}

// longest bounds an Accept-Language header that is read, bytes. Browsers send
// some dozens.
const longest = 256

// Asked returns the texts in the language that an Accept-Language header asks
// for (RFC 9110, 12.5.4): English when there is none of those. It takes 6 µs.
func Asked(accept []byte) *Texts {
	if len(accept) == 0 || len(accept) > longest {
		return All[0]
	}
	asked, _, err := language.ParseAcceptLanguage(string(accept))
	if err != nil || len(asked) == 0 {
		return All[0]
	}
	// A similar language that the person reads with difficulty, such as simplified
	// characters for Taiwan, does not match.
	if _, i, sure := matcher.Match(asked...); sure >= language.High {
		return All[i]
	}
	return All[0]
}

// Day writes a date in the time zone UTC.
func (t *Texts) Day(at time.Time) string {
	at = at.UTC()
	return Fill(t.Date, "day", strconv.Itoa(at.Day()), "month", t.Months[at.Month()-1], "year", strconv.Itoa(at.Year()))
}

// Fill puts values in the place of their {names}.
func Fill(text string, namesAndValues ...string) string {
	pairs := make([]string, 0, len(namesAndValues))
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		pairs = append(pairs, "{"+namesAndValues[i]+"}", namesAndValues[i+1])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
