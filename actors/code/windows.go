package code

import (
	"strings"
	"unicode/utf8"
)

// ForbiddenByWindows contains the characters that Windows forbids in names, in addition to control
// characters and the slash.
const ForbiddenByWindows = `<>:"|?*\`

// ReservedByWindows reports whether Windows treats a name as a device name, regardless of upper and
// lower case and of anything after the first dot. The superscript digits 1 to 3 count as digits.
func ReservedByWindows(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch stem = strings.TrimRight(stem, " "); stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, digit := stem[:min(3, len(stem))], stem[min(3, len(stem)):]
	return (port == "COM" || port == "LPT") && utf8.RuneCountInString(digit) == 1 && strings.Contains("123456789¹²³", digit)
}

// CheckNewPath returns an error if the path of a new file is invalid. In addition to CheckPath, it
// refuses names that Windows cannot check out. Files stored before this rule can still be read,
// changed and deleted.
func CheckNewPath(path string) error {
	if err := CheckPath(path); err != nil {
		return err
	}
	for part := range strings.SplitSeq(path, "/") {
		switch i := strings.IndexAny(part, ForbiddenByWindows); {
		case i >= 0:
			return Fault("Windows cannot check out %q: names there cannot contain %c", path, part[i])
		case strings.HasSuffix(part, "."), strings.HasSuffix(part, " "):
			return Fault("Windows cannot check out %q: names there cannot end with a dot or a space", path)
		case ReservedByWindows(part):
			return Fault("Windows cannot check out %q: the name %q is reserved for a device", path, part)
		}
	}
	return nil
}
