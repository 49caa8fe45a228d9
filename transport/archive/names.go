package archive

import (
	"archive/zip"
	"encoding/binary"
	"hash/crc32"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// Constants of APPNOTE.TXT, the specification of ZIP. flagUTF8 marks a name in UTF-8 (appendix D).
// unicodePath is the id of the extra field with such a name (section 4.6.9). madeByUnix and
// madeByMacOS are the systems on which an entry was created. maxNameBytes is our own limit.
const (
	flagUTF8     = 1 << 11
	unicodePath  = 0x7075
	madeByUnix   = 3
	madeByMacOS  = 19
	maxNameBytes = 1024
)

// entryName returns the name of an entry in the author's spelling, with slashes and in NFC. The
// name in the extra field has priority. The name in the entry is in UTF-8 if the flag is set,
// else in code page 437. macOS and old Unix programs write UTF-8 without the flag. If the name is
// unreadable, ok is false, and the name is only for display.
func entryName(f *zip.File) (name string, ok bool) {
	name = unicodeName(f)
	switch maker := f.CreatorVersion >> 8; {
	case name != "":
	case f.Flags&flagUTF8 != 0, (maker == madeByUnix || maker == madeByMacOS) && utf8.ValidString(f.Name):
		name = f.Name
	default:
		// In code page 437 every byte is a valid character.
		name, _ = charmap.CodePage437.NewDecoder().String(f.Name)
	}
	name = norm.NFC.String(strings.ReplaceAll(name, `\`, "/"))
	ok = name != "" && len(name) <= maxNameBytes && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
	return name, ok
}

// unicodeName returns the name in an entry's extra field. It returns "" without such a field, or if
// the field belongs to an earlier name of the entry.
func unicodeName(f *zip.File) string {
	for extra := f.Extra; len(extra) >= 4; {
		tag, size := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if extra = extra[4:]; size > len(extra) {
			return ""
		}
		field := extra[:size]
		extra = extra[size:]
		if tag == unicodePath && size > 5 && field[0] == 1 && binary.LittleEndian.Uint32(field[1:]) == crc32.ChecksumIEEE([]byte(f.Name)) {
			return string(field[5:])
		}
	}
	return ""
}

// leadsOut reports whether a path can lead out of its folder: it is absolute, begins with a drive
// letter, or has a part "..".
func leadsOut(name string) bool {
	return strings.HasPrefix(name, "/") || len(name) > 2 && name[1] == ':' && name[2] == '/' || slices.Contains(strings.Split(name, "/"), "..")
}

// safeName reports whether a path in a text of the archive can be one of its entries.
func safeName(name string) bool {
	return name != "" && len(name) <= maxNameBytes && utf8.ValidString(name) && !strings.ContainsRune(name, 0) && !leadsOut(name)
}

// pathOf returns the key of an entry's path in tree.files.
func pathOf(name string) string { return norm.NFC.String(path.Clean(name)) }
