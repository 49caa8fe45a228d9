package rest

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestNoCellIsAFormula(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "a", "1": "1", " =1": "' =1", "\u00a0\ufeff=1": "'\u00a0\ufeff=1", "\"=1": "'\"=1",
		"a;=1": "a;'=1", "a; \"=1;b": "a;' \"=1;b", "a|@x": "a|'@x", "a\t-1": "a\t'-1", "a\n- b": "a\n'- b", "a;＝1;+2": "a;'＝1;'+2", ";;=": ";;'=", "\t=1": "'\t'=1",
		"a, b; c | d": "a, b; c | d", "a;b=1": "a;b=1", "x = y": "x = y", "a@b.example; c-d": "a@b.example; c-d", "a,=1": "a,=1", "﹦1": "'﹦1", "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@x": "'@x", "\tx": "'\tx", "\r=1": "'\r'=1", "\n=1": "'\n'=1",
		"＝1": "'＝1", "'=1": "'=1", "한글": "한글", "a=1": "a=1", "\x00=1": "'=1",
	} {
		if got := sheetCell(text); got != want {
			t.Errorf("sheetCell(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestRowsAreQuotedAsCSV(t *testing.T) {
	var b bytes.Buffer
	w := newSheet(&b)
	w.Row("name", "note")
	w.Row(`Ada "the first", Lovelace`, "two\nlines, and ä")
	w.Row("=HYPERLINK(\"http://evil\")", "")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := "name,note\r\n\"Ada \"\"the first\"\", Lovelace\",\"two\r\nlines, and ä\"\r\n\"'=HYPERLINK(\"\"http://evil\"\")\",\r\n"
	if b.String() != want {
		t.Errorf("the sheet is %q", b.String())
	}
}

// A program that splits rows at a semicolon, a tab or a bar finds no formula in any row, even if it
// ignores quotes. Text without a formula character, tab or line end stays unchanged, except that NUL
// is removed.
func TestNoSeparatorCreatesAFormula(t *testing.T) {
	piece := rapid.SampledFrom([]string{"=", "+", "-", "@", "＝", "－", ";", "|", "\t", "\n", "\r", ",", "\"", "'", " ", "\u00a0", "\ufeff", "a", "1", "é", "\x00", "=1+1", "; ", "- "})
	cell := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.SliceOfN(cell, 1, 4).Draw(t, "row")
		var b bytes.Buffer
		w := newSheet(&b)
		w.Row(row...)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		formula := func(how, field string) {
			field = strings.TrimLeftFunc(field, func(r rune) bool { return r == '"' || blank(r) })
			if r, _ := utf8.DecodeRuneInString(field); field != "" && strings.ContainsRune(starters, r) {
				t.Fatalf("%s: %q in %q, written for the row %q, is a formula", how, field, text, row)
			}
		}
		for _, separator := range separators {
			for field := range strings.SplitSeq(text, string(separator)) {
				for line := range strings.SplitSeq(field, "\n") {
					formula("split at "+string(separator), line)
				}
			}
		}
		for _, comma := range ",;|\t" {
			in := csv.NewReader(strings.NewReader(text))
			in.Comma, in.LazyQuotes, in.FieldsPerRecord = comma, true, -1
			for {
				fields, err := in.Read()
				if err != nil {
					break
				}
				for _, field := range fields {
					formula("read with "+string(comma), field)
				}
			}
		}
		for _, c := range row {
			plain := strings.ReplaceAll(c, "\x00", "")
			if got := sheetCell(c); strings.ReplaceAll(got, "'", "") != strings.ReplaceAll(plain, "'", "") || len(got) > 2*len(plain)+1 {
				t.Fatalf("sheetCell(%q) = %q, which does more than add apostrophes, or adds too many", c, got)
			} else if !strings.ContainsAny(plain, starters+"\t\r\n") && got != plain {
				t.Fatalf("the plain text %q became %q", c, got)
			}
		}
	})
}

func FuzzCell(f *testing.F) {
	for _, s := range []string{"=1", "a,b", "\"", "\r\n", "\xff", "＝", "\x00\x00="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var b bytes.Buffer
		w := newSheet(&b)
		w.Row(text, "end")
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil || len(rows) != 1 || len(rows[0]) != 2 || rows[0][1] != "end" {
			t.Fatalf("%q is read back as %q, %v", text, rows, err)
		}
		if got := rows[0][0]; got != "" && strings.ContainsRune("=+-@\t\r\n", rune(got[0])) {
			t.Fatalf("the cell for %q begins like a formula: %q", text, got)
		}
	})
}
