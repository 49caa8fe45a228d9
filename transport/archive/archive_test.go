package archive

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
)

func pack(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := NewPack(&b, time.Now())
	for name, content := range files {
		if err := z.Add(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func always() error { return nil }

func read(b []byte) (*codelab.Create, error) {
	c, _, err := readAll(b)
	return c, err
}

// keepNothing reads files to their end and counts them.
func keepNothing(n *int) Keep {
	return func(kind, name string, content io.Reader) (*pb.Upload, error) {
		if _, err := io.Copy(io.Discard, content); err != nil {
			return nil, err
		}
		*n++
		return &pb.Upload{Name: files.NewName(kind, "png"), OriginalName: name}, nil
	}
}

func readAll(b []byte) (*codelab.Create, []LeftOut, error) {
	c, err := Read(bytes.NewReader(b), int64(len(b)), Surroundings{Keep: keepNothing(new(int)), Still: always})
	if err != nil {
		return nil, nil, err
	}
	return c.Create, c.LeftOut, nil
}

const tutorial = "id: x\nsummary: s\n\n# T\n\n## One\nDuration: 3\n\ntext\n"

// An import of an export returns the same codelab, byte for byte.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		title := rapid.StringMatching(`[^\x00-\x1f]{0,20}[a-z:"'\\#-]`)
		v := &codelab.View{Meta: &pb.Codelab{
			Id: "i", Title: title.Draw(t, "title"), Description: rapid.String().Draw(t, "description"), Author: "A", IsPublic: rapid.Bool().Draw(t, "public"),
			QuizEnabled: rapid.Bool().Draw(t, "quiz"), RequireFeedback: rapid.Bool().Draw(t, "feedback"), CreatedAt: 1,
			RequireQuiz: rapid.Bool().Draw(t, "require quiz"), RequireSubmission: rapid.Bool().Draw(t, "submission"), RequireChecks: rapid.Bool().Draw(t, "checks"),
			AiDisabled: rapid.Bool().Draw(t, "no AI"), QuestionsNamed: rapid.Bool().Draw(t, "named"), Seal: rapid.Bool().Draw(t, "seal"),
			Questions: pb.Asking(rapid.IntRange(0, len(codelab.Askings)-1).Draw(t, "questions")), ShareCode: pb.Sharing(rapid.IntRange(0, len(codelab.Sharings)-1).Draw(t, "code")),
			Accent: pb.Accent(rapid.IntRange(0, len(codelab.Accents)-1).Draw(t, "accent")), Organiser: rapid.String().Draw(t, "organiser"), CertificateText: rapid.String().Draw(t, "certificate"),
			Slug: rapid.SampledFrom([]string{"", "a-slug"}).Draw(t, "slug"), HalfHours: rapid.SampledFrom([]*int32{nil, new(int32(0)), new(int32(7))}).Draw(t, "hours"),
			EmailRetentionDays: rapid.Int32Range(0, 36_500).Draw(t, "days of e-mail"), ChatRetentionDays: rapid.Int32Range(0, 36_500).Draw(t, "days of chat"),
		}}
		if rapid.Bool().Draw(t, "has guide") {
			v.Meta.GuideMarkdown = proto.String(rapid.String().Draw(t, "guide"))
		}
		for range rapid.IntRange(0, 120).Draw(t, "steps") {
			v.Steps = append(v.Steps, &pb.Step{Title: title.Draw(t, "step"), ContentMarkdown: rapid.SampledFrom([]string{"", "---\n", "\n\n---\ntitle: x\n---\n", "ünï\r\n", "a\n"}).Draw(t, "content"), DurationMinutes: int32(rapid.IntRange(0, 9).Draw(t, "minutes"))})
		}
		if rapid.Bool().Draw(t, "has quizzes") {
			v.Quizzes = []*pb.Quiz{
				{Question: "q", QuizType: codelab.MultipleChoice, Options: []string{"a", "b"}, Correct: []int32{1}},
				{Question: "q", QuizType: codelab.MultipleChoice, Options: []string{"a", "b"}, Correct: []int32{0, 1}, Several: true},
				{Question: "q", QuizType: codelab.Descriptive},
			}
		}
		var polls []*pb.Poll
		if len(v.Steps) > 0 && rapid.Bool().Draw(t, "has polls") {
			for i, st := range v.Steps { // a file refers to steps by number
				st.Id = strconv.Itoa(i + 1)
			}
			polls = []*pb.Poll{
				{Kind: codelab.PollKind(codelab.PollKinds[0]), Question: "q", Options: []string{"a", "b"}, Right: []int32{1}, StepId: v.Steps[len(v.Steps)-1].Id},
				{Kind: codelab.PollKind(codelab.PollKinds[len(codelab.PollKinds)-1]), Question: "r", Anonymous: true},
			}
			for _, p := range polls {
				v.Polls = append(v.Polls, &codelab.PollView{Poll: p})
			}
		}
		var b bytes.Buffer
		if err := Write(&b, v, nil); err != nil {
			t.Fatal(err)
		}
		got, err := read(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		want := &codelab.Create{Origin: codelab.OriginImport, Codelab: v.Meta.Clone(), Steps: v.Steps, Quizzes: v.Quizzes, Polls: polls, Materials: []*pb.Material{}}
		want.Codelab.Id, want.Codelab.CreatedAt = "", 0
		if got, want := asJSON(t, got), asJSON(t, want); got != want {
			t.Fatalf("the imported codelab is\n%s\nwant\n%s", got, want)
		}
	})
}

func asJSON(t *rapid.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Settings that codelab.json omits have the values of a new codelab.
func TestOmittedSettingsHaveTheDefaults(t *testing.T) {
	for text, want := range map[string]*pb.Codelab{
		`{"title":"t"}`: {Title: "t", IsPublic: true},
		`{"title":"t","is_public":false,"ai_enabled":false,"questions_anonymous":false}`: {Title: "t", AiDisabled: true, QuestionsNamed: true},
		`{"title":"t","is_public":1,"ai_enabled":true,"questions_anonymous":true}`:       {Title: "t", IsPublic: true},
	} {
		if c, err := read(pack(t, map[string]string{"codelab.json": text, "steps/01.md": "---\ntitle: a\n---\nx"})); err != nil || !proto.Equal(c.Codelab, want) {
			t.Errorf("the settings %s are read as %v, %v", text, c, err)
		}
	}
}

// A logo must be an image of the archive within the size limit. Any other logo is left out and
// reported.
func TestALogoMustBeAnImageOfTheArchive(t *testing.T) {
	for name, tc := range map[string]struct {
		size int64
		logo string // "" means the logo in the archive
		left Code
	}{
		"of the maximum size": {codelab.MaxLogo, "", ""}, "too large": {codelab.MaxLogo + 1, "", CodeTooLarge}, "at another address": {1, "https://example.org/a.png", CodeUnknown},
	} {
		logo := cmp.Or(tc.logo, files.Folder+files.Images+"/"+strings.Repeat("a", 32)+".png")
		b := pack(t, map[string]string{
			"codelab.json": fmt.Sprintf(`{"title":"t","logo_url":%q}`, logo), "steps/01.md": "---\ntitle: a\n---\nx", folder + files.Images + "/" + strings.Repeat("a", 32) + ".png": "x",
		})
		c, err := Read(bytes.NewReader(b), int64(len(b)), Surroundings{Still: always, Keep: func(kind, _ string, _ io.Reader) (*pb.Upload, error) {
			return &pb.Upload{Name: files.NewName(kind, "png"), Size: tc.size}, nil
		}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		named := slices.ContainsFunc(c.LeftOut, func(l LeftOut) bool { return l.File == "codelab.json" && l.Code == tc.left })
		if (c.Codelab.LogoUrl == "") != (tc.left != "") || named != (tc.left != "") {
			t.Errorf("a logo %s: the codelab has %q, left out %v", name, c.Codelab.LogoUrl, c.LeftOut)
		}
	}
}

func TestTutorialsCanBeFilesOrArchives(t *testing.T) {
	for name, b := range map[string][]byte{
		"claat file":         []byte(tutorial),
		"ZIP of a file":      pack(t, map[string]string{"lab.md": tutorial, "img/a.png": "x"}),
		"ZIP with a folder":  pack(t, map[string]string{"lab/index.md": tutorial, "lab/README.md": "# no tutorial"}),
		"ZIP with fragments": pack(t, map[string]string{"a/lab.md": tutorial + "\n<<part.md>>\n", "a/part.md": "more"}),
	} {
		c, err := read(b)
		if err != nil {
			t.Errorf("%s: reading returned %v", name, err)
			continue
		}
		if c.Codelab.Title != "T" || len(c.Steps) != 1 || c.Steps[0].DurationMinutes != 3 || c.Codelab.Description != "s" {
			t.Errorf("%s is read as %v", name, c)
		}
	}
}

// Each hostile archive is rejected as Invalid.
func TestHostileArchivesAreRejected(t *testing.T) {
	link := func() []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		h := &zip.FileHeader{Name: "lab.md"}
		h.SetMode(fs.ModeSymlink | 0o777)
		w, _ := z.CreateHeader(h)
		_, _ = w.Write([]byte(tutorial)) // a regular file with this content is accepted
		_ = z.Close()
		return b.Bytes()
	}
	many := map[string]string{}
	for i := range maxEntries + 1 {
		many[fmt.Sprint(i)] = ""
	}
	bomb := map[string]string{"lab.md": tutorial}
	for i := range 4 {
		bomb[fmt.Sprint("z", i)] = strings.Repeat("\x00", 16<<20)
	}
	whole := pack(t, map[string]string{"codelab.json": `{"title":"t"}`})
	for name, b := range map[string][]byte{
		"empty":                        {},
		"not an archive":               []byte("PK\x03\x04 and nothing"),
		"truncated":                    whole[:len(whole)-30],
		"binary":                       {0, 1, 2, 3},
		"dot dot":                      pack(t, map[string]string{"../lab.md": tutorial}),
		"dot dot inside":               pack(t, map[string]string{"a/../../lab.md": tutorial}),
		"absolute":                     pack(t, map[string]string{"/lab.md": tutorial}),
		"backslash":                    pack(t, map[string]string{`..\lab.md`: tutorial}),
		"NUL":                          pack(t, map[string]string{"lab.md\x00.png": tutorial}),
		"link":                         link(),
		"too many":                     pack(t, many),
		"bomb":                         pack(t, bomb),
		"include from a parent folder": pack(t, map[string]string{"a/lab.md": tutorial + "<<../x.md>>\n", "x.md": "x"}),
		"newer format":                 pack(t, map[string]string{"codelab.json": `{"format":"atelier-codelab","format_version":99,"title":"t"}`}),
		"not JSON":                     pack(t, map[string]string{"codelab.json": `{`}),
		"wrong type":                   pack(t, map[string]string{"codelab.json": `{"title":5}`}),
		"bad UTF-8":                    pack(t, map[string]string{"codelab.json": "{\"title\":\"\xff\"}"}),
		"step without front":           pack(t, map[string]string{"codelab.json": `{"title":"t"}`, "steps/01.md": "text"}),
		"no tutorial":                  pack(t, map[string]string{"a.txt": "x"}),
	} {
		_, err := read(b)
		var r *durable.Rejection
		if !errors.As(err, &r) || r.Reason != durable.Invalid || r.Text == "" {
			t.Errorf("%s: %v, want Invalid", name, err)
		}
	}
}

// A text of 32 MiB is accepted. A larger text is refused, and its rest is not unpacked.
func TestTextsOfAnArchiveAreBounded(t *testing.T) {
	for size, ok := range map[int]bool{maxFile: true, maxFile + 1: false} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for name, content := range map[string]string{"codelab.json": `{"title":"t"}`, "steps/01.md": "---\ntitle: a\n---\nx", "guide.md": strings.Repeat("x", size)} {
			w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
			if err == nil {
				_, err = io.WriteString(w, content)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if c, err := read(b.Bytes()); (err == nil) != ok || !ok && !strings.Contains(err.Error(), "guide.md is too large") || ok && len(*c.Codelab.GuideMarkdown) != size {
			t.Errorf("a text of %d bytes: %v", size, err)
		}
	}
}

// A small archive with long or many steps would need much memory before the codelab refuses them.
func TestStepsAreBoundedBeforeTheyAreUnpacked(t *testing.T) {
	for name, c := range map[string]struct {
		steps map[string]int // sizes in bytes
		want  string
	}{
		"long":                               {map[string]int{"steps/01.md": int(largestStep) + 1}, "steps/01.md is too large"},
		"long, of the reference application": {map[string]int{"step_01_a.md": int(largestStep) + 1}, "step_01_a.md is too large"},
		"many":                               {many("steps/%03d.md"), "has 201 steps"}, "many, of the reference application": {many("step_%03d_a.md"), "has 201 steps"},
	} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		document := `{"title":"t","format":"atelier-codelab","format_version":1}`
		if strings.Contains(name, "reference") {
			document = `{"title":"t"}`
		}
		for file, size := range c.steps {
			w, err := z.Create(file)
			if err == nil {
				_, err = io.WriteString(w, "---\ntitle: a\n---\n"+strings.Repeat("x", size))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		w, err := z.Create("codelab.json")
		if err == nil {
			_, err = io.WriteString(w, document)
		}
		if err = errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := read(b.Bytes()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, c.want)
		}
	}
}

func many(name string) map[string]int {
	out := map[string]int{}
	for i := range codelab.Bounds.Steps + 1 {
		out[fmt.Sprintf(name, i+1)] = 1
	}
	return out
}

// If the sum of the sizes overflows, the archive is refused before anything is unpacked.
func TestSizesThatOverflowAreRefused(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, claimed := range map[string]uint64{"lab.md": 100, "a.md": math.MaxUint64 - 50} {
		w, err := z.CreateRaw(&zip.FileHeader{Name: name, UncompressedSize64: claimed, CompressedSize64: 1})
		if err == nil {
			_, err = w.Write([]byte("x"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := read(b.Bytes()); err == nil || !strings.Contains(err.Error(), "unpacks to more than") {
		t.Errorf("sizes that overflow: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(tutorial))
	f.Add(pack(f, map[string]string{"codelab.json": `{"title":"t"}`, "steps/01.md": "---\ntitle: a\n---\nx", "quizzes.json": `[{"question":"q"}]`, "guide.md": "g"}))
	f.Add(pack(f, map[string]string{"lab.md": tutorial + "<<p.md>>", "p.md": "x"}))
	f.Add(pack(f, map[string]string{"lab.md": tutorial + "![](a.png)", "a.png": "x"}))
	name := strings.Repeat("a", 32) + ".png"
	f.Add(pack(f, map[string]string{
		"codelab.json": `{"title":"t"}`, "guide.md": "/uploads/images/" + name, "files/images/" + name: "x",
		"materials.json": `[{"title":"t","material_type":"file","file":"files/images/` + name + `"}]`, "files.json": `[{"file":"a","file_name":"b"}]`,
	}))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := read(b)
		if err == nil && c.Codelab == nil {
			t.Fatal("a file was accepted, but has no codelab")
		}
	})
}
