package archive

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/files"
	"atelier/actors/markdown"
)

// reading is a text of a codelab that may refer to files of the archive.
type reading struct {
	text *string
	dir  string // the folder that it is read in
	step int    // the step's number; 0 if the text is not a step
}

// edit lets a place of a text lead to something else.
type edit struct {
	markdown.Span
	kind, file string // of the archive
	rest       string // the rest of the address: #page=2
	to         string // another codelab
	mention    bool   // the address of an upload, as our own exports have it
	note       bool   // only facilitators see it
}

// relink lets texts refer to the files that the archive brings: pictures beside the text,
// files that it links, which become materials, and uploads of our own exports. Nothing in
// code is touched. A file that only notes for facilitators link stays out.
func (k *keeper) relink(texts []reading) error {
	edits := make([][]edit, len(texts))
	for i, t := range texts {
		var err error
		if edits[i], err = k.edits(t); err != nil {
			return err
		}
		for _, e := range edits[i] {
			if e.to != "" || e.note && e.kind != files.Images {
				continue
			}
			u, err := k.bring(e.kind, e.file)
			if err != nil {
				return err
			}
			if e.kind == files.Materials && u != nil && !e.mention {
				k.link(u, e.file)
			}
		}
	}
	for i, t := range texts {
		k.apply(t, edits[i])
	}
	return nil
}

// link makes a material of a file that a text links.
func (k *keeper) link(u *pb.Upload, file string) {
	if slices.ContainsFunc(k.linked, func(m *pb.Material) bool { return m.Upload == u.Name }) {
		return
	}
	if len(k.linked) == codelab.Bounds.Materials {
		k.t.left.add(file, fmt.Sprintf("a codelab has at most %d materials", codelab.Bounds.Materials), CodeUnknown)
		return
	}
	title := []rune(cmp.Or(u.OriginalName, path.Base(file)))
	k.linked = append(k.linked, &pb.Material{Title: string(title[:min(len(title), codelab.Bounds.Title)]), MaterialType: codelab.File, Upload: u.Name})
}

// apply rewrites a text.
func (k *keeper) apply(t reading, edits []edit) {
	if len(edits) == 0 {
		return
	}
	text := *t.text
	var out strings.Builder
	done := 0
	for _, e := range edits {
		to := e.to
		if to == "" {
			u := k.kept[e.kind+"\x00"+e.file]
			if u == nil {
				if e.note && e.kind != files.Images && !k.t.used[e.file] {
					k.t.left.add(e.file, "only notes for facilitators link it", CodeUnknown)
					k.t.used[e.file] = true
				}
				continue
			}
			to = files.Folder + u.Name + e.rest
		}
		out.WriteString(text[done:e.Start])
		out.WriteString(to)
		done = e.End
	}
	out.WriteString(text[done:])
	*t.text = out.String()
}

// edits finds what a text refers to, in order, and names what leads nowhere.
func (k *keeper) edits(t reading) (out []edit, err error) {
	text := *t.text
	addresses, code := markdown.Addresses(text)
	notes := markdown.Notes(text)
	within := func(spans []markdown.Span, at int) bool {
		i, _ := slices.BinarySearchFunc(spans, at, func(s markdown.Span, at int) int { return cmp.Compare(s.End, at+1) })
		return i < len(spans) && spans[i].Start <= at
	}
	files.Mentioned(text, func(name string, at int) {
		if k.t.files[folder+name] != nil && !within(code, at) {
			kind, _, _ := strings.Cut(name, "/")
			out = append(out, edit{Span: markdown.Span{Start: at, End: at + len(files.Folder) + len(name)}, kind: kind, file: folder + name, mention: true})
		}
	})
	for _, a := range addresses {
		e, err := k.refer(a, t)
		if err != nil {
			return nil, err
		}
		if e.file != "" || e.to != "" {
			e.note = within(notes, a.Start)
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b edit) int { return a.Start - b.Start })
	return slices.CompactFunc(out, func(a, b edit) bool { return a.Start < b.End && b.Start < a.End }), nil
}

// refer finds the file, or the codelab, to which an address leads; neither when it is to
// stay as it is.
func (k *keeper) refer(a markdown.Address, t reading) (edit, error) {
	e := edit{Span: a.Span}
	at, ok := relative(a.URL)
	if !ok || len(at.path) > maxLink || strings.HasPrefix(at.path, files.Folder) {
		return e, nil // an upload is found wherever it is mentioned
	}
	file := k.at(at, t.dir)
	if file != "" && k.own[file] {
		if at.fragment != "" {
			e.to = "#" + escaped(at.fragment)
		}
		return e, nil
	}
	if file == "" || isMarkdown(file) {
		id, tutorial, err := k.codelab(at, file)
		switch {
		case err != nil:
			return e, err
		case id != "":
			e.to = "/codelabs/" + id
			return e, nil
		case file == "" || tutorial:
			k.dead(a, at, t)
			return e, nil
		}
	}
	e.file, e.kind = file, files.Materials
	if a.Shows && !plays(file) || isImage(file) {
		e.kind = files.Images
	} else if at.fragment != "" {
		e.rest = "#" + escaped(at.fragment)
	}
	return e, nil
}

