package nodes

import (
	"strings"
	"testing"

	"atelier/actors/durable"
	"atelier/persistence/memory"
)

// Of nodes that make their first secrets at one moment one is first, and all have what it
// has made.
func TestTheFirstNodeMakesTheSecrets(t *testing.T) {
	const secret = "0123456789abcdef0123456789abcdef"
	store, stores := memory.Share(2)
	t.Cleanup(func() { _ = store.Close() })
	open := func(s durable.Store) *Keyring {
		t.Helper()
		k, err := OpenKeyring(s, secret)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	var first *Keyring
	second := open(&meanwhile{stores[1], func() { first = open(stores[0]) }})
	made := func() ([]byte, error) { return []byte("of the first"), nil }
	s, err := second.Share("key", func() ([]byte, error) {
		if _, err := first.Share("key", made); err != nil {
			t.Error(err)
		}
		return []byte("of the second"), nil
	})
	if err != nil || string(s.Content) != "of the first" || s.Version != 1 {
		t.Errorf("the second has %q, version %d, %v", s.Content, s.Version, err)
	}
	// A node with an outdated secret of the cluster gets a more specific error than damage.
	if err := first.rekey("another " + secret); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Get("key"); err == nil || !strings.Contains(err.Error(), "cluster.secret that was given meanwhile") {
		t.Errorf("with the secret of before: %v", err)
	}
}
