package archive

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/cow"
	"atelier/actors/files"
	"atelier/persistence/memory"
	"atelier/persistence/objects/contents"
)

// depot imports files and stores their contents.
type depot struct {
	Importer
	t *testing.T
}

func newDepot(t *testing.T) *depot {
	t.Helper()
	blobs, err := contents.Open(contents.Options{Dir: t.TempDir(), MinFreeBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	journal := memory.New()
	t.Cleanup(func() { _ = journal.Close() })
	return &depot{Importer{Files: files.NewRegister(journal, blobs, 0, time.Now), Now: time.Now}, t}
}

func (d *depot) open(b []byte) *Incoming {
	d.t.Helper()
	in, err := d.Open("lab.zip", bytes.NewReader(b), int64(len(b)), always)
	if err != nil {
		d.t.Fatal(err)
	}
	return in
}

// create imports a codelab with its files and returns it.
func (d *depot) create(b []byte) *codelab.View {
	d.t.Helper()
	in := d.open(b)
	for _, u := range in.Uploads {
		if err := d.Files.Add(u); err != nil {
			d.t.Fatal(err)
		}
	}
	if err := in.Close(false); err != nil {
		d.t.Fatal(err)
	}
	v := view(in.Create)
	var materials cow.Vector[*pb.Material]
	for _, m := range in.Materials {
		materials.Append(m)
	}
	v.Materials = materials.Capture()
	return v
}

// sent returns the files of an archive with an image and a material. name is the material's
// original file name.
func sent(t *testing.T, name string) map[string]string {
	t.Helper()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	shown, file := "images/"+strings.Repeat("a", 32)+".png", "materials/"+strings.Repeat("b", 32)+".txt"
	return map[string]string{
		"codelab.json": `{"title":"t","description":"![](/uploads/` + shown + `)"}`, "guide.md": "see /uploads/" + shown, "steps/01.md": "---\ntitle: a\n---\n![](/uploads/" + shown + ")",
		"files/" + shown: picture.String(), "files/" + file: "content",
		"materials.json": fmt.Sprintf(`[{"title":"m","material_type":"file","file":"files/%s"}]`, file), "files.json": fmt.Sprintf(`[{"file":"files/%s","file_name":%q}]`, file, name),
	}
}

// A newer version of a file reuses the codelab's files under their names, so the texts stay the
// same. A file with another name or content is new.
func TestAVersionReusesTheFilesOfItsCodelab(t *testing.T) {
	d := newDepot(t)
	v := d.create(pack(t, sent(t, "notes.txt")))
	var export bytes.Buffer
	if err := Write(&export, v, d.Files); err != nil {
		t.Fatal(err)
	}
	material := v.Materials.At(0).Upload
	names := slices.Sorted(slices.Values(append(v.TextUploads(), material)))
	if len(names) != 2 {
		t.Fatalf("the codelab has the files %q", names)
	}
	changed := sent(t, "notes.txt")
	for name := range changed {
		if strings.HasPrefix(name, "files/materials") {
			changed[name] = "another content"
		}
	}
	for name, tc := range map[string]struct {
		file []byte
		new  int
	}{"its export": {export.Bytes(), 0}, "the same file": {pack(t, sent(t, "notes.txt")), 0}, "another name": {pack(t, sent(t, "other.txt")), 1}, "another content": {pack(t, changed), 1}} {
		in := d.open(tc.file)
		out, reused, err := in.Version(v)
		if err != nil {
			t.Fatal(err)
		}
		if *out.Guide != *v.Meta.GuideMarkdown || out.Description != v.Meta.Description || out.Steps[0].ContentMarkdown != v.Steps[0].ContentMarkdown {
			t.Errorf("%s: the texts are %q, %q and %q", name, *out.Guide, out.Description, out.Steps[0].ContentMarkdown)
		}
		if len(out.Uploads) != tc.new || len(reused) != 2-tc.new || tc.new == 0 && !slices.Equal(reused, names) {
			t.Errorf("%s: %d uploads are new, %q are reused", name, len(out.Uploads), reused)
		}
		if m := *out.Materials; len(m) != 1 || (m[0].Upload == material) != (tc.new == 0) {
			t.Errorf("%s: the materials are %v", name, m)
		}
		if err := in.Close(false); err != nil {
			t.Error(err)
		}
	}
}

// A version in Atelier's own format without a guide removes the codelab's guide. The same applies
// to materials. A tutorial keeps the codelab's guide and materials, and adds the files that it
// links.
func TestAVersionRemovesOnlyWhatItsFormSupports(t *testing.T) {
	d := newDepot(t)
	v := d.create(pack(t, sent(t, "notes.txt")))
	bare := sent(t, "notes.txt")
	delete(bare, "guide.md")
	bare["materials.json"] = "[]"
	out, _, err := d.open(pack(t, bare)).Version(v)
	if err != nil || out.Guide == nil || *out.Guide != "" || out.Materials == nil || len(*out.Materials) != 0 {
		t.Errorf("a version in Atelier's own format without guide and materials: %+v, %v", out, err)
	}
	out, _, err = d.open([]byte(tutorial)).Version(v)
	if err != nil || out.Guide != nil || out.Materials != nil {
		t.Errorf("a version from a tutorial: %+v, %v", out, err)
	}
	out, _, err = d.open(pack(t, map[string]string{"lab.md": tutorial + "\n[more](more.txt)\n", "more.txt": "more"})).Version(v)
	if err != nil || out.Materials == nil || len(*out.Materials) != 2 || (*out.Materials)[0].Upload != v.Materials.At(0).Upload {
		t.Errorf("a version from a tutorial with a file: %+v, %v", out, err)
	}
}

// Close removes the stored contents without references. If the command's outcome is unknown, they
// stay.
func TestUnusedContentsOfAFileAreRemoved(t *testing.T) {
	for unknown, stays := range map[bool]bool{true: true, false: false} {
		d := newDepot(t)
		in := d.open(pack(t, sent(t, "notes.txt")))
		if err := in.Close(unknown); err != nil {
			t.Fatal(err)
		}
		for _, u := range in.Uploads {
			f, _, err := d.Files.Open(u)
			if err == nil {
				_ = f.Close()
			}
			if stays && err != nil || !stays && !errors.Is(err, files.ErrMissing) {
				t.Errorf("with unknown references %v: opening %s returned %v", unknown, u.Name, err)
			}
		}
	}
}

// A tutorial adds at most as many files as a codelab can have materials. The import lists the
// others.
func TestLinkedFilesAreBounded(t *testing.T) {
	sent, text := map[string]string{}, tutorial
	for i := range codelab.Bounds.Materials + 1 {
		name := fmt.Sprintf("%03d.txt", i)
		sent[name] = name
		text += fmt.Sprintf("\n[x](%s)\n", name)
	}
	sent["lab.md"] = text
	c, left, err := readAll(pack(t, sent))
	if err != nil || len(c.Materials) != codelab.Bounds.Materials || len(left) != 1 || left[0].File != fmt.Sprintf("%03d.txt", codelab.Bounds.Materials) {
		t.Errorf("there are %d materials, left out %v, %v", len(c.Materials), left, err)
	}
}

// Each attendee with submissions has a folder with their files and a list of their links. The
// submissions of one attendee can also be downloaded alone.
func TestSubmissionsAreGroupedByAttendee(t *testing.T) {
	d := newDepot(t)
	lease, err := d.Files.Blobs().Put(strings.NewReader("work"), 100)
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Release()
	var attendees cow.Vector[*pb.Attendee]
	for _, a := range []string{"Ann", "Bob", "Cid"} {
		attendees.Append(&pb.Attendee{Id: a, Name: a})
	}
	var handedIn cow.Vector[*pb.Submission]
	for i, s := range []*pb.Submission{
		{AttendeeId: "Ann", FileName: "a.txt", Sum: lease.Sum[:], SubmissionType: codelab.File}, {AttendeeId: "Bob", FileName: "page", LinkUrl: "https://example.org/b", SubmissionType: codelab.Link},
		{AttendeeId: "Ann", FileName: "A.txt", Sum: lease.Sum[:], SubmissionType: codelab.File}, {AttendeeId: "Ann", FileName: "site", LinkUrl: "https://example.org/a", SubmissionType: codelab.Link},
	} {
		s.Id = fmt.Sprint(i)
		handedIn.Append(s)
	}
	// Deleted after the view was made.
	handedIn.Append(&pb.Submission{Id: "gone", AttendeeId: "Bob", FileName: "gone.txt", Sum: bytes.Repeat([]byte{7}, len(lease.Sum)), SubmissionType: codelab.File})
	v := &codelab.View{Attendees: attendees.Capture(), Submissions: handedIn.Capture()}
	for of, want := range map[string]string{
		"":    "Ann/a.txt=work Ann/A (2).txt=work Ann/links.txt=site\nhttps://example.org/a\n\n Bob/missing.txt=gone.txt\n Bob/links.txt=page\nhttps://example.org/b\n\n",
		"Ann": "Ann/a.txt=work Ann/A (2).txt=work Ann/links.txt=site\nhttps://example.org/a\n\n", "Cid": "",
	} {
		var b bytes.Buffer
		p := NewPack(&b, time.Now())
		at, err := p.Submissions(v, d.Files.Blobs(), of)
		if err = errors.Join(err, p.Close()); err != nil {
			t.Fatal(err)
		}
		z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			content, _ := io.ReadAll(r)
			got = append(got, f.Name+"="+string(content))
		}
		if strings.Join(got, " ") != want || of != "Cid" && at["2"] != "Ann/A (2).txt" {
			t.Errorf("submissions of %q: %q, at %v", of, got, at)
		}
	}
}

// An address in code stays as it was written, even if it is the address of a file in the archive.
func TestAddressesInCodeAreNotRewritten(t *testing.T) {
	old := "/uploads/images/" + strings.Repeat("a", 32) + ".png"
	all := sent(t, "notes.txt")
	all["steps/01.md"] = "---\ntitle: a\n---\n![](" + old + ") and `" + old + "`\n\n```\n" + old + "\n```\n"
	c, err := read(pack(t, all))
	if err != nil {
		t.Fatal(err)
	}
	shown := "/uploads/" + c.Uploads[0].Name
	if got, want := c.Steps[0].ContentMarkdown, "![]("+shown+") and `"+old+"`\n\n```\n"+old+"\n```\n"; got != want {
		t.Errorf("the text is %q, want %q", got, want)
	}
}

// A codelab with the maximum of materials is published again. Materials that it already has are not
// reported as left out.
func TestOnlyNewMaterialsAreLeftOut(t *testing.T) {
	v := &codelab.View{}
	var has cow.Vector[*pb.Material]
	for i := range codelab.Bounds.Materials {
		has.Append(&pb.Material{Title: fmt.Sprint(i), Upload: fmt.Sprint("u", i)})
	}
	v.Materials = has.Capture()
	in := &Incoming{Content: &Content{Create: &codelab.Create{}}}
	in.Materials = []*pb.Material{{Title: "0", Upload: "u0"}, {Title: "new", Upload: "x"}, {Title: "newer", Upload: "y"}}
	if out := in.added(v); out != nil || len(in.LeftOut) != 2 || in.LeftOut[0].File != "new" || in.LeftOut[1].File != "newer" {
		t.Errorf("added returned %v and left out %v", out, in.LeftOut)
	}
}
