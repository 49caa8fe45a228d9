package archive

import (
	"archive/zip"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/actors/naming"
	"atelier/transport/claat"
	"atelier/transport/wire"
)

// Limits of an archive (transport/rest/RULES.md, "Limits"). Sizes are in bytes.
const (
	MaxPacked   = 256 << 20
	maxUnpacked = 1 << 30
	maxEntries  = 10_000
	// maxRatio bounds the compression ratio of archives that unpack to more than freeRatio.
	maxRatio  = 200
	freeRatio = 16 << 20
	// maxFile bounds one text file, in bytes.
	maxFile = 32 << 20
)

// Surroundings contains the caller's functions and data for reading a file.
type Surroundings struct {
	// Keep stores a file of the codelab.
	Keep Keep
	// Still is called periodically. It returns an error if nobody waits for the result any more.
	// Reading then ends with that error.
	Still func() error
	// Name is the name of the file. A Markdown file without a title gets its title from Name.
	Name string
	// Codelab returns the id of the codelab that was created from the file with the given id, or
	// "". In texts, links to that file then lead to the codelab. Nil means that there are no such
	// codelabs.
	Codelab func(slug string) (id string, err error)
}

// Content is a codelab read from a file.
type Content struct {
	*codelab.Create
	// LeftOut lists the parts of the file that the codelab does not have. It is never nil.
	LeftOut []LeftOut
	// Whole means that the file is in our own format or in the format of the reference application,
	// and contains materials.json or a linked file. Such a file describes all steps, quizzes and
	// materials, so publishing can remove the parts that it lacks. If Whole is false, Materials
	// contains only the files that the text links to.
	Whole bool
	// TitleFrom is the source of a tutorial's title; empty for other forms.
	TitleFrom claat.TitleFrom
}

// Read reads a codelab from a file of any known form, and passes its files to Keep. Unusable files
// are omitted. An Invalid rejection states what is wrong with the file. Other errors come from
// reading, or from the functions of Surroundings.
func Read(r io.ReaderAt, size int64, with Surroundings) (*Content, error) {
	var magic [4]byte
	if n, err := r.ReadAt(magic[:], 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read the file: %w", err)
	} else if n == 4 && string(magic[:2]) == "PK" {
		return readZIP(r, size, with)
	}
	if size > maxFile {
		return nil, invalid("the file is neither a ZIP nor a Markdown file of at most %d MiB", maxFile>>20)
	}
	b, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	t := &tree{with: with, room: maxUnpacked}
	k, err := t.keeper()
	if err != nil {
		return nil, err
	}
	c, tut, err := t.fromClaat(b, claat.Options{Name: with.Name, Picture: k.picture("")})
	if err != nil {
		return nil, err
	}
	if err := t.relinkSteps(c, k, "", ".", tut.Lost); err != nil {
		return nil, err
	}
	c.Uploads = k.all
	t.unheeded(c.Steps)
	return &Content{Create: c, LeftOut: t.left.list(), TitleFrom: tut.TitleFrom}, nil
}

// tree contains a ZIP's checked entries by name.
type tree struct {
	files map[string]*zip.File
	used  map[string]bool // requested entries
	room  int64           // remaining bytes of maxUnpacked
	with  Surroundings
	left  leftOut
	// lately lists the files read since the current tutorial began. tutorials maps checked files to
	// their tutorial ids; "" if the file is not a tutorial.
	lately    []string
	tutorials map[string]string
}

func (t *tree) still() error { return t.with.Still() }

func readZIP(r io.ReaderAt, size int64, with Surroundings) (*Content, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, invalid("the file is not a readable ZIP")
	}
	t, err := check(z, size)
	if err != nil {
		return nil, err
	}
	t.with = with
	k, err := t.keeper()
	if err != nil {
		return nil, err
	}
	c, from, err := t.understand(k)
	if err != nil {
		return nil, err
	}
	c.Uploads = k.all
	t.unused()
	t.unheeded(c.Steps)
	return &Content{Create: c, LeftOut: t.left.list(), Whole: from == "" && c.Materials != nil, TitleFrom: from}, nil
}

// understand reads the codelab in the archive's layout; from is the source of a tutorial's title.
func (t *tree) understand(k *keeper) (c *codelab.Create, from claat.TitleFrom, err error) {
	if t.files["codelab.json"] == nil {
		return t.tutorial(k)
	}
	var d document
	if err := t.json("codelab.json", &d); err != nil {
		return nil, "", err
	}
	if d.Format == "" && strings.TrimSpace(d.Title) == "" && len(t.stepNames()) == 0 && len(t.referenceStepNames()) == 0 {
		t.used["codelab.json"] = false // not our format
		return t.tutorial(k)
	}
	c, err = t.codelab(&d, k)
	return c, "", err
}

