package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"atelier/transport/archive"
	"atelier/transport/control"
)

type importCmd struct {
	common
	Into   string `help:"Publish a newer version into the codelab with this id: steps keep their ids, and people stay on their steps." placeholder:"ID" xor:"which"`
	Match  bool   `help:"Publish into the codelab whose header has the same id, or create one if there is none." xor:"which"`
	DryRun bool   `help:"Report the changes of --into or --match without making them."`
	File   string `arg:"" help:"claat Markdown file, ZIP with one, or exported codelab." type:"existingfile"`
}

// imported is the response to an import: a new codelab, or the changes that the file made to a
// codelab. A dry run returns the changes that the file would make.
type imported struct {
	ID       string            `json:"id"`
	Title    string            `json:"title"`
	JoinCode string            `json:"join_code"`
	IsPublic bool              `json:"is_public"`
	LeftOut  []archive.LeftOut `json:"left_out"`
	Created  bool              `json:"created"`
	Steps    []struct {
		Title  string `json:"title"`
		Was    string `json:"was"`
		Change string `json:"change"`
	} `json:"steps"`
	TitleWas             string `json:"title_was"`
	SlugWas              string `json:"slug_was"`
	StaleThreads         int    `json:"stale_threads"`
	RemovedThreads       int    `json:"removed_threads"`
	PeopleOnRemovedSteps int    `json:"people_on_removed_steps"`
}

// path returns the request path.
func (c importCmd) path() (string, error) {
	q := url.Values{}
	switch {
	case c.Into != "":
		q.Set("into", c.Into)
	case c.Match:
		q.Set("match", "1")
	case c.DryRun:
		return "", errors.New("import: --dry-run needs --into or --match, because a new codelab changes no other")
	}
	if c.DryRun {
		q.Set("dry_run", "1")
	}
	return strings.TrimSuffix("/api/codelabs/import?"+q.Encode(), "?"), nil
}

// Run imports through the running server, or directly into the store if no server runs.
func (c importCmd) Run() error {
	path, err := c.path()
	if err != nil {
		return err
	}
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() > archive.MaxPacked {
		return fmt.Errorf("import %s: the file is larger than %d MiB", c.File, archive.MaxPacked>>20)
	}
	var made imported
	var steps []struct{}
	// A dry run creates no store, and a new store has no codelab to import into.
	err = c.operateOn(c.DryRun || c.Into != "", func(server *control.Client) error {
		if err := sendFile(server, path, f, &made); err != nil {
			return fmt.Errorf("import %s: %w", c.File, err)
		}
		if made.ID == "" { // a dry run
			return nil
		}
		return server.Call("GET", "/api/codelabs/"+made.ID, nil, &[]any{&struct{}{}, &steps})
	})
	if err != nil {
		return err
	}
	if made.ID != "" {
		fmt.Printf("%s  %s (%d steps, join code %s)\n", made.ID, printable(made.Title), len(steps), made.JoinCode)
	}
	if made.ID != "" && made.Created && made.IsPublic {
		fmt.Println("public: everybody who can reach the server can read it")
	}
	made.printChanges(c.DryRun)
	for _, l := range made.LeftOut {
		fmt.Print("left out: ")
		if l.File != "" {
			fmt.Printf("%q: ", l.File) // quoted: an untrusted name on a terminal
		}
		fmt.Println(l.Reason)
	}
	return nil
}

// printChanges prints the changes of the codelab, and the numbers of affected comments and people.
func (m imported) printChanges(dry bool) {
	if dry && m.Created {
		fmt.Println("a new codelab")
	}
	for _, st := range m.Steps {
		title := printable(st.Title)
		if st.Was != "" {
			title = printable(st.Was) + " -> " + title
		}
		fmt.Printf("%-8s %s\n", st.Change, title)
	}
	if m.TitleWas != "" {
		fmt.Printf("the title was %s\n", printable(m.TitleWas))
	}
	if m.SlugWas != "" {
		fmt.Printf("the id was %s: files with that id no longer match this codelab\n", printable(m.SlugWas))
	}
	for _, n := range []struct {
		count int
		what  string
	}{
		{m.StaleThreads, "comments on text that changes"}, {m.RemovedThreads, "comments on steps that are removed"},
		{m.PeopleOnRemovedSteps, "people on steps that are removed"},
	} {
		if n.count > 0 {
			fmt.Printf("%d %s\n", n.count, n.what)
		}
	}
	if dry {
		fmt.Println("nothing was changed")
	}
}

// printable removes the characters of a text from a file that could control a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// sendFile uploads a file in the form that the API accepts.
func sendFile(server *control.Client, path string, f *os.File, out any) error {
	r, w := io.Pipe()
	form := multipart.NewWriter(w)
	go func() {
		part, err := form.CreateFormFile("file", filepath.Base(f.Name()))
		if err == nil {
			_, err = io.Copy(part, f)
		}
		if err == nil {
			err = form.Close()
		}
		_ = w.CloseWithError(err)
	}()
	defer func() { _ = r.Close() }() // ends the goroutine if the server rejects the file early
	return server.Send("POST", path, form.FormDataContentType(), r, func(answer io.Reader) error {
		return json.NewDecoder(answer).Decode(out)
	})
}
