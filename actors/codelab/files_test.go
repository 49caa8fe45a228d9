package codelab

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
)

// Names of uploads.
var (
	image = "images/" + strings.Repeat("a", 32) + ".png"
	paper = "materials/" + strings.Repeat("b", 32) + ".pdf"
)

// note records the audit records, the figures and the references to files among the rows. A
// reference that ends after the grace period counts as ended.
func (l *lab) note(rows []durable.Row) {
	for _, r := range rows {
		if r.Table == "audit" {
			l.audits = append(l.audits, l.made[string(r.Key)])
		}
		if r.Table == "figures" {
			if l.figures = nil; r.Delete {
				continue
			}
			l.figures = &pb.Figures{}
			if err := l.figures.Decode(r.Value); err != nil {
				panic(err)
			}
		}
		if r.Table != "uploaduses" && r.Table != "blobuses" {
			continue
		}
		key := r.Table + " " + strings.ReplaceAll(string(r.Key), "\x00", " ")
		if r.Delete || r.TTL > 0 {
			delete(l.uses, key)
		} else {
			l.uses[key] = true
		}
	}
}

// checkUses verifies that the recorded references equal the references in the state.
func checkUses(t *rapid.T, l *lab) {
	t.Helper()
	want := map[string]bool{}
	use := func(name string, by files.By) { want["uploaduses "+name+" lab "+string(by)] = true }
	for name := range l.inText() {
		use(name, files.ByText)
	}
	for _, m := range l.materials.All() {
		if m.Upload != "" {
			use(m.Upload, files.ByMaterial)
		}
	}
	talk := names{}
	for _, m := range l.chat.All() {
		talk.add(m.Message)
	}
	for _, th := range l.threads.All() {
		for _, m := range th.Messages {
			talk.add(m.Message)
		}
	}
	for name := range talk {
		use(name, files.ByTalk)
	}
	for _, s := range l.submissions.All() {
		if sum, ok := files.SumOf(s.Sum); ok {
			want["blobuses "+sum.String()+" s lab "+s.Id] = true
		}
	}
	if !maps.Equal(l.uses, want) {
		t.Fatalf("recorded references are\n%q\nthe state has\n%q", slices.Sorted(maps.Keys(l.uses)), slices.Sorted(maps.Keys(want)))
	}
}

// anyFileCommand draws a command about files if cmd has no body yet.
func anyFileCommand(t *rapid.T, l *lab, cmd *Command, whom string) {
	if cmd.Body != nil {
		return
	}
	n := rapid.IntRange(0, 3).Draw(t, "file")
	var materials, submissions []string
	for _, m := range l.materials.All() {
		materials = append(materials, m.Id)
	}
	for _, s := range l.submissions.All() {
		submissions = append(submissions, s.Id)
		if n == 1 {
			whom = s.AttendeeId
		}
	}
	pick := func(known []string) string {
		return rapid.SampledFrom(append(known, "nothing")).Draw(t, "which")
	}
	switch n {
	case 0:
		cmd.Caller = admin
		m := &pb.Material{Title: "m", MaterialType: Link, LinkUrl: "https://example.org"}
		if rapid.Bool().Draw(t, "is file") {
			m = &pb.Material{Title: "m", MaterialType: File, Upload: rapid.SampledFrom([]string{paper, image}).Draw(t, "upload")}
		}
		cmd.Body = AddMaterial{Material: m}
	case 1:
		cmd.Body = DeleteSubmission{AttendeeID: whom, SubmissionID: pick(submissions)}
	case 2:
		cmd.Caller = admin
		cmd.Body = DeleteMaterial{MaterialID: pick(materials)}
	case 3:
		s := &pb.Submission{AttendeeId: cmd.Caller.ID, SubmissionType: Link, LinkUrl: "https://example.org"}
		if rapid.Bool().Draw(t, "is file") {
			s = &pb.Submission{
				AttendeeId: cmd.Caller.ID, SubmissionType: File, FileName: "f", FileSize: 9 << 20,
				Sum: bytes.Repeat([]byte{byte(rapid.IntRange(1, 3).Draw(t, "sum"))}, 32),
			}
		}
		cmd.Body = AddSubmission{Submission: s}
	}
}