// check checks all entries before any is read.
func check(z *zip.Reader, size int64) (*tree, error) {
	t := &tree{files: map[string]*zip.File{}, used: map[string]bool{}, room: maxUnpacked}
	var total, largest uint64
	var widest string // name of the largest entry
	for i, f := range z.File {
		name, readable := entryName(f)
		if i == maxEntries {
			return nil, invalid("the archive has more than %d entries; the first one over the limit is %s", maxEntries, shown(name))
		}
		if leadsOut(name) {
			return nil, invalid("the archive has an entry whose path leads out of it: %s", shown(name))
		}
		if mode := f.Mode(); mode&fs.ModeSymlink != 0 || mode&(fs.ModeDevice|fs.ModeNamedPipe|fs.ModeSocket) != 0 {
			return nil, invalid("the archive has an entry that is not a regular file: %s", shown(name))
		}
		// Each size is checked alone first, because a sum of claimed sizes can overflow.
		if f.UncompressedSize64 > maxUnpacked || total+f.UncompressedSize64 > maxUnpacked {
			return nil, invalid("the archive unpacks to more than %d MiB; the limit is exceeded at %s", maxUnpacked>>20, shown(name))
		}
		total += f.UncompressedSize64
		if f.UncompressedSize64 >= largest {
			largest, widest = f.UncompressedSize64, name
		}
		switch {
		case strings.HasSuffix(name, "/"):
			continue
		case !readable:
			t.left.add(shown(name), "its name cannot be read", CodeUnreadableName)
			continue
		}
		name = pathOf(name)
		if t.files[name] != nil {
			t.left.add(name, "another file in the archive has the same name; the first is used", CodeDuplicate)
			continue
		}
		t.files[name] = f
	}
	if total > freeRatio && total/maxRatio > uint64(size) {
		return nil, invalid("the archive unpacks to a suspiciously large size; its largest entry is %s", shown(widest))
	}
	return t, nil
}

// read unpacks one text file in UTF-8. It does not trust the size stated in the entry.
func (t *tree) read(name string) ([]byte, error) { return t.readUpTo(name, maxFile) }

// readUpTo does the same as read for a file of at most limit bytes.
func (t *tree) readUpTo(name string, limit int64) ([]byte, error) {
	b, err := t.unpack(name, limit)
	if err == nil && !utf8.Valid(b) {
		return nil, invalid("%s is not valid UTF-8", name)
	}
	return b, err
}

// largestStep bounds the file of a step, in bytes: a text of the maximum length, and the front
// matter. Without this bound, a small archive could unpack to a gigabyte in memory.
var largestStep = int64(utf8.UTFMax*(codelab.Bounds.Markdown+codelab.Bounds.Title) + 64<<10)

// checkSteps returns an error if the archive has more steps than a codelab can have.
func checkSteps(names []string) error {
	if len(names) > codelab.Bounds.Steps {
		return invalid("the archive has %d steps; a codelab has at most %d", len(names), codelab.Bounds.Steps)
	}
	return nil
}

// unpack unpacks one text file of at most limit bytes, which can be in any encoding.
func (t *tree) unpack(name string, limit int64) ([]byte, error) {
	f := t.files[name]
	if f == nil {
		return nil, invalid("%s is not in the archive", name)
	}
	if err := t.still(); err != nil {
		return nil, err
	}
	t.used[name] = true
	t.lately = append(t.lately, name)
	r, err := f.Open()
	if err != nil {
		return nil, invalid("%s cannot be unpacked", name)
	}
	defer r.Close()
	limit = min(limit, t.room)
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, invalid("%s cannot be unpacked", name)
	}
	if int64(len(b)) > limit {
		return nil, invalid("%s is too large", name)
	}
	t.room -= int64(len(b))
	return b, nil
}

func (t *tree) json(name string, into any) error {
	b, err := t.read(name)
	if err != nil {
		return err
	}
	if err := wire.Decode(b, into); err != nil {
		return invalid("%s: %v", name, err)
	}
	return nil
}

