package code

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

var badPaths = []string{
	"", "/", "/etc/passwd", "..", "../x", "a/../b", "a/..", "./a", "a/.", "a//b", "a/", "a\\b", "..\\x", "C:\\x", "a\x00b", "a\nb", "a\x7fb", "a\xff",
	".git", ".git/config", "a/.git/hooks/x", ".GIT/x", ".Git", ".gIt/x", ".git ", ".git.", ".git...", ".git . .", ".git::$INDEX_ALLOCATION/x", ".git:x",
	"git~1", "GIT~1/x", "git~2", "git~10/x", ".g\u200cit/x", ".\u200dgit", "\ufeff.git", ".git\u200b", ".gi\u202et", ".g\u00adit", ".g\ufe0fit", ".g\u034fit",
	".ｇｉｔ", ".gıt/../x", strings.Repeat("a/", 512) + "a", strings.Repeat("ab/", 341) + "ab", strings.Repeat("x", 256), "a/" + strings.Repeat("x", 1023),
}

var goodPaths = []string{
	"a", "a.go", ".gitignore", ".github/workflows/x.yml", ".gitattributes", "git", "agit~1", "git~", "git~x", "a b/ä/한글.txt", "...", "..a", "a..", "-x", "--help",
	strings.Repeat("a/", 511) + "a", strings.Repeat("x", 255), ".env", "a:b", "con",
}

func TestUnsafePathsAreRefused(t *testing.T) {
	for _, p := range badPaths {
		var bad *Problem
		if err := CheckPath(p); !errors.As(err, &bad) {
			t.Errorf("CheckPath(%.60q) = %v, want a Problem", p, err)
		}
	}
	for _, p := range goodPaths {
		if err := CheckPath(p); err != nil {
			t.Errorf("CheckPath(%.60q) = %v, want no error", p, err)
		}
	}
}

func TestNewPathsMustBeValidOnWindows(t *testing.T) {
	for _, p := range []string{
		"con", "CON", "Prn.txt", "a/aux", "a/AUX.tar.gz", "nul/b", "nul.", "com1", "COM9.c", "lpt1", "LPT9.x/y", "com\u00b9", "lpt\u00b3.txt", "aux .c", "conin$", "CONOUT$.x",
		"a<b", "a>b", "a:b", `a"b`, "a|b", "a?b", "a*b", "d?/b", "a.", "a ", "a./b", "a /b", "...", "b/...", "a. .",
	} {
		var bad *Problem
		if err := CheckNewPath(p); !errors.As(err, &bad) || !strings.Contains(bad.Text, "Windows") {
			t.Errorf("CheckNewPath(%q) = %v, want a Problem with Windows", p, err)
		}
		if err := CheckPath(p); err != nil {
			t.Errorf("CheckPath(%q) = %v, want no error", p, err)
		}
	}
	for _, p := range []string{
		"console", "a/con-fig", "aux_.c", "auxiliary.c", "com", "com0", "com10", "com1x", "lpt", "nully.txt", ".con", "a.con", ".gitignore", "..a", "a b/c.d", " a", "ä/한글.txt", "conin", "a;b", "a'b", "$x", "~a", "%PATH%",
	} {
		if err := CheckNewPath(p); err != nil {
			t.Errorf("CheckNewPath(%q) = %v, want no error", p, err)
		}
	}
	for _, p := range badPaths {
		if CheckNewPath(p) == nil {
			t.Errorf("CheckNewPath(%.60q) accepts the path", p)
		}
	}
}

func TestCheckName(t *testing.T) {
	for _, n := range []string{"", "A", "-a", ".a", "_a", "a/b", "a b", "a\\b", "..", "a..b", "a.", "a.lock", "ä", "a\x00", "HEAD", strings.Repeat("a", 101)} {
		if CheckName(n) == nil {
			t.Errorf("CheckName accepts %q", n)
		}
	}
	for _, n := range []string{"main", "step-1-start", "step-200-end", "0", "a_b.c-d"} {
		if err := CheckName(n); err != nil {
			t.Errorf("CheckName(%q) = %v, want no error", n, err)
		}
	}
}

func FuzzPaths(f *testing.F) {
	for _, p := range append(badPaths, goodPaths...) {
		f.Add(p)
	}
	dir := f.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if CheckPath(path) != nil {
			return
		}
		if !filepath.IsLocal(path) || len(path) > maxPath || !utf8.ValidString(path) || strings.ContainsAny(path, "\x00\\") || filepath.Clean(path) != path {
			t.Fatalf("CheckPath accepts %q", path)
		}
		for part := range strings.SplitSeq(path, "/") {
			low := strings.ToLower(part)
			if low == ".git" || low == ".." || strings.TrimRight(low, ". ") == ".git" {
				t.Fatalf("CheckPath accepts %q", path)
			}
		}
		// An accepted path can be written below the root, and nowhere else.
		if err := root.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			if strings.Contains(err.Error(), "escapes") {
				t.Fatal(err)
			}
			t.Skip(err) // the file system can refuse a name that CheckPath accepts
		}
	})
}
