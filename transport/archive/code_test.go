package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"atelier/actors/code"
	"atelier/actors/durable"
)

// member is an entry of an archive.
type member struct {
	name    string
	content string
	mode    fs.FileMode
	tarType byte   // for a tar; 0 means a regular file
	link    string // for a tar
	flags   uint16 // for a ZIP
}

// zipOf returns a ZIP as a Unix system writes it. A member with mode 0 has no mode, as if a Windows
// program had written it.
func zipOf(t testing.TB, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Flags: m.flags}
		if m.mode != 0 {
			h.SetMode(m.mode)
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = io.WriteString(w, m.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarOf(t testing.TB, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Mode: int64(m.mode.Perm()), Typeflag: tar.TypeReg, Size: int64(len(m.content)), Linkname: m.link}
		if m.tarType != 0 {
			h.Typeflag = m.tarType
		}
		if m.tarType == tar.TypeXGlobalHeader {
			h = &tar.Header{Typeflag: m.tarType, PAXRecords: map[string]string{"comment": "a commit"}}
		}
		err := w.WriteHeader(h)
		if err == nil {
			_, err = io.WriteString(w, m.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readCode(b []byte) ([]code.File, error) {
	return ReadCode(bytes.NewReader(b), int64(len(b)), func() error { return nil })
}

func listing(files []code.File) string {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "%s %d %q;", f.Path, f.Mode, f.Content)
	}
	return b.String()
}

func TestCodeIsReadWithFileModes(t *testing.T) {
	const want = `run.sh 2 "#!/bin/sh\n";docs/ä.md 1 "# Hi";logo.png 1 "\x89PNG\x00\xff";empty 1 "";`
	for what, b := range map[string][]byte{
		"ZIP": zipOf(t, member{name: "run.sh", content: "#!/bin/sh\n", mode: 0o755}, member{name: "docs/", mode: fs.ModeDir | 0o755},
			member{name: "docs/ä.md", content: "# Hi", mode: 0o644}, member{name: "logo.png", content: "\x89PNG\x00\xff", mode: 0o600}, member{name: "empty", mode: 0o644},
			member{name: "__MACOSX/._run.sh", content: "x", mode: 0o644}, member{name: "docs/.DS_Store", content: "x", mode: 0o644}),
		"tar": tarOf(t, member{tarType: tar.TypeXGlobalHeader}, member{name: "./", tarType: tar.TypeDir, mode: 0o755}, member{name: "./run.sh", content: "#!/bin/sh\n", mode: 0o755},
			member{name: "docs/", tarType: tar.TypeDir, mode: 0o755}, member{name: "docs/ä.md", content: "# Hi", mode: 0o644},
			member{name: "./logo.png", content: "\x89PNG\x00\xff", mode: 0o600}, member{name: "empty", mode: 0o644}, member{name: ".DS_Store", content: "x"}),
	} {
		files, err := readCode(b)
		if err != nil || listing(files) != want {
			t.Errorf("the files of the %s are %s, %v", what, listing(files), err)
		}
	}
	// A Windows program writes no modes.
	files, err := readCode(zipOf(t, member{name: "run.sh", content: "x"}))
	if err != nil || files[0].Mode != code.KeptMode {
		t.Errorf("a file without modes has the mode %v, %v", files, err)
	}
}

func TestHostileArchivesOfCodeAreRefused(t *testing.T) {
	good := member{name: "good", content: "x", mode: 0o644}
	names := map[string]string{
		"/etc/passwd": "absolute", "../x": "..", "a/../../x": "..", "a/./b": `the part "."`, `a\..\..\b`: "..", "C:/x": "Windows", ".git/config": ".git", "a/.GIT/hooks/x": ".git", "git~1/x": ".git",
		"a//b": "empty part", "nul": "Windows", "a/aux.c": "Windows", "a?": "Windows", "a.": "Windows", "a\nb": "control", strings.Repeat("a/", 600) + "b": "longer", strings.Repeat("x", 256): "longer",
	}
	for name, want := range names {
		m := member{name: name, content: "x", mode: 0o644}
		folder := member{name: name + "/", tarType: tar.TypeDir, mode: fs.ModeDir | 0o755}
		refused(t, "ZIP "+name, zipOf(t, good, m), want)
		refused(t, "ZIP folder "+name, zipOf(t, good, member{name: name + "/", mode: fs.ModeDir | 0o755}), want)
		if strings.Contains(name, `\`) {
			want = "backslash" // in a tar, a backslash is not a separator
		}
		refused(t, "tar "+name, tarOf(t, good, m), want)
		refused(t, "tar folder "+name, tarOf(t, good, folder), want)
	}
	for what, mode := range map[string]fs.FileMode{"link": fs.ModeSymlink, "device": fs.ModeDevice, "pipe": fs.ModeNamedPipe, "socket": fs.ModeSocket, "character device": fs.ModeDevice | fs.ModeCharDevice} {
		refused(t, "ZIP with a "+what, zipOf(t, good, member{name: "a", content: "good", mode: mode | 0o644}), "a is not a regular file")
	}
	for what, kind := range map[string]byte{"link": tar.TypeSymlink, "hard link": tar.TypeLink, "device": tar.TypeBlock, "character device": tar.TypeChar, "pipe": tar.TypeFifo} {
		refused(t, "tar with a "+what, tarOf(t, good, member{name: "a", link: "good", tarType: kind}), "a is not a regular file")
	}
	refused(t, "a password", zipOf(t, member{name: "a", content: "x", mode: 0o644, flags: encrypted}), "encrypted")
	refused(t, "empty ZIP", zipOf(t), "no files")
	refused(t, "empty tar", tarOf(t, member{name: "a/", tarType: tar.TypeDir, mode: 0o755}), "no files")
	refused(t, "a half gzip", []byte{0x1f, 0x8b}, "tar.gz")
	for what, b := range map[string][]byte{"nothing": nil, "one byte": {'P'}, "text": []byte("PK"), "an image": []byte("\x89PNG\r\n\x1a\n")} {
		refused(t, what, b, "ZIP")
	}
}

func refused(t *testing.T, what string, b []byte, want string) {
	t.Helper()
	files, err := readCode(b)
	var rejected *durable.Rejection
	if !errors.As(err, &rejected) || rejected.Reason != durable.Invalid || !strings.Contains(err.Error(), want) || files != nil {
		t.Errorf("%.60q: %d files, %v, want the error %q", what, len(files), err, want)
	}
}

// A truncated archive is refused, wherever it ends. An archive with a changed byte is refused
// unless it still has all files with their content.
func TestADamagedArchiveOfCodeIsRefused(t *testing.T) {
	content := strings.Repeat("text that packs ", 100)
	for what, whole := range map[string][]byte{
		"ZIP": zipOf(t, member{name: "a", content: content, mode: 0o644}, member{name: "b", content: "x", mode: 0o644}),
		"tar": tarOf(t, member{name: "a", content: content, mode: 0o644}, member{name: "b", content: "x", mode: 0o644}),
	} {
		want, err := readCode(whole)
		if err != nil {
			t.Fatal(err)
		}
		for n := range whole {
			if _, err := readCode(whole[:n]); err == nil {
				t.Errorf("%s: the first %d of %d bytes are accepted", what, n, len(whole))
			}
			changed := bytes.Clone(whole)
			changed[n] ^= 0x40
			files, err := readCode(changed)
			if err == nil && len(files) != len(want) {
				t.Errorf("%s: with byte %d changed, %d files are accepted", what, n, len(files))
			}
			for i := range files {
				if err == nil && !bytes.Equal(files[i].Content, want[i].Content) {
					t.Errorf("%s: with byte %d changed, another content is accepted", what, n)
				}
			}
		}
	}
}

func TestArchivesOfCodeAreBounded(t *testing.T) {
	zeros := func(n int) string { return strings.Repeat("\x00", n) }
	many := make([]member, code.MaxFiles+1)
	for i := range many {
		many[i] = member{name: fmt.Sprint(i), mode: 0o644}
	}
	folders := make([]member, maxEntries+1)
	for i := range folders {
		folders[i] = member{name: fmt.Sprint(i, "/"), tarType: tar.TypeDir, mode: fs.ModeDir | 0o755}
	}
	var large []member
	for i := range code.MaxTree/code.MaxFile + 1 {
		large = append(large, member{name: fmt.Sprint(i), content: zeros(code.MaxFile), mode: 0o644})
	}
	for what, tc := range map[string]struct {
		members []member
		want    string
	}{
		"files":   {many, "more than 2000 files"},
		"entries": {folders, "more than 10000 entries"},
		"a file":  {[]member{{name: "a", content: zeros(code.MaxFile + 1), mode: 0o644}}, "a is larger than 8 MiB"},
		"a tree":  {large, "more than 64 MiB"},
	} {
		refused(t, "ZIP: "+what, zipOf(t, tc.members...), tc.want)
		refused(t, "tar: "+what, tarOf(t, tc.members...), tc.want)
	}
	if files, err := readCode(tarOf(t, large[:len(large)-1]...)); err != nil || len(files) != 8 {
		t.Errorf("a tree of the maximum size: %d files, %v", len(files), err)
	}
	// Omitted entries are unpacked nevertheless, to reach the later entries.
	noise := member{name: ".DS_Store", content: zeros(code.MaxTree + maxTarOverhead), mode: 0o644}
	refused(t, "tar: noise", tarOf(t, noise, member{name: "a", content: "x"}), "more than 64 MiB")
	// More compressed data can follow the end of a tar.
	var b bytes.Buffer
	b.Write(tarOf(t, member{name: "a", content: "x"}))
	z := gzip.NewWriter(&b)
	for range (code.MaxTree+maxTarOverhead)>>20 + 1 {
		_, _ = io.WriteString(z, zeros(1<<20))
	}
	_ = z.Close()
	refused(t, "tar: behind its end", b.Bytes(), "more than 64 MiB")
}

func TestReadingCodeStopsWhenTheCallerHasLeft(t *testing.T) {
	left := errors.New("left")
	for _, b := range [][]byte{zipOf(t, member{name: "a", mode: 0o644}, member{name: "b", mode: 0o644}), tarOf(t, member{name: "a"}, member{name: "b"})} {
		asked := 0
		_, err := ReadCode(bytes.NewReader(b), int64(len(b)), func() error {
			if asked++; asked == 2 {
				return left
			}
			return nil
		})
		if !errors.Is(err, left) || asked != 2 {
			t.Errorf("asked %d times whether a client waits: %v", asked, err)
		}
	}
}

func FuzzReadCode(f *testing.F) {
	f.Add(zipOf(f, member{name: "a/b", content: "x", mode: 0o755}))
	f.Add(tarOf(f, member{name: "./a/b", content: "x", mode: 0o755}))
	f.Fuzz(func(t *testing.T, b []byte) {
		files, err := readCode(b)
		if err != nil {
			var rejected *durable.Rejection
			if !errors.As(err, &rejected) {
				t.Fatal(err)
			}
			return
		}
		for _, file := range files {
			if code.CheckNewPath(file.Path) != nil {
				t.Fatalf("the path %q is accepted", file.Path)
			}
		}
	})
}
