package claat

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// ErrNoText means that a file is not text.
var ErrNoText = errors.New("this file is neither Markdown nor a ZIP file")

// Decode returns the text of a file in UTF-8 with lines that end with a line feed. The file can be
// in UTF-16 with a byte order mark, and can have any system's line ends. The error is ErrNoText if
// the file is not text; other errors contain the position of invalid UTF-8.
func Decode(file []byte) ([]byte, error) {
	if bytes.HasPrefix(file, []byte("\xff\xfe")) || bytes.HasPrefix(file, []byte("\xfe\xff")) {
		text, err := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(file)
		if err != nil || len(file)%2 != 0 {
			return nil, ErrNoText
		}
		file = text
	} else if len(file) > 0 && !strings.HasPrefix(http.DetectContentType(file), "text/") {
		return nil, ErrNoText
	}
	if bytes.IndexByte(file, 0) >= 0 {
		return nil, ErrNoText
	}
	file = bytes.TrimPrefix(file, []byte("\ufeff"))
	if bytes.IndexByte(file, '\r') >= 0 {
		file = bytes.ReplaceAll(file, []byte("\r\n"), []byte("\n"))
		file = bytes.ReplaceAll(file, []byte("\r"), []byte("\n"))
	}
	if utf8.Valid(file) {
		return file, nil
	}
	good := file
	for i := 0; i < len(file); {
		r, n := utf8.DecodeRune(file[i:])
		if r == utf8.RuneError && n == 1 {
			good = file[:i]
			break
		}
		i += n
	}
	line, column := place(good, len(good))
	return nil, at(line, column, "the file is not valid UTF-8")
}

// place converts an index to a line and a column, both counted from 1. Columns count characters.
func place(text []byte, i int) (line, column int) {
	before := text[:i]
	begin := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[begin:]) + 1
}
