package sheet

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
)

func TestNoCellIsAFormula(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "a", "1": "1", " =1": " =1", "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@x": "'@x", "\tx": "'\tx", "\r=1": "'\r=1", "\n=1": "'\n=1",
		"＝1": "'＝1", "'=1": "'=1", "한글": "한글", "a=1": "a=1", "\x00=1": "'=1",
	} {
		if got := Cell(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestRowsAreReadAsTheyWereWritten(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b)
	w.Row("name", "note")
	w.Row(`Ada "the first", Lovelace`, "two\nlines, and ä")
	w.Row("=HYPERLINK(\"http://evil\")", "")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := "name,note\r\n\"Ada \"\"the first\"\", Lovelace\",\"two\r\nlines, and ä\"\r\n\"'=HYPERLINK(\"\"http://evil\"\")\",\r\n"
	if b.String() != want {
		t.Errorf("%q", b.String())
	}
}

func FuzzCell(f *testing.F) {
	for _, s := range []string{"=1", "a,b", "\"", "\r\n", "\xff", "＝", "\x00\x00="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var b bytes.Buffer
		w := NewWriter(&b)
		w.Row(text, "end")
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil || len(rows) != 1 || len(rows[0]) != 2 || rows[0][1] != "end" {
			t.Fatalf("%q is read as %q, %v", text, rows, err)
		}
		if got := rows[0][0]; got != "" && strings.ContainsRune("=+-@\t\r\n", rune(got[0])) {
			t.Fatalf("%q begins like a formula: %q", text, got)
		}
	})
}
