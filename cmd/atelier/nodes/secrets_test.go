package nodes

import (
	"errors"
	"testing"

	"atelier/persistence/memory"
)

// A node with a different secret would create codes and signatures that the other nodes refuse, so
// it does not start. An operator changes a secret while no other node is alive.
func TestNodesAgreeOnASecret(t *testing.T) {
	x := newTrio(t)
	a, b := x.nodes[0], x.nodes[1]
	for _, n := range []*Node{nil, a, b, a} {
		if err := n.Agree("a secret", "one"); err != nil {
			t.Error(err)
		}
	}
	if err := b.Agree("another secret", "two"); err != nil {
		t.Errorf("agreeing on a secret with another name: %v", err)
	}
	for _, agree := range []func(name, secret string) error{b.Agree, b.AgreeAnew} {
		if err := agree("a secret", "two"); !errors.Is(err, ErrNotTheSame) {
			t.Errorf("a secret that differs from that of a live node returned %v, want ErrNotTheSame", err)
		}
	}
	if err := a.Agree("a secret", "one"); err != nil {
		t.Errorf("after a refusal, agreeing on the same secret: %v", err)
	}

	// If two nodes start at the same moment, the later one is refused.
	b.Store = &meanwhile{b.Store, func() {
		if err := a.Agree("a third", "one"); err != nil {
			t.Error(err)
		}
	}}
	if err := b.Agree("a third", "two"); !errors.Is(err, ErrNotTheSame) {
		t.Errorf("another secret at the same moment returned %v, want ErrNotTheSame", err)
	}

	for _, n := range x.nodes[1:] {
		if err := n.Store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.AgreeAnew("a secret", "two"); err != nil {
		t.Errorf("changing the secret of the only node: %v", err)
	}
	if err := a.Agree("a secret", "one"); !errors.Is(err, ErrNotTheSame) {
		t.Errorf("the previous secret returned %v, want ErrNotTheSame", err)
	}
}

// Once the secrets are sealed under another cluster.secret, a living node could no longer read
// them.
func TestClusterSecretChangesWhenAllNodesAreStopped(t *testing.T) {
	const secret, next = "0123456789abcdef0123456789abcdef", "another one of 32 or more letters"
	store, stores := memory.Share(2)
	t.Cleanup(func() { _ = store.Close() })
	k, err := OpenKeyring(stores[0], secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kept", "forgotten"} {
		if _, err := k.Put(name, Secret{}, []byte("of all nodes")); err != nil {
			t.Fatal(err)
		}
	}
	if err := Rekey(stores[0], secret, next); err == nil {
		t.Error("the secrets were changed although a node is alive")
	}
	if s, err := k.Get("kept"); err != nil || string(s.Content) != "of all nodes" {
		t.Errorf("after a refusal, the secret is %q, %v", s.Content, err)
	}
	if err := stores[1].Close(); err != nil {
		t.Fatal(err)
	}
	if err := Rekey(stores[0], "not "+secret, next); !errors.Is(err, ErrAnotherSecret) {
		t.Errorf("Rekey with a wrong cluster secret returned %v, want ErrAnotherSecret", err)
	}
	if err := errors.Join(Rekey(stores[0], secret, next), ForgetSecret(stores[0], "forgotten")); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenKeyring(stores[0], secret); !errors.Is(err, ErrAnotherSecret) {
		t.Errorf("opening with the previous cluster secret returned %v, want ErrAnotherSecret", err)
	}
	if k, err = OpenKeyring(stores[0], next); err != nil {
		t.Fatal(err)
	}
	if s, err := k.Get("kept"); err != nil || string(s.Content) != "of all nodes" {
		t.Errorf("under the new cluster secret, it is %q, %v", s.Content, err)
	}
	if s, err := k.Get("forgotten"); err != nil || s.Version != 0 {
		t.Errorf("the forgotten secret has version %d, %v", s.Version, err)
	}
}
