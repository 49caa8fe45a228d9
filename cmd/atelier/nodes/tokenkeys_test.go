package nodes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/clock/clocktest"
	"atelier/actors/token/seal"
	"atelier/persistence/secrets"
)

// keyed is a node with token keys.
type keyed struct {
	*TokenKeys
	node *Node
	path string
	// used contains the keys in use here, and noted contains the keys recorded in the database.
	// tries counts the attempts to start using keys.
	used, noted []seal.Key
	tries       int
	fail        error       // returned by attempts to use keys
	over        func() bool // reports whether only the newest key is needed
}

// versions lists the versions of keys, and marks a pending key.
func versions(keys []seal.Key) (out string) {
	for _, k := range keys {
		out += fmt.Sprint(k.Version)
		if k.Pending {
			out += "?"
		}
	}
	return out
}

// newKeyed returns three nodes of one database that all use the same token key.
func newKeyed(t *testing.T) (all []*keyed) {
	const secret = "0123456789abcdef0123456789abcdef"
	for i, n := range newTrio(t).nodes {
		ring, err := OpenKeyring(n.Store, secret)
		if err != nil {
			t.Fatal(err)
		}
		k := &keyed{node: n, path: filepath.Join(t.TempDir(), "tokens.keys"), over: func() bool { return false }}
		n.folder = newBrittle().Folder
		if i == 0 {
			if _, err := secrets.CreateKeys(k.path, time.Now()); err != nil {
				t.Fatal(err)
			}
			first, err := os.ReadFile(k.path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ring.Put("tokens", Secret{}, first); err != nil {
				t.Fatal(err)
			}
		}
		k.TokenKeys, err = NewTokenKeys(n, ring, secret, TokenKeyOptions{
			File: SharedFile{Name: "tokens", Path: k.path},
			Use: func(keys []seal.Key) error {
				if k.tries++; k.fail != nil {
					return k.fail
				}
				k.used = keys
				return nil
			},
			Note: func(keys []seal.Key, _ time.Time) error { k.noted = keys; return nil },
			Over: func(seal.Key, time.Time) bool { return k.over() },
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Begin(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(k.End)
		all = append(all, k)
	}
	return all
}

// A short failure must not keep a node from using a new key. Otherwise the node would report the
// other nodes' tokens as unknown until its next start.
func TestAFailedUseOfKeysIsRetried(t *testing.T) {
	all := newKeyed(t)
	a, b := all[0], all[1]
	add := func(keys []seal.Key) ([]seal.Key, error) { return secrets.Announced(keys, time.Now()), nil }
	if _, _, err := a.Change(add); err != nil || versions(a.used) != "12?" {
		t.Fatalf("the first node uses %s, %v", versions(a.used), err)
	}
	b.fail, b.tries = errors.New("for a moment"), 0
	for range 2 {
		if err := b.Read(); !errors.Is(err, b.fail) {
			t.Errorf("reading unusable keys: %v", err)
		}
	}
	if have, _ := b.All(); b.tries != 2 || have[0] != 1 {
		t.Errorf("after %d tries, node b has version %d", b.tries, have)
	}
	b.fail = nil
	if err := b.Read(); err != nil || versions(b.used) != "12?" {
		t.Errorf("after the failure, the node uses %s, %v", versions(b.used), err)
	}
	// The node does not take the same keys again.
	tries := b.tries
	if err := errors.Join(b.Read(), b.Take(2), b.Take(1)); err != nil || b.tries != tries {
		t.Errorf("the keys were used %d times more, %v", b.tries-tries, err)
	}
}

// Before a node serves again, it has the keys of all tokens that were created while it was away.
func TestAReturningNodeHasTheKeysMadeMeanwhile(t *testing.T) {
	all := newKeyed(t)
	a, b := all[0], all[1]
	b.node.startOver(t.Context(), idle{drop: func() {
		add := func(keys []seal.Key) ([]seal.Key, error) {
			return secrets.Used(secrets.Announced(keys, time.Now()), time.Now()), nil
		}
		if _, _, err := a.Change(add); err != nil {
			t.Error(err)
		}
	}}, "")
	if !b.node.Serves() || versions(b.used) != "12" {
		t.Errorf("after its return the node serves: %v, with the keys %s", b.node.Serves(), versions(b.used))
	}
}

// After a rotation, all nodes use the new key, and the database records it. Each node's file is a
// copy. If the file cannot be written, the node reports trouble with its folder, but tokens
// continue to work.
func TestARotationReachesAllNodes(t *testing.T) {
	all := newKeyed(t)
	broken := all[2]
	broken.o.File.Path = filepath.Join(broken.path, "tokens.keys") // its parent is a file
	keys, err := all[0].Rotate(time.Now())
	if err != nil || versions(keys) != "12" || versions(all[0].noted) != "12" {
		t.Fatalf("rotated to %s, recorded %s: %v", versions(keys), versions(all[0].noted), err)
	}
	for i, k := range all {
		if versions(k.used) != "12" {
			t.Errorf("node %d uses %s", i+1, versions(k.used))
		}
		kept, err := secrets.LoadKeys(k.path)
		if k == broken {
			if k.node.folder.Trouble() == nil {
				t.Error("a failed write of the file is not reported")
			}
			continue
		}
		if err != nil || versions(kept) != "12" || !bytes.Equal(kept[1].Material, keys[1].Material) || k.node.folder.Trouble() != nil {
			t.Errorf("the file of node %d has %s: %v, %v", i+1, versions(kept), err, k.node.folder.Trouble())
		}
	}
	// The next rotation continues with a key that the previous rotation left pending.
	if _, _, err := all[1].Change(func(keys []seal.Key) ([]seal.Key, error) { return secrets.Announced(keys, time.Now()), nil }); err != nil {
		t.Fatal(err)
	}
	pending := all[1].used[2].Material
	if keys, err = all[0].Rotate(time.Now()); err != nil || versions(keys) != "123" || !bytes.Equal(keys[2].Material, pending) {
		t.Errorf("the pending key became %s, %v", versions(keys), err)
	}
	// When a node starts, it drops keys that are no longer needed. The record in the database
	// covers all keys, so the database drops them, too.
	all[1].over = func() bool { return true }
	if err := all[1].dropOld(); err != nil || versions(all[1].used) != "3" || versions(all[1].noted) != "123" {
		t.Errorf("the remaining keys are %s, recorded %s: %v", versions(all[1].used), versions(all[1].noted), err)
	}
}

// A node that missed the announcement of a key reads the key from the database within the interval.
func TestAMissedKeyIsReadLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newKeyed(t)
		add := func(keys []seal.Key) ([]seal.Key, error) { return secrets.Announced(keys, time.Now()), nil }
		if _, _, err := all[0].Change(add); err != nil || versions(all[1].used) != "1" {
			t.Fatalf("without the announcement, the node uses %s, %v", versions(all[1].used), err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 90*time.Second)
		defer stop()
		if all[1].Follow(ctx, time.Minute); versions(all[1].used) != "12?" {
			t.Errorf("after the interval, the node uses %s", versions(all[1].used))
		}
	})
}

// A key is not used anywhere until all living nodes have it. Otherwise a node without the key would
// report the tokens under it as unknown. The next rotation continues with the same key.
func TestAKeyIsUsedOnlyOnceAllNodesHaveIt(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		all := newKeyed(t)
		fails := func(err error) {
			all[2].mu.Lock()
			defer all[2].mu.Unlock()
			all[2].fail = err
		}
		fails(errors.New("for a moment"))
		if _, err := all[0].Rotate(time.Now()); err == nil {
			t.Error("the rotation succeeded without one of the nodes")
		}
		for i, want := range []string{"12?", "12?", "1"} {
			if used := versions(all[i].used); used != want {
				t.Errorf("node %d uses %s, want %s", i+1, used, want)
			}
		}
		fails(nil)
		if keys, err := all[0].Rotate(time.Now()); err != nil || versions(keys) != "12" || versions(all[2].used) != "12" {
			t.Errorf("the later rotation ended with %s; the last node uses %s: %v", versions(keys), versions(all[2].used), err)
		}
	})
}
