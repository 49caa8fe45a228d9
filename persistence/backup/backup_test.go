package backup

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folder returns a section that saves and loads the folder dir unchanged.
func folder(name, dir string) Section {
	return Section{Name: name, Folder: name, Save: func(w io.Writer) error { return SaveFolder(w, dir) }, Load: LoadFolder}
}

// tree creates a folder with files, given as pairs of path and content.
func tree(t testing.TB, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(files[i+1]), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func sample(t testing.TB) ([]byte, []Section) {
	t.Helper()
	large := strings.Repeat("large ", FrameBytes/3)
	sections := []Section{
		folder("store", tree(t, "a", "one", "deep/er/b", large, "empty", "")),
		folder("files", tree(t, "c", "three")),
	}
	var b bytes.Buffer
	if err := Write(&b, sections...); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), sections
}

func TestASectionIsRestoredUnchanged(t *testing.T) {
	saved, sections := sample(t)
	data := t.TempDir()
	if err := Restore(data, bytes.NewReader(saved), sections...); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"store/a": "one", "store/deep/er/b": strings.Repeat("large ", FrameBytes/3), "store/empty": "", "files/c": "three"} {
		if got, err := os.ReadFile(filepath.Join(data, name)); err != nil || string(got) != want {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	if err := Restore(data, bytes.NewReader(saved), sections...); err == nil {
		t.Error("the restore overwrote existing data")
	}
	left(t, data, "files", "store")
}

// The store refers to the other sections, so a restore places it last. After a crash in between,
// the store does not exist yet, so the restore can be repeated.
func TestTheStoreIsPlacedLast(t *testing.T) {
	saved, sections := sample(t)
	data := t.TempDir()
	// A folder that cannot be replaced interrupts the restore like a crash.
	in := filepath.Join(data, "files")
	for i := range sections {
		load := sections[i].Load
		sections[i].Load = func(dir string, r io.Reader) error {
			err := load(dir, r)
			if filepath.Base(dir) == "files" {
				err = errors.Join(err, os.MkdirAll(in, 0o700), os.WriteFile(filepath.Join(in, "taken"), nil, 0o600))
			}
			return err
		}
	}
	if err := Restore(data, bytes.NewReader(saved), sections...); err == nil {
		t.Fatal("the restore overwrote existing data")
	}
	left(t, data, "files")
}

func left(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if err != nil || strings.Join(names, " ") != strings.Join(want, " ") {
		t.Errorf("%s contains %q, %v", dir, names, err)
	}
}

func TestDamagedBackupsChangeNothing(t *testing.T) {
	saved, sections := sample(t)
	flip := func(at int) []byte {
		b := bytes.Clone(saved)
		b[at] ^= 1
		return b
	}
	for name, b := range map[string][]byte{
		"empty": nil, "other": []byte("PK\x03\x04 something\n"), "header only": saved[:17], "half": saved[:len(saved)/2],
		"no end": saved[:len(saved)-len("end\n")], "cut": saved[:len(saved)-10], "more": append(bytes.Clone(saved), 'x'),
		"flipped header": flip(3), "flipped name": flip(26), "flipped content": flip(len(saved) / 2), "flipped tail": flip(len(saved) - 20),
		"twice": append(bytes.Clone(saved[:len(saved)-4]), saved[17:]...),
	} {
		data := t.TempDir()
		if err := Restore(data, bytes.NewReader(b), sections...); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewer) {
			t.Errorf("restoring the backup %q: %v, want ErrDamaged or ErrNewer", name, err)
		}
		left(t, data)
	}
}

func TestANewerBackupIsRefused(t *testing.T) {
	saved, sections := sample(t)
	if err := Restore(t.TempDir(), strings.NewReader("atelier-backup 3\nend\n"), sections...); !errors.Is(err, ErrNewer) {
		t.Errorf("restoring a backup of a newer version: %v, want ErrNewer", err)
	}
	if err := Restore(t.TempDir(), bytes.NewReader(saved), sections[0]); !errors.Is(err, ErrNewer) {
		t.Errorf("restoring an unknown section: %v, want ErrNewer", err)
	}
}

// A backup of version 1 contains only the store. Its first line is a part of the store's data.
func TestABackupOfTheFirstVersionIsReadAsTheStore(t *testing.T) {
	const old = "atelier-backup 1 store-format 1\nand the rest"
	data := t.TempDir()
	store := Section{Name: "store", Folder: "store", Load: func(dir string, r io.Reader) error {
		b, err := io.ReadAll(r)
		if string(b) != old {
			t.Errorf("the store section is %q", b)
		}
		return errors.Join(err, os.Mkdir(dir, 0o700))
	}}
	if err := Restore(data, strings.NewReader(old), folder("files", ""), store); err != nil {
		t.Fatal(err)
	}
	left(t, data, "store")
}