// codelab reads an archive in our own layout, or in the layout of the reference application.
func (t *tree) codelab(d *document, k *keeper) (*codelab.Create, error) {
	meta, err := d.meta()
	if err != nil {
		return nil, err
	}
	c := &codelab.Create{Origin: codelab.OriginImport, Codelab: meta}
	in, err := t.steps(c, d)
	if err != nil {
		return nil, err
	}
	if err := t.parts(c); err != nil {
		return nil, err
	}
	// The parts above can be invalid, so they were read before any file is stored.
	if err := k.relink(textsOf(c, in)); err != nil {
		return nil, err
	}
	k.checkLogo(c.Codelab)
	c.Materials, err = k.materials()
	return c, err
}

// meta returns the codelab's settings.
func (d *document) meta() (*pb.Codelab, error) {
	if d.Format != "" && d.Format != format || d.FormatVersion > formatVersion {
		return nil, invalid("codelab.json has format %q version %d; this server reads %q up to version %d", d.Format, d.FormatVersion, format, formatVersion)
	}
	m := &pb.Codelab{
		Title: d.Title, Description: d.Description, Author: d.Author, IsPublic: d.IsPublic == nil || bool(*d.IsPublic),
		QuizEnabled: bool(d.QuizEnabled), RequireQuiz: bool(d.RequireQuiz), RequireFeedback: bool(d.RequireFeedback),
		RequireSubmission: bool(d.RequireSubmission), RequireChecks: d.RequireChecks, AiDisabled: d.AIEnabled != nil && !*d.AIEnabled,
		Organiser: d.Organiser, CertificateText: d.CertificateText, Seal: d.Seal, LogoUrl: d.LogoURL,
		QuestionsNamed:     d.QuestionsAnonymous != nil && !*d.QuestionsAnonymous,
		EmailRetentionDays: d.EmailRetentionDays, ChatRetentionDays: d.ChatRetentionDays,
	}
	if d.Format != "" { // the reference application has its own ids
		m.Slug = slugOf(d.Slug)
	}
	asking, err := setting("questions", codelab.Askings, d.Questions)
	if err != nil {
		return nil, err
	}
	sharing, err := setting("share_code", codelab.Sharings, d.ShareCode)
	if err != nil {
		return nil, err
	}
	accent, err := setting("accent", codelab.Accents, d.Accent)
	if err != nil {
		return nil, err
	}
	m.Questions, m.ShareCode, m.Accent = pb.Asking(asking), pb.Sharing(sharing), pb.Accent(accent)
	if d.Hours != nil {
		if m.HalfHours, err = codelab.HalfHours(*d.Hours); err != nil {
			return nil, invalid("codelab.json: %v", err)
		}
	}
	return m, nil
}

// steps reads the steps. It returns the folder to which the addresses in their texts are relative.
func (t *tree) steps(c *codelab.Create, d *document) (in string, err error) {
	names := t.stepNames()
	if d.Format == "" && len(names) == 0 {
		return ".", t.referenceSteps(c, d)
	}
	if err := checkSteps(names); err != nil {
		return "", err
	}
	for _, name := range names {
		b, err := t.readUpTo(name, largestStep)
		if err != nil {
			return "", err
		}
		st, err := parseStep(string(b))
		if err != nil {
			return "", invalid("%s: %v", name, err)
		}
		c.Steps = append(c.Steps, st)
	}
	return "steps", nil
}

// parts reads the guide, the quizzes and the polls, as far as the archive has them.
func (t *tree) parts(c *codelab.Create) error {
	if t.files["guide.md"] != nil && c.Codelab.GuideMarkdown == nil {
		b, err := t.read("guide.md")
		if err != nil {
			return err
		}
		guide := string(b)
		c.Codelab.GuideMarkdown = &guide
	}
	if t.files["quizzes.json"] != nil {
		var quizzes []quiz
		if err := t.json("quizzes.json", &quizzes); err != nil {
			return err
		}
		for _, q := range quizzes {
			c.Quizzes = append(c.Quizzes, q.quiz())
		}
	}
	if t.files["polls.json"] != nil {
		var polls []poll
		if err := t.json("polls.json", &polls); err != nil {
			return err
		}
		for i, st := range c.Steps {
			st.Id = strconv.Itoa(i + 1) // polls refer to it; the codelab creates its own ids
		}
		for _, p := range polls {
			c.Polls = append(c.Polls, p.poll())
		}
	}
	return nil
}

