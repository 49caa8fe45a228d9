package rest

import (
	"encoding/csv"
	"io"
	"strings"
	"unicode"
)

// byteOrderMark is the byte order mark of UTF-8, which Excel needs.
const byteOrderMark = "\ufeff"

// sheet writes tables as CSV (RFC 4180, UTF-8) that is safe to open in spreadsheets. A program
// never interprets a cell as a formula, whichever separator it uses. It is not safe for concurrent
// use.
type sheet struct {
	csv *csv.Writer
	row []string
}

// newSheet returns a sheet that writes to w. The caller must close it.
func newSheet(w io.Writer) *sheet {
	c := csv.NewWriter(w)
	c.UseCRLF = true
	return &sheet{csv: c}
}

// Row writes one row. Close returns the first error.
func (w *sheet) Row(cells ...string) {
	w.row = w.row[:0]
	for _, c := range cells {
		w.row = append(w.row, sheetCell(c))
	}
	_ = w.csv.Write(w.row)
}

// Close flushes the table and returns the first error.
func (w *sheet) Close() error {
	w.csv.Flush()
	return w.csv.Error()
}

// sheetCell makes a text safe. A spreadsheet that is set to another separator reads a part of a
// cell as a separate cell, despite the quotes around the cell. For this reason, each part that
// begins like a formula is marked as text by an apostrophe. This includes parts with leading blanks
// and quotes, and the wide forms of East Asian keyboards. A text that begins with a tab or a line
// end is marked, too. NUL is removed, because many readers reject it. Everything else stays
// unchanged.
func sheetCell(text string) string {
	if strings.ContainsRune(text, 0) {
		text = strings.ReplaceAll(text, "\x00", "")
	}
	if !strings.ContainsAny(text, starters) {
		if text != "" && strings.IndexByte("\t\r\n", text[0]) >= 0 {
			return "'" + text
		}
		return text
	}
	var b strings.Builder
	done, part := 0, 0 // done is the end of the written text; part is the beginning of a part, and -1 inside a part
	if strings.IndexByte("\t\r\n", text[0]) >= 0 {
		b.WriteByte('\'')
	}
	for i, r := range text {
		switch {
		case strings.ContainsRune(separators, r):
			part = i + 1
		case part < 0 || r == '"' || blank(r):
		case strings.ContainsRune(starters, r):
			b.WriteString(text[done:part] + "'")
			done, part = part, -1
		default:
			part = -1
		}
	}
	b.WriteString(text[done:])
	return b.String()
}

const (
	// separators contains line ends and the characters that can split cells. The comma is missing,
	// because the quotes around a cell protect it.
	separators = ";|\t\r\n"
	starters   = "=+-@＝＋－＠﹦﹢﹣﹫"
)

// blank reports whether a rune is invisible. A spreadsheet can skip such a rune and still interpret
// the rest as a formula.
func blank(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Cc) }
