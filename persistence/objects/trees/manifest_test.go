package trees

import (
	"fmt"
	"testing"

	"atelier/actors/code"
	"atelier/persistence/objects/objectstest"
)

// The maximum number of references of a written tree also applies to a copied tree.
func TestACopiedPlainTreeRefersToFewOthers(t *testing.T) {
	const id, to = "019a3f52-7c1e-7a44-9f0b-3d5a1e6b2c01", "019a3f52-7c1e-7a44-9f0b-3d5a1e6b2cff"
	b := objectstest.Folder(t)
	s, err := Open(Options{Objects: b, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Make(id, code.Plain); err != nil {
		t.Fatal(err)
	}
	var heads []code.Head
	var all code.Change
	for i := range maxPlainBundles + 3 {
		own := code.Change{Write: []code.File{{Path: fmt.Sprint(i), Content: []byte(fmt.Sprint(i))}}}
		all.Write = append(all.Write, own.Write...)
		if i == maxPlainBundles+2 {
			own = all
		}
		tree, err := s.Write(id, code.Plain, "", own)
		if err != nil {
			t.Fatal(err)
		}
		heads = append(heads, code.Head{Name: fmt.Sprint("h", i), Tree: tree})
	}
	if err := s.Copy(id, to, code.Plain, heads); err != nil {
		t.Fatal(err)
	}
	last := heads[len(heads)-1].Tree
	m, err := s.load(t.Context(), to, code.Plain, last)
	if err != nil || len(m.Bundles) != maxPlainBundles || len(m.Files) != len(all.Write) {
		t.Fatalf("the copy has %d files and refers to %d other trees: %v", len(m.Files), len(m.Bundles), err)
	}
	for _, f := range m.Files {
		if got, _, err := s.Read(to, code.Plain, last, f.Path); err != nil || string(got) != f.Path {
			t.Errorf("%s contains %q, %v", f.Path, got, err)
		}
	}
}
