package contents

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/actors/files"
)

// In an earlier version, a stored object with a flipped byte, or a truncated one, was served
// without an error. The damaged object also prevented a new upload of the same content from being
// stored.
func TestADamagedContentIsNotServed(t *testing.T) {
	for name, hurt := range map[string]func(b []byte) []byte{
		"flipped": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"cut":     func(b []byte) []byte { return b[:len(b)-1] },
		"longer":  func(b []byte) []byte { return append(b, 0) },
		"empty":   func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			damaged := 0
			s, _ := openTest(t, Options{Damaged: func() { damaged++ }})
			whole := strings.Repeat("content ", 1000)
			l := put(t, s, whole)
			l.Release()
			other := put(t, s, "other")
			if got, err := content(s, l.Sum); got != whole || err != nil {
				t.Fatalf("read %d bytes, %v", len(got), err)
			}
			b, err := os.ReadFile(s.path(l.Sum))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(s.path(l.Sum), hurt(b), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := content(s, l.Sum); !errors.Is(err, durable.ErrCorrupt) || damaged != 1 {
				t.Errorf("read %d bytes, %v; counted %d", len(got), err, damaged)
			}
			var found []string
			if n, err := s.Scrub(func(what string) { found = append(found, what) }); n != 2 || err != nil || !slices.Equal(found, []string{"blob " + l.Sum.String()}) {
				t.Errorf("scrubbing %d objects found the damaged ones %q, %v", n, found, err)
			}
			if got, err := content(s, other.Sum); got != "other" || err != nil {
				t.Errorf("the other content: %q, %v", got, err)
			}
			// Sending the content again repairs the object.
			put(t, s, whole).Release()
			if got, err := content(s, l.Sum); got != whole || err != nil {
				t.Errorf("after another upload: %d bytes, %v", len(got), err)
			}
		})
	}
}

// A disk can lose a bit without a change in the file's metadata. Verification is therefore repeated
// after a while.
func TestAVerificationIsRepeatedAfterAWhile(t *testing.T) {
	s, now := openTest(t, Options{})
	l := put(t, s, "content")
	if _, err := content(s, l.Sum); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.path(l.Sum))
	if err != nil {
		t.Fatal(err)
	}
	if !s.sound.has(l.Sum, identityOf(info), now.Now()) {
		t.Error("the verification was not remembered")
	}
	now.pass(soundFor)
	if s.sound.has(l.Sum, identityOf(info), now.Now()) {
		t.Error("the verification was remembered for too long")
	}
}

// A collection can wrongly find an object unused. It therefore quarantines such objects for the
// grace period.
func TestCollectedContentCanBeRestored(t *testing.T) {
	s, now := openTest(t, Options{Grace: time.Hour})
	asked, again, sent := put(t, s, "asked for"), put(t, s, "referred to again"), put(t, s, "sent again")
	for _, l := range []*files.Lease{asked, again, sent} {
		l.Release()
	}
	now.pass(2 * time.Hour)
	if _, err := s.Collect(nobody); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(s.opts.Dir, "aside")); len(left) != 3 || err != nil {
		t.Fatalf("%d objects are in quarantine, %v", len(left), err)
	}
	if got, err := content(s, asked.Sum); got != "asked for" || err != nil {
		t.Errorf("a requested object: %q, %v", got, err)
	}
	put(t, s, "sent again").Release()
	now.pass(59 * time.Minute)
	if n, err := s.Collect(func(sum files.Sum) (bool, error) { return sum == again.Sum, nil }); n != 0 || err != nil {
		t.Errorf("%d objects were removed before the end of the grace period, %v", n, err)
	}
	if _, err := os.Stat(s.path(again.Sum)); err != nil {
		t.Errorf("an object used again: %v", err)
	}
}

// The content is synced before the file gets its name, and the name is synced before Put returns.
// The name of a new folder is synced before the name of the file.
func TestEverySyncOfAPutIsInItsPlace(t *testing.T) {
	var s *folder
	var order []string
	first := true
	named := func(sum files.Sum) bool { _, err := os.Stat(s.path(sum)); return err == nil }
	sum, _ := files.SumOf(mustSum("content"))
	onSync := func(path string) {
		if s == nil {
			return // opening
		}
		switch {
		case filepath.Dir(path) == s.temp():
			order = append(order, "content")
			if first && named(sum) {
				t.Error("the file got its name before it was synced")
			}
		case path == s.objects():
			order = append(order, "name of the folder")
		case path == filepath.Dir(s.path(sum)):
			order = append(order, "name")
			if !named(sum) {
				t.Error("the folder was synced before it contained the name")
			}
		}
	}
	s, _ = openTest(t, Options{Synced: onSync})
	put(t, s, "content").Release()
	if want := []string{"content", "name of the folder", "name"}; !slices.Equal(order, want) {
		t.Errorf("the syncs were %q, want %q", order, want)
	}
	order, first = nil, false
	put(t, s, "content").Release()
	if want := []string{"name"}; len(order) == 0 || order[len(order)-1] != want[0] {
		t.Errorf("for an existing object, the syncs were %q", order)
	}
}

func mustSum(content string) []byte {
	sum := sha256.Sum256([]byte(content))
	return sum[:]
}
