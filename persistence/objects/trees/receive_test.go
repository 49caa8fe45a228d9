package trees_test

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"atelier/actors/code"
	"atelier/persistence/objects/objectstest"
)

// push contains the Git objects of a push by name.
type push map[string]code.Object

func (p push) Stat(name string) (code.ObjectKind, int64, bool) {
	o, ok := p[name]
	return o.Kind, int64(len(o.Content)), ok
}

func (p push) Content(name string) ([]byte, error) { return p[name].Content, nil }

func (p push) add(kind code.ObjectKind, content string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "%s %d\x00%s", kind, len(content), content))
	name := hex.EncodeToString(sum[:])
	p[name] = code.Object{Kind: kind, Name: name, Content: []byte(content)}
	return name
}

func (p push) blob(content string) string { return p.add(code.BlobObject, content) }

// folder adds a tree with lines "mode name object", in this order.
func (p push) folder(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		at := strings.LastIndexByte(line, ' ')
		raw, _ := hex.DecodeString(line[at+1:])
		b.WriteString(line[:at] + "\x00" + string(raw))
	}
	return p.add(code.TreeObject, b.String())
}

const person = " Ada <ada@example.org> 1772442000 +0100\n"

func (p push) commit(tree string, parents ...string) string {
	text := "tree " + tree + "\n"
	for _, parent := range parents {
		text += "parent " + parent + "\n"
	}
	return p.add(code.CommitObject, text+"author"+person+"committer"+person+"\nchange\n")
}

// A pushed commit is stored once, with its files, modes and folders, including files of earlier
// commits.
func TestAPushIsStoredUnchanged(t *testing.T) {
	s := alone(t, code.Git)
	p := push{}
	a, b := p.blob("a"), p.blob("b")
	folder := p.folder("100644 same "+a, "100755 tool "+b)
	first := p.commit(p.folder("100644 a "+a, "40000 dir "+folder))
	second := p.commit(p.folder("100755 a "+b, "40000 dir "+folder, "40000 more "+folder), first)
	other := p.commit(p.folder("100644 other "+b), first)
	merged := p.commit(p.folder("100755 a "+a, "40000 dir "+folder), second, other)
	if n, err := s.Receive(id, nil, []string{merged}, p); n != 4 || err != nil {
		t.Fatalf("Receive returned %d, %v, want 4", n, err)
	}
	for commit, want := range map[string]string{
		first: "a=a dir/same=a dir/tool+x=b", second: "a+x=b dir/same=a dir/tool+x=b more/same=a more/tool+x=b", other: "other=b", merged: "a+x=a dir/same=a dir/tool+x=b",
	} {
		if got := content(t, s, code.Git, commit); got != want {
			t.Errorf("the commit contains %q, want %q", got, want)
		}
	}
	if n, err := s.Receive(id, []string{merged}, []string{merged, first}, p); n != 0 || err != nil {
		t.Errorf("the repeated push stored %d commits: %v", n, err)
	}
	next := push{}
	last := next.commit(next.folder("100644 a "+a, "40000 dir "+folder, "40000 twice "+folder), merged) // both objects already exist
	if n, err := s.Receive(id, []string{merged}, []string{last}, next); n != 1 || err != nil {
		t.Fatalf("Receive returned %d, %v, want 1", n, err)
	}
	if got, want := content(t, s, code.Git, last), "a=a dir/same=a dir/tool+x=b twice/same=a twice/tool+x=b"; got != want {
		t.Errorf("the commit contains %q, want %q", got, want)
	}
	if err := s.Publish(id, code.Git, []code.Head{{Name: "main", Tree: last}}); err != nil {
		t.Fatal(err)
	}
	dir := unpack(t, s, code.Git, []code.Head{{Name: "main", Tree: last}})
	git(t, dir, "fsck", "--full", "--strict")
	if got := git(t, dir, "rev-parse", "HEAD"); got != last {
		t.Errorf("the downloaded HEAD is %s, want %s", got, last)
	}
}