// textsOf returns all texts that can refer to files. Addresses in the steps' texts are relative to
// folder.
func textsOf(c *codelab.Create, folder string) (texts []reading) {
	for i, st := range c.Steps {
		texts = append(texts, reading{&st.ContentMarkdown, folder, i + 1})
	}
	texts = append(texts, reading{&c.Codelab.Description, ".", 0}, reading{&c.Codelab.LogoUrl, ".", 0})
	if c.Codelab.GuideMarkdown != nil {
		texts = append(texts, reading{c.Codelab.GuideMarkdown, ".", 0})
	}
	for _, q := range c.Quizzes {
		for _, text := range append([]*string{&q.Question}, pointers(q.Options)...) {
			texts = append(texts, reading{text, ".", 0})
		}
	}
	return texts
}

// checkLogo removes and reports a logo that is missing from the archive or cannot be used.
func (k *keeper) checkLogo(m *pb.Codelab) {
	if m.LogoUrl == "" {
		return
	}
	name, ok := codelab.LogoName(m.LogoUrl)
	i := slices.IndexFunc(k.all, func(u *pb.Upload) bool { return u.Name == name })
	switch {
	case !ok || i < 0:
		k.t.left.add("codelab.json", "its logo is not a PNG, JPEG or WebP file in the archive", CodeUnknown)
	case k.all[i].Size > codelab.MaxLogo:
		k.t.left.add("codelab.json", fmt.Sprintf("its logo is larger than %d kB", codelab.MaxLogo>>10), CodeTooLarge)
	default:
		return
	}
	m.LogoUrl = ""
}

func pointers(texts []string) []*string {
	out := make([]*string, len(texts))
	for i := range texts {
		out[i] = &texts[i]
	}
	return out
}

// stepNames returns the names of the steps' files, in the order of their numbers.
func (t *tree) stepNames() []string {
	number := func(name string) int {
		base, ok := strings.CutPrefix(name, "steps/")
		if !ok {
			return -1
		}
		n, err := strconv.Atoi(strings.TrimSuffix(base, ".md"))
		if err != nil || !strings.HasSuffix(base, ".md") {
			return -1
		}
		return n
	}
	var names []string
	for name := range t.files {
		if number(name) >= 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(number(a), number(b)), strings.Compare(a, b))
	})
	return names
}

// parseStep reads the front matter of a step, which must have a title. It returns the text after
// the front matter unchanged.
func parseStep(text string) (*pb.Step, error) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return nil, fmt.Errorf("the front matter with the title is missing")
	}
	front, content, ok := strings.Cut(rest, "\n---\n")
	if !ok {
		return nil, fmt.Errorf("the front matter has no end")
	}
	st := &pb.Step{ContentMarkdown: content}
	for l := range strings.Lines(front) {
		key, value, _ := strings.Cut(l, ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "title":
			if strings.HasPrefix(value, `"`) {
				if err := json.Unmarshal([]byte(value), &st.Title); err != nil {
					return nil, fmt.Errorf("the title is not a valid quoted string")
				}
			} else {
				st.Title = value
			}
		case "duration_minutes":
			n, err := strconv.ParseInt(value, 10, 32)
			if err != nil {
				return nil, fmt.Errorf("duration_minutes is not a whole number")
			}
			st.DurationMinutes = int32(n)
		}
	}
	if strings.TrimSpace(st.Title) == "" {
		return nil, fmt.Errorf("the title is missing")
	}
	return st, nil
}

