package files

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// Folder is the path prefix of uploads; a name follows it.
const Folder = "/uploads/"

// Kinds of uploads. A kind is the first part of an upload's name.
const (
	Images    = "images"
	Materials = "materials"
)

// randomDigits is the length of the random part of a name: 128 bits in hex.
const randomDigits = 32

// NewName returns a random name for an upload. It replaces an extension that is not permitted in a
// name with "bin".
func NewName(kind, extension string) string {
	var b [randomDigits / 2]byte
	_, _ = rand.Read(b[:]) // never fails
	ext := strings.ToLower(strings.TrimPrefix(extension, "."))
	if !isExtension(ext) {
		ext = "bin"
	}
	return kind + "/" + hex.EncodeToString(b[:]) + "." + ext
}

const maxExtension = 10

func isExtension(s string) bool {
	return s != "" && len(s) <= maxExtension && countWhile(s, isAlphanumeric) == len(s)
}

func isAlphanumeric(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

func isHex(c byte) bool { return c >= 'a' && c <= 'f' || c >= '0' && c <= '9' }

func countWhile(s string, fits func(byte) bool) int {
	n := 0
	for n < len(s) && fits(s[n]) {
		n++
	}
	return n
}

// NameAt returns the name of the upload with which s begins, or "".
func NameAt(s string) string {
	for _, kind := range []string{Images, Materials} {
		rest, ok := strings.CutPrefix(s, kind+"/")
		if !ok || countWhile(rest, isHex) != randomDigits || len(rest) == randomDigits || rest[randomDigits] != '.' {
			continue
		}
		if n := countWhile(rest[randomDigits+1:], isAlphanumeric); n > 0 && n <= maxExtension {
			return s[:len(kind)+1+randomDigits+1+n]
		}
	}
	return ""
}

// NameOf returns the name of the upload that is served under a path, or false if the path is not
// the path of an upload.
func NameOf(path string) (string, bool) {
	name, ok := strings.CutPrefix(path, Folder)
	return name, ok && name != "" && NameAt(name) == name
}

// Mentioned calls fn for each upload mentioned in a text, with the position of its path.
func Mentioned(text string, fn func(name string, at int)) {
	for from := 0; ; {
		i := strings.Index(text[from:], Folder)
		if i < 0 {
			return
		}
		at := from + i
		from = at + len(Folder)
		if name := NameAt(text[from:]); name != "" {
			fn(name, at)
			from += len(name)
		}
	}
}