// A push that cannot be stored completely is refused with the reason, and leaves nothing.
func TestAPushThatCannotBeStoredIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		make func(p push) (tip string)
		why  string // a part of the error; "" if the push is stored
	}{
		"a file":          {func(p push) string { return p.commit(p.folder("100644 a " + p.blob("a"))) }, ""},
		"a symbolic link": {func(p push) string { return p.commit(p.folder("120000 a " + p.blob("/etc/passwd"))) }, "symbolic link"},
		"a submodule":     {func(p push) string { return p.commit(p.folder("160000 a " + p.blob("a"))) }, "submodule"},
		"another mode":    {func(p push) string { return p.commit(p.folder("100600 a " + p.blob("a"))) }, "neither a file"},
		"a folder as a file": {func(p push) string {
			return p.commit(p.folder("100644 a " + p.folder("100644 b "+p.blob("b"))))
		}, "neither a file"},
		"a file as a folder": {func(p push) string { return p.commit(p.folder("40000 a " + p.blob("a"))) }, "not a tree"},
		"a name twice": {func(p push) string {
			return p.commit(p.folder("100644 a "+p.blob("a"), "100644 a "+p.blob("b")))
		}, "twice"},
		"two spellings": {func(p push) string {
			return p.commit(p.folder("100644 A "+p.blob("a"), "100644 a "+p.blob("b")))
		}, "spelling"},
		"another order": {func(p push) string {
			return p.commit(p.folder("100644 b "+p.blob("b"), "100644 a "+p.blob("a")))
		}, "malformed"},
		"an empty folder":   {func(p push) string { return p.commit(p.folder("40000 a " + p.folder())) }, "empty"},
		"a path up":         {func(p push) string { return p.commit(p.folder("40000 .. " + p.folder("100644 a "+p.blob("a")))) }, `the part ".."`},
		"a slash in a name": {func(p push) string { return p.commit(p.folder("100644 a/b " + p.blob("a"))) }, "malformed"},
		"Git's own folder":  {func(p push) string { return p.commit(p.folder("40000 .git " + p.folder("100644 config "+p.blob("a")))) }, ".git"},
		"a device":          {func(p push) string { return p.commit(p.folder("100644 con.txt " + p.blob("a"))) }, "Windows"},
		"the largest file": {func(p push) string {
			return p.commit(p.folder("100644 a " + p.blob(strings.Repeat("x", code.MaxFile))))
		}, ""},
		"a larger file": {func(p push) string {
			return p.commit(p.folder("100644 a " + p.blob(strings.Repeat("x", code.MaxFile+1))))
		}, "larger than"},
		"a missing file":     {func(p push) string { return p.commit(p.folder("100644 a " + push{}.blob("a"))) }, "neither in this workspace"},
		"a missing folder":   {func(p push) string { return p.commit(p.folder("40000 a " + push{}.folder("100644 a "+p.blob("a")))) }, "neither in this workspace"},
		"a missing parent":   {func(p push) string { return p.commit(p.folder("100644 a "+p.blob("a")), strings.Repeat("1", 40)) }, "whole history"},
		"a tree as a commit": {func(p push) string { return p.folder("100644 a " + p.blob("a")) }, "whole history"},
		"a date far off": {func(p push) string {
			text := fmt.Sprintf("tree %s\nauthor%scommitter Ada <a> 99999999999 +0000\n\nx", p.folder("100644 a "+p.blob("a")), person)
			return p.add(code.CommitObject, text)
		}, "dated later"},
		"a second tree": {func(p push) string {
			tree := p.folder("100644 a " + p.blob("a"))
			return p.add(code.CommitObject, fmt.Sprintf("tree %s\nauthor%scommitter%stree %s\n\nx", tree, person, person, tree))
		}, "malformed"},
		"no author": {func(p push) string {
			return p.add(code.CommitObject, "tree "+p.folder("100644 a "+p.blob("a"))+"\ncommitter"+person+"\nx")
		}, "malformed"},
		"no message": {func(p push) string {
			return p.add(code.CommitObject, "tree "+p.folder()+"\nauthor"+person+"committer"+strings.TrimSuffix(person, "\n"))
		}, "malformed"},
		"a large commit": {func(p push) string {
			return p.add(code.CommitObject, fmt.Sprintf("tree %s\nauthor%scommitter%s\n%s", p.folder("100644 a "+p.blob("a")), person, person, strings.Repeat("x", 256<<10)))
		}, "larger than"},
		"a bad commit in the middle": {func(p push) string {
			return p.commit(p.folder("100644 a "+p.blob("a")), p.commit(p.folder("120000 b "+p.blob("b")), p.commit(p.folder("100644 c "+p.blob("c")))))
		}, "symbolic link"},
	} {
		b := objectstest.Folder(t)
		s := node(t, b)
		if err := s.Make(id, code.Git); err != nil {
			t.Fatal(err)
		}
		before := b.Keys(t, "")
		p := push{}
		n, err := s.Receive(id, nil, []string{c.make(p)}, p)
		var problem *code.Problem
		switch {
		case c.why == "" && (n != 1 || err != nil):
			t.Errorf("pushing %s: %d commits, %v", name, n, err)
		case c.why != "" && (!errors.As(err, &problem) || !strings.Contains(err.Error(), c.why)):
			t.Errorf("pushing %s: got the error %v", name, err)
		case c.why != "" && !slices.Equal(b.Keys(t, ""), before):
			t.Errorf("%s: the refused push left objects behind", name)
		}
	}
}