// tutorial reads the first valid claat file of an archive. Files in outer folders come first. At
// most maxTried files are tried.
func (t *tree) tutorial(k *keeper) (*codelab.Create, claat.TitleFrom, error) {
	var names []string
	for name := range t.files {
		if isMarkdown(name) && !isNoise(name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, "", invalid("the archive contains neither codelab.json nor a Markdown file")
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := strings.Count(a, "/") - strings.Count(b, "/"); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	var first error
	var none [][2]string // the files that are not tutorials, and why
	tried := names[:min(len(names), maxTried)]
	for i, name := range tried {
		_, _, err := t.readTutorial(name, noPicture)
		if err == nil {
			c, tut, err := t.readTutorial(name, k.picture(name))
			if err != nil {
				return nil, "", err
			}
			if err := t.relinkSteps(c, k, name, path.Dir(name), tut.Lost); err != nil {
				return nil, "", err
			}
			for _, n := range none {
				if k.kept[files.Materials+"\x00"+n[0]] == nil {
					t.left.add(n[0], "it is not a tutorial: "+n[1], CodeUnknown)
				}
			}
			return c, tut.TitleFrom, t.further(tried[i+1:])
		}
		if !isInvalid(err) {
			return nil, "", err
		}
		if first == nil {
			first = invalid("%s: %v", name, err)
		}
		none = append(none, [2]string{name, err.Error()})
	}
	return nil, "", first
}

// maxTried bounds the files that are tried as a tutorial.
const maxTried = 50

// noPicture removes the images from a text that is only checked.
func noPicture(string) (string, error) { return "data:,", nil }

// readTutorial reads a claat file of the archive.
func (t *tree) readTutorial(name string, picture func(string) (string, error)) (*codelab.Create, *claat.Tutorial, error) {
	t.lately = nil
	b, err := t.unpack(name, maxFile)
	if err != nil {
		return nil, nil, err
	}
	dir := path.Dir(name)
	return t.fromClaat(b, claat.Options{Name: path.Base(name), Picture: picture, Include: func(fragment string) ([]byte, error) {
		fragment = strings.ReplaceAll(fragment, `\`, "/")
		if !safeName(fragment) {
			return nil, fmt.Errorf("the name is not allowed")
		}
		return t.unpack(pathOf(path.Join(dir, fragment)), maxFile)
	}})
}

// further reports the given Markdown files, unless the tutorial includes or links them.
func (t *tree) further(names []string) error {
	for _, name := range names {
		if t.used[name] {
			continue // a fragment
		}
		_, _, err := t.readTutorial(name, noPicture)
		if err != nil && !isInvalid(err) {
			return err
		}
		if err == nil {
			t.left.add(name, "it is another tutorial; a codelab contains only one, so import this file separately", CodeUnknown)
		} else {
			t.left.add(name, "it is not part of the tutorial", CodeUnknown)
		}
	}
	return nil
}

// relinkSteps makes the links in a tutorial's steps point to the files of the archive. It also
// reports the lost parts of the tutorial.
func (t *tree) relinkSteps(c *codelab.Create, k *keeper, name, dir string, lost []string) error {
	for _, what := range lost {
		t.left.add(name, what, CodeUnknown)
	}
	k.own = map[string]bool{}
	for _, name := range t.lately { // includes fragments
		k.own[name] = true
	}
	var texts []reading
	for i, st := range c.Steps {
		texts = append(texts, reading{&st.ContentMarkdown, dir, i + 1})
	}
	if err := k.relink(texts); err != nil {
		return err
	}
	c.Materials = k.linked
	return nil
}

func isInvalid(err error) bool {
	var rejected *durable.Rejection
	return errors.As(err, &rejected) && rejected.Reason == durable.Invalid
}

// setting returns the index of a setting's value in names, or 0 if codelab.json omits the setting.
func setting(field string, names []string, given string) (int, error) {
	i := slices.Index(names, cmp.Or(given, names[0]))
	if i < 0 {
		return 0, invalid("codelab.json: %s must be %s", field, naming.Or(names...))
	}
	return i, nil
}

// slugOf returns a file's id if it is one line and short enough for look-ups, or else "".
func slugOf(id string) string {
	if id, ok := naming.Line(id); ok && utf8.RuneCountInString(id) <= codelab.MaxSlug {
		return id
	}
	return ""
}

// fromClaat creates a codelab from a tutorial.
func (t *tree) fromClaat(b []byte, with claat.Options) (*codelab.Create, *claat.Tutorial, error) {
	var stopped error
	with.Still = func() error {
		stopped = t.still()
		return stopped
	}
	picture, failed := with.Picture, error(nil)
	with.Picture = func(data string) (string, error) {
		to, err := picture(data)
		failed = err
		return to, err
	}
	tut, err := claat.Parse(b, with)
	switch {
	case stopped != nil:
		return nil, nil, stopped
	case failed != nil:
		return nil, nil, failed
	case err != nil:
		return nil, nil, invalid("%v", err)
	}
	c := &codelab.Create{
		Origin:  codelab.OriginImport,
		Codelab: &pb.Codelab{Title: tut.Title, Description: tut.Summary, Author: tut.Author, Slug: slugOf(tut.ID), IsPublic: true},
	}
	c.Polls = tut.Polls
	for i, s := range tut.Steps {
		// Polls refer to the id; the codelab creates its own.
		c.Steps = append(c.Steps, &pb.Step{Id: strconv.Itoa(i + 1), Title: s.Title, ContentMarkdown: s.Markdown, DurationMinutes: int32(s.Duration / time.Minute)})
	}
	return c, tut, nil
}
