package document

import (
	"bytes"
	"strings"
)

// Lines knows the line of every value of a document.
type Lines struct{ byPointer map[string]int }

// lineIndex collects the lines while a parser goes through a document.
type lineIndex struct {
	Lines
	data []byte
	line int
	at   int64
}

func (x *lineIndex) add(pointer string, offset int64) {
	x.line += bytes.Count(x.data[x.at:offset], []byte("\n"))
	x.at = offset
	x.byPointer[pointer] = x.line
}

// Lines reads the document once more for the lines. It costs as much as
// parsing, so callers ask once for a document they have something to say of.
func (d *Document) Lines() Lines {
	x := &lineIndex{Lines: Lines{map[string]int{}}, data: d.data, line: 1}
	if _, err := newParser(d.data, x).value("", 0, 0); err != nil {
		return Lines{}
	}
	return x.Lines
}

// Of gives the line of the value at pointer, or of the nearest one around it
// when it is missing there; at least 1.
func (l Lines) Of(pointer string) int {
	for {
		if line, ok := l.byPointer[pointer]; ok {
			return line
		}
		cut := strings.LastIndexByte(pointer, '/')
		if cut < 0 {
			return 1
		}
		pointer = pointer[:cut]
	}
}