func TestASectionIsOptional(t *testing.T) {
	_, sections := sample(t)
	var b bytes.Buffer
	if err := Write(&b, sections[1]); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	if err := Restore(data, &b, sections...); err != nil {
		t.Fatal(err)
	}
	left(t, data, "files")
}

// A restore accepts an empty folder but overwrites no files.
func TestARestoreNeedsAnEmptyFolder(t *testing.T) {
	for name, tc := range map[string]struct {
		dir    string
		vacant bool
	}{"missing": {filepath.Join(t.TempDir(), "none"), true}, "empty": {tree(t), true}, "with a file": {tree(t, "a", ""), false}, "with a folder": {filepath.Dir(tree(t)), false}} {
		if err := CheckVacant(tc.dir); (err == nil) != tc.vacant {
			t.Errorf("CheckVacant of the folder %q: %v", name, err)
		}
	}
}

// A backup without a required section is refused, and nothing is written.
func TestABackupWithoutARequiredSectionIsRefused(t *testing.T) {
	_, sections := sample(t)
	var b bytes.Buffer
	if err := Write(&b, sections[1]); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	sections[0].Required = true
	if err := Restore(data, &b, sections...); err == nil || !strings.Contains(err.Error(), "does not contain store") {
		t.Errorf("restoring without the store section: %v", err)
	}
	left(t, data)

	// A backup of version 1 has only the store.
	sections[0].Required, sections[1].Required = false, true
	old := strings.NewReader("atelier-backup 1 store-format 1\nand the rest")
	if err := Restore(data, old, sections...); err == nil || !strings.Contains(err.Error(), "does not contain "+sections[1].Name) {
		t.Errorf("restoring a backup of version 1 without a required section: %v", err)
	}
	left(t, data)
}

// A restore fails if a section's Load did not read to the end, because the unread part was not
// verified.
func TestASectionMustBeReadToItsEnd(t *testing.T) {
	saved, sections := sample(t)
	data := t.TempDir()
	sections[1].Load = func(dir string, r io.Reader) error {
		_, err := io.ReadFull(r, make([]byte, 10))
		return errors.Join(err, os.Mkdir(dir, 0o700))
	}
	if err := Restore(data, bytes.NewReader(saved), sections...); !errors.Is(err, ErrDamaged) {
		t.Errorf("restoring a section that was not read to its end: %v, want ErrDamaged", err)
	}
	left(t, data)
}

// A section can prepare a restore elsewhere than in a folder. The restore calls its Discard at the
// end, whether the backup is complete or damaged.
func TestASectionDiscardsItsPreparations(t *testing.T) {
	saved, sections := sample(t)
	for name, in := range map[string][]byte{"whole": saved, "cut off": saved[:len(saved)-1], "none": nil} {
		var calls []string
		called := func(what string) func() error {
			return func() error { calls = append(calls, what); return nil }
		}
		of := slices.Clone(sections)
		of[1].Folder, of[1].Vacant, of[1].Discard = "beside", called("vacant"), called("discard")
		of[1].Place = func(string) error { return called("place")() }
		data := t.TempDir()
		if err := Restore(data, bytes.NewReader(in), of...); (err == nil) != (name == "whole") {
			t.Errorf("%s: %v", name, err)
		}
		want := map[string]string{"whole": "vacant place discard"}[name]
		if want == "" {
			want = "vacant discard"
			left(t, data)
		}
		if got := strings.Join(calls, " "); got != want {
			t.Errorf("%s: the calls are %s, want %s", name, got, want)
		}
	}
}

// Write takes the holds of all sections before it saves the first, and releases them after the
// last.
func TestAllHoldsAreTakenDuringABackup(t *testing.T) {
	held := false
	save := func(io.Writer) error {
		if !held {
			t.Error("a section was saved without its hold")
		}
		return nil
	}
	err := Write(io.Discard, Section{Name: "store", Save: save}, Section{Name: "files", Save: save, Hold: func() (func(), error) {
		held = true
		return func() { held = false }, nil
	}})
	if err != nil || held {
		t.Errorf("after the backup: held %v, %v", held, err)
	}
}

