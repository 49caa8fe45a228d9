package nodes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"atelier/actors/durable"
	"atelier/cmd/atelier/config"
	"atelier/persistence/memory"
)

// If nodes create their first secrets at the same moment, one node wins, and all nodes use that
// node's secrets.
func TestOneNodeCreatesTheSecretsForAll(t *testing.T) {
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
		t.Errorf("the second node has %q, version %d, %v", s.Content, s.Version, err)
	}
	// With an outdated cluster secret, the error is more specific than "damaged".
	if err := first.rekey("another " + secret); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Get("key"); err == nil || !strings.Contains(err.Error(), "cluster.secret that was set meanwhile") {
		t.Errorf("a read with the previous cluster secret returned %v", err)
	}
}

// A secret is replaced only if it is unchanged since it was read. If two nodes replace it at the
// same time, the later node gets ErrConflict.
func TestASecretIsReplacedOnlyIfItIsUnchanged(t *testing.T) {
	store, stores := memory.Share(1)
	t.Cleanup(func() { _ = store.Close() })
	k, err := OpenKeyring(stores[0], "0123456789abcdef0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	none, err := k.Get("key")
	if err != nil || none.Version != 0 {
		t.Fatalf("Get of a missing key returned %v, %v, want version 0", none, err)
	}
	first, err := k.Put("key", none, []byte("first"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Put("key", none, []byte("another first")); !errors.Is(err, durable.ErrConflict) {
		t.Errorf("it was created twice: %v", err)
	}
	if _, err := k.Put("key", first, []byte("second")); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Put("key", first, []byte("another second")); !errors.Is(err, durable.ErrConflict) {
		t.Errorf("it was replaced twice: %v", err)
	}
	if got, err := k.Get("key"); err != nil || string(got.Content) != "second" || got.Version != 2 {
		t.Errorf("the secret is %q, version %d, %v", got.Content, got.Version, err)
	}
	if got, err := k.Get("another"); err != nil || got.Version != 0 {
		t.Errorf("another secret is %q, version %d, %v", got.Content, got.Version, err)
	}
}

// Nodes find all other living nodes.
func TestNodesFindEachOther(t *testing.T) {
	store, stores := memory.Share(3)
	t.Cleanup(func() { _ = store.Close() })
	peersOf := func(i int) string {
		t.Helper()
		var cfg config.Config
		cfg.Cluster.Node, cfg.Cluster.Listen = stores[i].Node(), fmt.Sprintf("192.0.2.%d:7000", i+1)
		peers, err := find(cfg, stores[i])
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(peers)
		return strings.Join(peers, " ")
	}
	if got := peersOf(0); got != "" {
		t.Errorf("the first node finds %s", got)
	}
	if got := peersOf(1); got != "192.0.2.1:7000" {
		t.Errorf("the second node finds %s", got)
	}
	if got := peersOf(2); got != "192.0.2.1:7000 192.0.2.2:7000" {
		t.Errorf("the third node finds %s", got)
	}
	stores[1].Lose()
	if got := peersOf(0); got != "192.0.2.3:7000" {
		t.Errorf("while the second node is away, the first finds %s", got)
	}
}
