package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// Clients keep schemas by their date, so a published schema never changes. published.sha256
// contains the hash of each file. No command rewrites published.sha256, so that a change is not
// accepted by mistake.
func TestPublishedSchemasAreFrozen(t *testing.T) {
	b, err := os.ReadFile("published.sha256")
	if err != nil {
		t.Fatal(err)
	}
	frozen := map[string]string{}
	for line := range strings.Lines(string(b)) {
		if sum, name, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			frozen[name] = sum
		}
	}
	if len(frozen) == 0 {
		t.Fatal("published.sha256 has no files")
	}
	published := os.DirFS("published")
	err = fs.WalkDir(published, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(published, path)
		if err != nil {
			return err
		}
		hash := sha256.Sum256(data)
		sum := hex.EncodeToString(hash[:])
		switch was, ok := frozen[path]; {
		case !ok:
			t.Errorf("%s is new: when it is ready, freeze it with this line in published.sha256:\n%s  %s", path, sum, path)
		case was != sum:
			t.Errorf("%s was published and has changed: revert the change, and publish it under a new date", path)
		}
		delete(frozen, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range frozen {
		t.Errorf("%s was published and is missing", path)
	}
}
