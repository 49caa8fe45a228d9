// Package language contains the texts of the pages that the server writes, in the app's languages,
// and selects the language for a browser.
//
// A language is a file in texts. Adding a language means adding this file and the app's files; see
// CONTRIBUTING.md.
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

// Texts contains the texts of one language. Fill replaces a {name} in a text. Texts is immutable.
type Texts struct {
	// Tag is the language's tag (BCP 47). Direction is "ltr" or "rtl".
	Tag       string `json:"-"`
	Direction string `json:"direction"`
	// Date has {day}, {month} and {year}.
	Date   string   `json:"date"`
	Months []string `json:"months"`
	// Titles contains the initial titles of the app's pages by their names in web.routes. The app
	// replaces them with better ones.
	Titles  map[string]string `json:"titles"`
	Verify  Verify            `json:"verify"`
	Plain   Plain             `json:"plain"`
	Takeout Takeout           `json:"takeout"`
}

// Message is the text of a simple page.
type Message struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// Verify contains the texts of the page that shows whether a certificate is valid.
type Verify struct {
	Valid string `json:"valid"`
	// Invalid has {number} in its text.
	Invalid Message `json:"invalid"`
	Unknown Message `json:"unknown"` // the validity cannot be determined now
	Often   Message `json:"often"`   // too many requests
	Name    string  `json:"name"`
	Codelab string  `json:"codelab"`
	Author  string  `json:"author"`
	Done    string  `json:"completed"`
	Number  string  `json:"number"`
}

// Plain contains the texts of pages for browsers without JavaScript, and of a server without the
// app.
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

// Takeout contains the texts of the page in an export of all data of a codelab or of one of its
// people.
type Takeout struct {
	// All and Person have {at}, a time in UTC; Person also has {codelab}.
	All     string `json:"all"`
	Person  string `json:"person"`
	What    string `json:"what"`
	Records string `json:"records"`
	Files   string `json:"files"`
	Forms   string `json:"forms"`
	// Submissions states where one person's submitted files are, and SubmissionsOfAll where
	// everybody's files are.
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

// All lists the languages. English is first, and the others are sorted by tag.
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

// longest bounds the accepted Accept-Language header, in bytes. Browsers send a few dozen bytes.
const longest = 256

// Asked returns the texts in the language requested by an Accept-Language header (RFC 9110,
// 12.5.4). It returns English if no language matches, and for a malformed or too long header. It
// takes 6 µs.
func Asked(accept []byte) *Texts {
	if len(accept) == 0 || len(accept) > longest {
		return All[0]
	}
	asked, _, err := language.ParseAcceptLanguage(string(accept))
	if err != nil || len(asked) == 0 {
		return All[0]
	}
	// A match of low confidence is a similar language that the person can hardly read, for example
	// simplified characters for a reader in Taiwan.
	if _, i, sure := matcher.Match(asked...); sure >= language.High {
		return All[i]
	}
	return All[0]
}

// Day formats a date in UTC.
func (t *Texts) Day(at time.Time) string {
	at = at.UTC()
	return Fill(t.Date, "day", strconv.Itoa(at.Day()), "month", t.Months[at.Month()-1], "year", strconv.Itoa(at.Year()))
}

// Fill replaces {names} with values.
func Fill(text string, namesAndValues ...string) string {
	pairs := make([]string, 0, len(namesAndValues))
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		pairs = append(pairs, "{"+namesAndValues[i]+"}", namesAndValues[i+1])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
