package auth

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"atelier/actors/durable"
)

func TestAPasswordMatchesOnlyItsHash(t *testing.T) {
	c := NewPasswordComputer()
	hash, err := c.Hash("correct horse battery", false)
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Fatalf("Hash returned %q, %v", hash, err)
	}
	if again, _ := c.Hash("correct horse battery", false); again == hash {
		t.Error("two hashes of one password are equal")
	}
	for _, tc := range []struct {
		password, hash string
		want           bool
	}{
		{"correct horse battery", hash, true}, {"correct horse batterz", hash, false}, {"", hash, false},
		{"correct horse battery", "", false}, {strings.Repeat("\x00", 12), "", false},
	} {
		before := c.Computed()
		got, err := c.Matches(tc.password, tc.hash, true)
		if got != tc.want || err != nil {
			t.Errorf("Matches(%q, %q) = %v, %v", tc.password, tc.hash, got, err)
		}
		if c.Computed() != before+1 {
			t.Errorf("Matches(%q, %q) made %d computations, want 1", tc.password, tc.hash, c.Computed()-before)
		}
	}
	for _, bad := range []string{"x", prefix, prefix + "AAAA$AAAA", strings.Replace(hash, "t=2", "t=1", 1)} {
		if _, err := c.Matches("correct horse battery", bad, false); !errors.Is(err, durable.ErrCorrupt) {
			t.Errorf("the hash %q: %v, want ErrCorrupt", bad, err)
		}
	}
}

func TestInvalidPasswordsAreRefused(t *testing.T) {
	for password, wrong := range map[string]string{
		"elevenchars": "12 to 256", strings.Repeat("a", 257): "12 to 256", "ann@example.org": "the login", "ANN@example.org": "the login",
		strings.Repeat(" ", 12): "without the spaces", "  elevenchars  ": "without the spaces", strings.Repeat("\u3000", 20): "without the spaces", "QWERTY123456": "commonest", "1qaz2wsx3edc4rfv": "commonest", "justinbieber": "commonest", "123456789abc": "commonest",
		strings.Repeat("é", 256): "", "\xff" + strings.Repeat("a", 20): "12 to 256",
		"äöüäöüäöüäöü": "", "correct horse battery": "",
	} {
		err := CheckPassword("password", password, "ann@example.org")
		if wrong == "" && err != nil || wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong)) {
			t.Errorf("CheckPassword(%q) = %v", password, err)
		}
	}
}

// A flood of unknown browsers is refused above a limit. Known browsers are not locked out.
func TestAFloodOfUnknownBrowsersIsBounded(t *testing.T) {
	c := NewPasswordComputer()
	if all := cap(c.known.places) + cap(c.strangers.places); all > 2*runtime.GOMAXPROCS(0) || cap(c.known.places) == 0 {
		t.Errorf("%d computations can run concurrently", all)
	}
	for range cap(c.strangers.places) {
		c.strangers.places <- struct{}{} // all workers are busy
	}
	var busy, wg = make(chan error, 2*waiting), sync.WaitGroup{}
	for range waiting {
		wg.Go(func() {
			_, err := c.Matches("a password of nobody", "", false)
			busy <- err
		})
	}
	for c.strangers.queued.Load() < waiting { // until all are queued
		if _, err := c.Matches("a password of nobody", "", true); err != nil {
			t.Fatal("a known browser is refused:", err)
		}
	}
	if _, err := c.Matches("one too many", "", false); !errors.Is(err, ErrBusy) {
		t.Errorf("one browser too many: %v, want ErrBusy", err)
	}
	for range cap(c.strangers.places) {
		<-c.strangers.places
	}
	wg.Wait()
	close(busy)
	for err := range busy {
		if err != nil {
			t.Error("a waiting browser:", err)
		}
	}
}