// Missing workspaces and workspaces of folders refuse a push.
func TestAPushNeedsAGitWorkspace(t *testing.T) {
	p := push{}
	tip := p.commit(p.folder("100644 a " + p.blob("a")))
	s := alone(t, code.Plain)
	if _, err := s.Receive(id, nil, []string{tip}, p); err == nil {
		t.Error("a workspace of folders accepted a push")
	}
	if _, err := s.Receive(copyID, nil, []string{tip}, p); err == nil {
		t.Error("a missing workspace accepted a push")
	}
}

// heavy is a push whose files all claim to have the maximum size.
type heavy struct{ push }

func (p heavy) Stat(name string) (code.ObjectKind, int64, bool) {
	kind, size, ok := p.push.Stat(name)
	if kind == code.BlobObject {
		size = code.MaxFile
	}
	return kind, size, ok
}

// A workspace can have up to 512 MiB, including its history. A file in several commits counts once.
func TestAPushBeyondTheSizeOfAWorkspaceIsRefused(t *testing.T) {
	const inTree = code.MaxTree / code.MaxFile
	for files, taken := range map[int]bool{512<<20/code.MaxFile - 1: true, 512 << 20 / code.MaxFile: false} {
		p := heavy{push{}}
		var tip []string
		for range 2 {
			for first := 0; first < files; first += inTree {
				var lines []string
				for i := first; i < min(first+inTree, files); i++ {
					lines = append(lines, fmt.Sprintf("100644 %03d %s", i, p.blob(fmt.Sprint(i))))
				}
				tip = []string{p.commit(p.folder(lines...), tip...)}
			}
		}
		var problem *code.Problem
		if _, err := alone(t, code.Git).Receive(id, nil, tip, p); taken && err != nil || !taken && !errors.As(err, &problem) {
			t.Errorf("%d files of %d MiB: %v", files, code.MaxFile>>20, err)
		}
	}
}

// A push can have at most 2,000 commits. The last allowed commit is still checked. In this test one
// of its files is missing.
func TestAPushOfTooManyCommitsIsRefused(t *testing.T) {
	p := push{}
	tree := p.folder("100644 a " + push{}.blob("a"))
	tips := []string{p.commit(tree)}
	for len(tips) <= 2_000 {
		tips = append(tips, p.commit(tree, tips[len(tips)-1]))
	}
	s := alone(t, code.Git)
	for commits, why := range map[int]string{2_000: "neither in this workspace", 2_001: "more than 2000 commits"} {
		if _, err := s.Receive(id, nil, tips[commits-1:commits], p); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%d commits: %v", commits, err)
		}
	}
}
