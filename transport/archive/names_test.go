package archive

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// raw is a ZIP entry whose header fields are written unchanged, as other programs write them.
type raw struct {
	name, content string
	flags, maker  uint16
	extra         []byte
}

// asWritten returns a ZIP with exactly these names and flags, which Go's writer might change.
func asWritten(t testing.TB, entries ...raw) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Store, Flags: e.flags, CreatorVersion: e.maker << 8, Extra: e.extra}
		h.CRC32, h.CompressedSize64, h.UncompressedSize64 = crc32.ChecksumIEEE([]byte(e.content)), uint64(len(e.content)), uint64(len(e.content))
		w, err := z.CreateRaw(h)
		if err == nil {
			_, err = w.Write([]byte(e.content))
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

// named returns two extra fields: an unrelated field, and a Unicode Path field with name. of is the
// name in the entry's header.
func named(name, of string) []byte {
	out := binary.LittleEndian.AppendUint16([]byte{0x55, 0x54, 1, 0, 0}, unicodePath) // after the unrelated field
	out = binary.LittleEndian.AppendUint16(out, uint16(5+len(name)))
	out = binary.LittleEndian.AppendUint32(append(out, 1), crc32.ChecksumIEEE([]byte(of)))
	return append(out, name...)
}

func TestEntryNamesAreDecodedAsTheirAuthorsWroteThem(t *testing.T) {
	const windows, unix = 0, madeByUnix
	for what, tc := range map[string]struct {
		entry raw
		link  string
	}{
		"backslashes":                    {raw{name: `img\a.png`}, "img/a.png"},
		"code page 437":                  {raw{name: "bild_\x81.png"}, "bild_ü.png"},
		"code page 437, Unix":            {raw{name: "\x84\x94.png", maker: unix}, "äö.png"},
		"UTF-8 and its flag":             {raw{name: "ü.png", flags: flagUTF8}, "ü.png"},
		"UTF-8, no flag, Unix":           {raw{name: "ü.png", maker: unix}, "ü.png"},
		"UTF-8, no flag, DOS":            {raw{name: "ü.png", maker: windows}, "├╝.png"},
		"the extra field":                {raw{name: "?.png", extra: named("日本.png", "?.png")}, "日本.png"},
		"an extra field, different name": {raw{name: "a.png", extra: named("b.png", "x.png")}, "a.png"},
		"decomposed":                     {raw{name: "u\u0308.png", flags: flagUTF8}, "ü.png"},
		"composed":                       {raw{name: "ü.png", flags: flagUTF8}, "u\u0308.png"},
		"redundant ./":                   {raw{name: "./img/./a.png"}, "img/a.png"},
	} {
		tc.entry.content = "x"
		c, left, err := readAll(asWritten(t, raw{name: "lab.md", content: tutorial + "![](<" + tc.link + ">)"}, tc.entry))
		if err != nil || len(left) != 0 || len(c.Uploads) != 1 {
			t.Errorf("%s: %v, left out %v", what, err, left)
		}
	}
}

func TestAnUnreadableNameSkipsOnlyItsEntry(t *testing.T) {
	c, left, err := readAll(asWritten(t, raw{name: "lab.md", content: tutorial},
		raw{name: "\xff\xfe.png", flags: flagUTF8}, raw{name: "a\x00.png"}, raw{name: "b\n.png"}, raw{name: ""}, raw{name: strings.Repeat("x", maxNameBytes+1)}))
	if err != nil || c.Codelab.Title != "T" || len(left) != 5 {
		t.Fatalf("%v, left out %q", err, left)
	}
	for _, l := range left {
		if l.Code != CodeUnreadableName || strings.ContainsAny(l.File, "\x00\n") || !utf8.ValidString(l.File) {
			t.Errorf("%q was left out, want an unreadable name", l)
		}
	}
}

func TestTheFirstOfDuplicateEntriesIsUsed(t *testing.T) {
	c, left, err := readAll(asWritten(t, raw{name: "lab.md", content: tutorial}, raw{name: "lab.md", content: "second"}, raw{name: "./lab.md", content: "third"}))
	if err != nil || c.Codelab.Title != "T" || !slices.Equal(left, []LeftOut{{"lab.md", "another file in the archive has the same name; the first is used", CodeDuplicate}}) {
		t.Errorf("%v, left out %q", err, left)
	}
}

// The error names the faulty entry. Otherwise nobody could find it among thousands.
func TestErrorsContainTheNameOfTheEntry(t *testing.T) {
	lab := raw{name: "lab.md", content: tutorial}
	for name, want := range map[string]string{
		"../up.md": "../up.md", `..\up.md`: "../up.md", "/abs.md": "/abs.md", `\abs.md`: "/abs.md", `C:\x.md`: "C:/x.md", "a/../b.md": "a/../b.md", "..": "..", "../\x1b[2J": `"../\x1b[2J"`,
	} {
		_, _, err := readAll(asWritten(t, lab, raw{name: name}))
		if !isInvalid(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want the name in the error", name, err)
		}
	}
}
