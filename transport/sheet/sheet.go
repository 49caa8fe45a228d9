// Package sheet writes tables as CSV that spreadsheets open without harm: RFC
// 4180, UTF-8, and no cell that a spreadsheet would take for a formula.
package sheet

import (
	"encoding/csv"
	"io"
	"strings"
	"unicode/utf8"
)

// Writer writes rows. Not safe for concurrent use.
type Writer struct {
	csv *csv.Writer
	row []string
}

// NewWriter returns a writer; Close ends it.
func NewWriter(w io.Writer) *Writer {
	c := csv.NewWriter(w)
	c.UseCRLF = true
	return &Writer{csv: c}
}

// Row writes one row. The first error stays and is told by Close.
func (w *Writer) Row(cells ...string) {
	w.row = w.row[:0]
	for _, c := range cells {
		w.row = append(w.row, Cell(c))
	}
	_ = w.csv.Write(w.row)
}

// Close writes what is left and returns the first error.
func (w *Writer) Close() error {
	w.csv.Flush()
	return w.csv.Error()
}

// Cell makes a text safe: one that begins like a formula, also in the wide
// forms that East Asian keyboards give, is marked as text by an apostrophe.
// A NUL, which readers choke on, goes.
func Cell(text string) string {
	if strings.ContainsRune(text, 0) {
		text = strings.ReplaceAll(text, "\x00", "")
	}
	first, _ := utf8.DecodeRuneInString(text)
	if text != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + text
	}
	return text
}