func TestUnreferencedFilesStayForTheGracePeriod(t *testing.T) {
	l := newLab()
	l.rules.FileGrace = time.Hour
	l.create(t, "one")
	text := "![](/uploads/" + image + ")"
	for _, step := range []struct {
		guide string
		want  string
	}{{text, "use"}, {text + " more", ""}, {"", "let go"}} {
		d, err := l.Decide(Command{Caller: admin, Body: Update{GuideMarkdown: &step.guide}}, durable.Env{Now: l.now})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, r := range d.Rows {
			if r.Table == "uploaduses" {
				got = "use"
				if r.TTL == time.Hour && !r.Delete {
					got = "let go"
				}
			}
		}
		if got != step.want {
			t.Errorf("guide %q: the reference is %q, want %q", step.guide, got, step.want)
		}
		l.Apply(l.seq+1, d.Events[0])
		l.seq++
	}
}

func TestFileNamesAreSanitized(t *testing.T) {
	for sent, want := range map[string]string{
		"a.txt": "a.txt", "": "file", "..": "file", ".": "file", "/etc/passwd": "passwd", `C:\x\y.doc`: "y.doc", "a/": "file", " a ": "a",
		"a\x00b\n.txt": "ab.txt", "\xff.txt": "_.txt", "\u202etxt.exe": "txt.exe", ".bashrc": ".bashrc",
		strings.Repeat("ä", 300) + ".tar": strings.Repeat("ä", 76) + ".tar", strings.Repeat("x", 100): strings.Repeat("x", 80),
		"a." + strings.Repeat("y", 200):       "a." + strings.Repeat("y", 78),
		strings.Repeat("x", 79) + " and more": strings.Repeat("x", 79), strings.Repeat(".", 79) + " " + strings.Repeat("x", 20): "file",
	} {
		if got := FileName(sent); got != want {
			t.Errorf("FileName(%q) = %q, want %q", sent, got, want)
		}
	}
}

func FuzzFileName(f *testing.F) {
	for _, s := range []string{"a", "../..", "a\x00", "\u202e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sent string) {
		name := FileName(sent)
		if name == "" || strings.ContainsAny(name, "/\\\x00\n") || strings.Trim(name, ".") == "" || len([]rune(name)) > maxFileName || FileName(name) != name {
			t.Errorf("FileName(%q) = %q, and FileName of that is %q", sent, name, FileName(name))
		}
	})
}

// When there are too many messages, the oldest are removed. In an earlier version, they were not
// removed: the function passed to Filter counted its calls, but Filter called it twice per element.
func TestTheOldestChatMessagesAreRemoved(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	const n = maxChat + maxChat/10 + 1
	for i := range n {
		id := fmt.Sprintf("00000000-0000-7000-8000-%012d", i)
		l.applyChat(uint64(i), &pb.ChatMessage{Id: id})
	}
	if got, first := l.chat.Len(), l.chat.At(0).Id; got != maxChat || !strings.HasSuffix(first, fmt.Sprint(n-maxChat)) {
		t.Errorf("%d messages are kept, the oldest is %s", got, first)
	}
}

func TestMaterialsAndSubmissionsAreBounded(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	add := Command{Caller: admin, Body: AddMaterial{Material: &pb.Material{Title: "m", MaterialType: Link, LinkUrl: "http://a"}}}
	for range maxMaterials {
		if _, err := l.do(add); err != nil {
			t.Fatal(err)
		}
	}
	var r *durable.Rejection
	if _, err := l.do(add); !errors.As(err, &r) || r.Reason != durable.Conflict {
		t.Errorf("one material too many: %v", err)
	}
	reg, err := l.do(Command{Caller: &Caller{Role: RoleAnyone}, Body: Register{Name: "Lin"}})
	if err != nil {
		t.Fatal(err)
	}
	lin := attendeeCaller(reg.(Registration).Attendee)
	hand := Command{Caller: lin, Body: AddSubmission{Submission: &pb.Submission{AttendeeId: lin.ID, SubmissionType: Link, LinkUrl: "http://a"}}}
	for range maxSubmissions {
		if _, err := l.do(hand); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.do(hand); !errors.As(err, &r) || r.Reason != durable.Conflict {
		t.Errorf("one submission too many: %v", err)
	}
}
