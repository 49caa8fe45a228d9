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

// reading is a text of a codelab that can refer to files of the archive.
type reading struct {
	text *string
	dir  string // folder for relative links
	step int    // the step's number, or 0 if the text is not a step
}

// edit replaces an address in a text.
type edit struct {
	markdown.Span
	kind, file string // kind and path of a file in the archive
	rest       string // the rest of the address, such as #page=2
	to         string // the new address if it leads to another codelab or within the text
	mention    bool   // the address is that of an upload, as in our own exports
	note       bool   // the address is in a note that only facilitators see
}

// relink stores the files to which texts refer, and points the links to them. The files are images,
// uploads of our own exports, and other linked files, which become materials. Links in code stay
// unchanged. If only facilitators' notes link to a file other than an image, relink omits the file.
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

// link creates a material for a file linked by a text.
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

// apply rewrites a text, and reports the files that only facilitators' notes link.
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

// edits finds the references of a text, in order, and reports broken ones.
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

// refer finds the file, the codelab or the place in the same text to which an address leads. It
// returns none of them if the address stays unchanged.
func (k *keeper) refer(a markdown.Address, t reading) (edit, error) {
	e := edit{Span: a.Span}
	at, ok := relative(a.URL)
	if !ok || len(at.path) > maxLink || strings.HasPrefix(at.path, files.Folder) {
		return e, nil // edits finds the addresses of uploads itself, anywhere in the text
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

// dead reports a reference to a file that is not in the archive, or to another tutorial. Links to
// this server's own pages are not reported.
func (k *keeper) dead(a markdown.Address, at link, t reading) {
	if !utf8.ValidString(at.path) || !a.Shows && leadsHere(at.path) {
		return
	}
	reason := "the text links to it, but the import does not contain it"
	if a.Shows {
		reason = "the text shows it, but the import does not contain it"
	}
	name := at.path
	if !strings.HasPrefix(name, "/") {
		name = path.Join(t.dir, name)
	}
	k.t.left.add(shown(name), reason, CodeDeadLink)
}

// leadsHere reports whether a path belongs to this server.
func leadsHere(at string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(at, "/"), "/")
	return strings.HasPrefix(at, "/") && slices.Contains([]string{"", "api", "codelabs", "git", "handler", "j", "login", "sandbox", "schemas", "uploads", "verify", ".well-known"}, first)
}

// maxLink bounds a relative address's path, in bytes.
const maxLink = 1024

// link is a relative address.
type link struct {
	path, fragment string
	// whole is the entire link as a file name, because names can contain # or ?.
	whole string
}

var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// relative parses an address. It returns false if the address has a scheme or a host, or leads to a
// place in the same text.
func relative(address string) (link, bool) {
	address = strings.ReplaceAll(address, `\`, "/") // as browsers do
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

// at returns the path of the archive's file at a relative address, or "". An address that begins
// with a slash is relative to the archive, or to one of the folders that contain the text.
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

// codelab returns the id of the codelab that was created from the file at an address, or "".
// tutorial reports whether the file is a tutorial in the archive. The id of that tutorial
// identifies the codelab. For a file outside the archive (file is ""), the name of the file or of
// its folder identifies the codelab.
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

// slugIn guesses the id of the tutorial at an address from the name of its page or folder.
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

// tutorialAt reports whether a file of the archive is a tutorial, and returns its id, or "?" if the
// id cannot be looked up. Each file is read once.
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
		slug = cmp.Or(c.Codelab.Slug, "?") // "?" for an id that cannot be looked up
	}
	if t.tutorials == nil {
		t.tutorials = map[string]string{}
	}
	t.tutorials[file] = slug
	return slug, slug != "", nil
}

// plays reports whether a file is video or audio, judged by its name.
func plays(file string) bool {
	switch strings.ToLower(path.Ext(file)) {
	case ".mp4", ".m4v", ".webm", ".ogv", ".mov", ".avi", ".mkv", ".mp3", ".m4a", ".ogg", ".oga", ".opus", ".wav", ".flac", ".vtt", ".srt":
		return true
	}
	return false
}