// dead names what a text refers to and was not sent along.
func (k *keeper) dead(a markdown.Address, at link, t reading) {
	if !utf8.ValidString(at.path) || !a.Shows && leadsHere(at.path) {
		return
	}
	says := "the text links it, and it was not sent along"
	if a.Shows {
		says = "the text shows it, and it was not sent along"
	}
	name := at.path
	if !strings.HasPrefix(name, "/") {
		name = path.Join(t.dir, name)
	}
	k.t.left.add(shown(name), says, CodeDeadLink)
}

// leadsHere reports whether a path is one of this server, with any continuation.
func leadsHere(at string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(at, "/"), "/")
	return strings.HasPrefix(at, "/") && slices.Contains([]string{"", "api", "codelabs", "git", "handler", "j", "login", "sandbox", "schemas", "uploads", "verify", ".well-known"}, first)
}

// maxLink bounds the path of a relative address, bytes.
const maxLink = 1024

// link is a relative address.
type link struct {
	path, fragment string
	// whole is the entire link as the name of a file, since a name can contain # or ?.
	whole string
}

var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// relative takes an address apart; false if it leads to another server, or stays within
// its text.
func relative(address string) (link, bool) {
	address = strings.ReplaceAll(address, `\`, "/") // as browsers read it
	if scheme.MatchString(address) || strings.HasPrefix(address, "//") {
		return link{}, false
	}
	at := link{whole: unescaped(address)}
	rest, fragment, _ := strings.Cut(address, "#")
	rest, _, _ = strings.Cut(rest, "?")
	at.path, at.fragment = unescaped(rest), unescaped(fragment)
	return at, rest != ""
}

func escaped(fragment string) string {
	return url.PathEscape(fragment)
}

func unescaped(s string) string {
	plain, err := url.PathUnescape(s)
	if err != nil || !utf8.ValidString(plain) {
		return norm.NFC.String(s)
	}
	return norm.NFC.String(plain)
}

// at is the file of the archive at a relative address, if any. A path from the root is
// one from the root of the archive, or of a folder around the text.
func (k *keeper) at(l link, dir string) string {
	for _, p := range []string{l.path, l.whole} {
		dirs := []string{dir}
		if strings.HasPrefix(p, "/") {
			dirs = []string{"."}
			for d := dir; d != "." && d != "/"; d = path.Dir(d) {
				dirs = append(dirs, d)
			}
		}
		for _, d := range dirs {
			if file := path.Join(d, p); !strings.HasSuffix(p, "/") && safeName(file) && k.t.files[file] != nil {
				return file
			}
		}
	}
	return ""
}

// codelab finds the codelab that was made from the file at an address. If the file was sent along
// and is a tutorial, its id identifies the codelab; else the name of the file or its folder does.
func (k *keeper) codelab(at link, file string) (id string, tutorial bool, err error) {
	slug := slugIn(at)
	if file != "" {
		if slug, tutorial, err = k.t.tutorialAt(file); err != nil || !tutorial {
			return "", false, err
		}
	}
	if slug = slugOf(slug); slug == "" || k.t.with.Codelab == nil {
		return "", tutorial, nil
	}
	if err = k.t.still(); err == nil {
		id, err = k.t.with.Codelab(slug)
	}
	return id, tutorial, err
}

// slugIn guesses the id of the tutorial at an address: the name of the page or folder.
func slugIn(at link) string {
	name := strings.TrimSuffix(at.path, "/")
	slug := path.Base(name)
	switch ext := path.Ext(slug); strings.ToLower(ext) {
	case ".md", ".markdown", ".html", ".htm":
		slug = strings.TrimSuffix(slug, ext)
	default:
		if name == at.path {
			return ""
		}
	}
	if strings.EqualFold(slug, "index") || strings.EqualFold(slug, "readme") {
		slug = path.Base(path.Dir(name))
	}
	if strings.Trim(slug, "./") == "" {
		return ""
	}
	return slug
}

// tutorialAt reports whether a file of the archive reads as a tutorial, and its id. Each is
// read once.
func (t *tree) tutorialAt(file string) (slug string, ok bool, err error) {
	if slug, ok = t.tutorials[file]; ok {
		return slug, slug != "", nil
	}
	was, wasOf := t.used[file], t.lately
	c, _, err := t.readTutorial(file, noPicture)
	t.used[file], t.lately = was, wasOf
	if err != nil && !isInvalid(err) {
		return "", false, err
	}
	if err == nil {
		slug = cmp.Or(c.Codelab.Slug, "?") // one that is too long to be found by
	}
	if t.tutorials == nil {
		t.tutorials = map[string]string{}
	}
	t.tutorials[file] = slug
	return slug, slug != "", nil
}

// plays reports whether a file is a video or a sound by its name.
func plays(file string) bool {
	switch strings.ToLower(path.Ext(file)) {
	case ".mp4", ".m4v", ".webm", ".ogv", ".mov", ".avi", ".mkv", ".mp3", ".m4a", ".ogg", ".oga", ".opus", ".wav", ".flac", ".vtt", ".srt":
		return true
	}
	return false
}
