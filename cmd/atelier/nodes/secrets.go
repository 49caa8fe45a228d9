package nodes

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"

	"atelier/actors/durable"
)

// sameKeys is the table of codes that identify the nodes' long-lived secrets. Each key consists of
// the database's stream and the name of a secret. A code is derived from the secret and does not
// reveal it.
const sameKeys = "nodekeys"

// ofStream returns the key of a row that belongs to one stream of the database. A row of another
// stream, from a restored backup, is ignored.
func ofStream(store durable.Store, name string) []byte { return []byte(store.StreamID() + "/" + name) }

// Agreed reports whether a node has recorded with Agree which secret of this name all nodes have.
func (k *Keyring) Agreed(name string) (bool, error) {
	_, err := k.store.Get(sameKeys, k.row(name))
	if errors.Is(err, durable.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Agree fails if a secret differs from that of the other nodes. The first node records the secret.
func (n *Node) Agree(name, secret string) error {
	if n == nil {
		return nil
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("atelier: the same on all nodes\x00" + name + "\x00" + n.Store.StreamID()))
	code, key := mac.Sum(nil)[:16], ofStream(n.Store, name)
	for {
		stored, err := n.Store.Get(sameKeys, key)
		switch {
		case errors.Is(err, durable.ErrNotFound):
			err := durable.Commit(n.Store, []durable.Row{{Table: sameKeys, Key: key, Value: code, Precondition: durable.Absent()}})
			if errors.Is(err, durable.ErrConflict) {
				continue // another node was first
			}
			return err
		case err != nil:
			return err
		case !hmac.Equal(stored, code):
			return fmt.Errorf("cluster: %s %w; give all nodes the same", name, ErrNotTheSame)
		}
		return nil
	}
}

// ErrNotTheSame means that a secret differs from the other nodes' secret.
var ErrNotTheSame = errors.New("is not the one that the other nodes have")

// AgreeAnew is like Agree, for a secret that an operator can change. If no other node is alive,
// this node's secret replaces the recorded one.
func (n *Node) AgreeAnew(name, secret string) error {
	err := n.Agree(name, secret)
	if !errors.Is(err, ErrNotTheSame) {
		return err
	}
	if !n.alone() {
		return err
	}
	n.log.Info("a secret has changed; copy it to the other nodes before they start", "secret", name)
	if err := durable.Commit(n.Store, []durable.Row{{Table: sameKeys, Key: ofStream(n.Store, name), Delete: true}}); err != nil {
		return err
	}
	return n.Agree(name, secret)
}

// alone reports whether no other node is alive. It returns false if the nodes cannot be read.
func (n *Node) alone() bool {
	members, err := n.Store.Members()
	return err == nil && !serves(members, wanted{}, n.Store.Node())
}