func TestPathsOutsideTheFolderAreRefused(t *testing.T) {
	var b bytes.Buffer
	if err := SaveFolder(&b, tree(t, "a", "one")); err != nil {
		t.Fatal(err)
	}
	hostile := bytes.Replace(b.Bytes(), []byte("a\x00"), []byte("../a\x00"), 1)[:b.Len()]
	parent := t.TempDir()
	if err := LoadFolder(filepath.Join(parent, "in"), bytes.NewReader(hostile)); err == nil {
		t.Error("a path outside the folder was accepted")
	}
	left(t, parent, "in")
}

// SaveFolder skips a named subfolder only directly in the folder, not at deeper levels.
func TestAFolderIsSavedWithoutSkippedEntries(t *testing.T) {
	var b bytes.Buffer
	if err := SaveFolder(&b, tree(t, "a", "", "cache/b", "", "cached/c", "", "deep/cache/d", ""), "cache"); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "in")
	if err := LoadFolder(dir, &b); err != nil {
		t.Fatal(err)
	}
	left(t, dir, "a", "cached", "deep")
	left(t, filepath.Join(dir, "deep"), "cache")
}

func FuzzRestore(f *testing.F) {
	saved, sections := sample(f)
	f.Add([]byte("atelier-backup 2\nsection files\n"))
	f.Add(saved[:200])
	f.Add([]byte("atelier-backup 1 store-format 1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		data := t.TempDir()
		if err := Restore(data, bytes.NewReader(b), sections...); err != nil {
			left(t, data)
		}
	})
}

// Append adds sections only to a complete backup, because otherwise a damaged backup would look
// complete.
func TestSectionsAreAddedOnlyToACompleteBackup(t *testing.T) {
	saved, sections := sample(t)
	more := folder("more", tree(t, "d", "four"))
	for name, before := range map[string][]byte{
		"whole":                   saved,
		"without its end":         saved[:len(saved)-len(endLine)-1],
		"without a line end":      saved[:len(saved)-1],
		"with a wrong end line":   append(slices.Clone(saved[:len(saved)-2]), "s\n"...),
		"with data after the end": append(slices.Clone(saved), '\n'),
		"short":                   saved[:2],
		"empty":                   nil,
	} {
		path := filepath.Join(t.TempDir(), "backup")
		if err := os.WriteFile(path, before, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		err = Append(f, more)
		if name == "whole" != (err == nil) || err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("adding to the backup %q: %v", name, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if name != "whole" {
			if !bytes.Equal(after, before) {
				t.Errorf("the backup %s was changed", name)
			}
			continue
		}
		data := t.TempDir()
		if err := Restore(data, bytes.NewReader(after), append(sections, more)...); err != nil {
			t.Fatal(err)
		}
		left(t, data, "files", "more", "store")
	}
}

// A restored file is readable only by its owner, whatever its mode was, because the file can
// contain secrets.
func TestRestoredFilesAreReadableByTheirOwnerOnly(t *testing.T) {
	dir := tree(t, "open", "1", "program", "2", "closed", "3")
	want := map[string]os.FileMode{"open": 0o600, "program": 0o700, "closed": 0o600}
	for name, mode := range map[string]os.FileMode{"open": 0o666, "program": 0o755, "closed": 0o400} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	var saved bytes.Buffer
	err := SaveFolder(&saved, dir)
	to := filepath.Join(t.TempDir(), "restored")
	if err == nil {
		err = LoadFolder(to, &saved)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range want {
		if info, err := os.Stat(filepath.Join(to, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("the mode of %s is %v, %v", name, info.Mode(), err)
		}
	}
}

// growing is a writer that lets a file grow when the first bytes of the backup are written.
type growing struct {
	bytes.Buffer
	path string
}

func (g *growing) Write(p []byte) (int, error) {
	if g.path != "" {
		f, err := os.OpenFile(g.path, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(" and more")
			err = errors.Join(err, f.Close())
		}
		if g.path = ""; err != nil {
			return 0, err
		}
	}
	return g.Buffer.Write(p)
}

// A file that grows while it is being saved, such as a log, is saved with its earlier contents.
func TestAGrowingFileIsSavedWithItsEarlierContents(t *testing.T) {
	dir := tree(t, "log", "one")
	saved := &growing{path: filepath.Join(dir, "log")}
	err := SaveFolder(saved, dir)
	to := filepath.Join(t.TempDir(), "restored")
	if err == nil {
		err = LoadFolder(to, saved)
	}
	if got, failed := os.ReadFile(filepath.Join(to, "log")); err != nil || failed != nil || string(got) != "one" {
		t.Errorf("the restored file contains %q, %v, %v", got, err, failed)
	}
}
