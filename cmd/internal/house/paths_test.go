package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The tables of ARCHITECTURE.md list the files through which a vote and a tokenize request pass. The
// last two rows of the vote are the files between the disk and the screens.
func TestTheFilesOfAVoteAndATokenExist(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## The files on these paths\n")
	section, _, _ = strings.Cut(section, "\n## ")
	counts := regexp.MustCompile(`passes (\d+) files[^.]*?and (\d+) more[^.]*\.[^.]*passes (\d+)\.`).FindStringSubmatch(strings.Join(strings.Fields(section), " "))
	if counts == nil {
		t.Fatal("the page does not contain the numbers of files")
	}
	cell := regexp.MustCompile("`([\\w./]+)`(?: \\(([^)]*)\\))?")
	name := regexp.MustCompile("`([\\w.]+)`")
	var tables [][]int // the number of files in each row
	for line := range strings.Lines(section) {
		columns := strings.Split(line, "|")
		switch {
		case strings.HasPrefix(line, "| Step"):
			tables = append(tables, nil)
			continue
		case len(columns) < 4 || strings.HasPrefix(line, "|-"):
			continue
		}
		n := 0
		for _, m := range cell.FindAllStringSubmatch(columns[2], -1) {
			paths := []string{m[1]}
			if m[2] != "" {
				paths = nil
				for _, f := range name.FindAllStringSubmatch(m[2], -1) {
					paths = append(paths, m[1]+"/"+f[1])
				}
			}
			for _, path := range paths {
				if _, err := os.Stat(filepath.Join(root, path)); err != nil {
					t.Errorf("ARCHITECTURE.md: %v", err)
				}
			}
			n += len(paths)
		}
		last := &tables[len(tables)-1]
		*last = append(*last, n)
	}
	if len(tables) != 2 || len(tables[0]) < 3 {
		t.Fatalf("the tables have these numbers of files: %v", tables)
	}
	vote, screens, tokenize := 0, 0, 0
	for i, n := range tables[0] {
		if i < len(tables[0])-2 {
			vote += n
		} else {
			screens += n
		}
	}
	for _, n := range tables[1] {
		tokenize += n
	}
	for i, n := range []int{vote, screens, tokenize} {
		if counts[i+1] != strconv.Itoa(n) {
			t.Errorf("the text contains the number %s, but the tables have %d files", counts[i+1], n)
		}
	}
}
