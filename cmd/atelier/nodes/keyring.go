package nodes

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/crypto/scrypt"

	"atelier/actors/durable"
)

// Keyring stores the long-lived secrets that are the same on all nodes. A joining node takes them
// from the database. Each secret is sealed (AES-256-GCM) under its own key, which is derived from
// cluster.secret. The sealed secret is bound to its name, its version and the database's stream, so
// that it cannot pass for another secret or another version. Backups omit the secrets.
type Keyring struct {
	store durable.Store
	root  []byte
}

// Secret is a secret in the database.
type Secret struct {
	Content []byte
	// Version counts the changes of the secret, from 1. It is 0 before the first secret.
	Version uint64

	stored []byte
}

// ErrAnotherSecret means that cluster.secret does not open the database's secrets.
var ErrAnotherSecret = errors.New("cluster.secret is not the one that the other nodes have; give all nodes the same")

const saltBytes = 32

// saltName is the name of the row with the salt. The salt is followed by sealed empty content that
// only the right secret opens.
const saltName = "salt"

// OpenKeyring derives the keys. This takes a tenth of a second, so that guessing is expensive. The
// first node of a database creates the salt. If the secret differs from the other nodes' secret,
// OpenKeyring returns ErrAnotherSecret.
func OpenKeyring(store durable.Store, secret string) (*Keyring, error) {
	k := &Keyring{store: store}
	for {
		stored, err := store.Get(durable.NodeSecrets, k.row(saltName))
		if errors.Is(err, durable.ErrNotFound) {
			row, err := k.begin(secret, durable.Absent())
			if err == nil {
				err = durable.Commit(store, []durable.Row{row})
			}
			if errors.Is(err, durable.ErrConflict) {
				continue // another node was first
			}
			return k, err
		}
		if err != nil {
			return nil, err
		}
		if len(stored) < saltBytes {
			return nil, errors.New("the salt of the nodes' secrets in the database is damaged")
		}
		if err := k.derive(secret, stored[:saltBytes]); err != nil {
			return nil, err
		}
		if _, err := k.open(saltName, stored[saltBytes:]); err != nil {
			return nil, ErrAnotherSecret
		}
		return k, nil
	}
}

// begin derives the keys from a new salt, and returns the row with the salt.
func (k *Keyring) begin(secret string, precondition durable.Precondition) (durable.Row, error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails
	if err := k.derive(secret, salt); err != nil {
		return durable.Row{}, err
	}
	sealed, err := k.seal(saltName, 1, nil)
	return durable.Row{Table: durable.NodeSecrets, Key: k.row(saltName), Value: slices.Concat(salt, sealed), Precondition: precondition}, err
}

// Rekey seals all secrets under another cluster.secret, in one commit. The authority for the nodes'
// certificates is removed instead, because anyone who had read it could act as a node forever. The
// first node to start creates a new authority. Rekey is refused while any node other than the
// store's lease holder is running, because that node would no longer find its secrets.
func Rekey(store durable.Shared, secret, next string) error {
	if err := AllStopped(store); err != nil {
		return err
	}
	k, err := OpenKeyring(store, secret)
	if err != nil {
		return err
	}
	return k.rekey(next)
}

// AllStopped fails while any node other than the store's lease holder is running.
func AllStopped(store durable.Shared) error {
	members, err := store.Members()
	if err != nil {
		return err
	}
	for _, m := range members {
		if m.Left > 0 && m.Node != store.Node() {
			return fmt.Errorf("node %s is running: stop all nodes first", m.Node)
		}
	}
	return nil
}

// ForgetSecret removes a secret from the database. The first node to start publishes its own
// secret, or creates a new one.
func ForgetSecret(store durable.Shared, name string) error {
	return durable.Commit(store, []durable.Row{{Table: durable.NodeSecrets, Key: ofStream(store, name), Delete: true}})
}

func (k *Keyring) rekey(secret string) error {
	salt, err := k.store.Get(durable.NodeSecrets, k.row(saltName))
	if err != nil {
		return err
	}
	next := &Keyring{store: k.store}
	row, err := next.begin(secret, durable.Unchanged(salt))
	if err != nil {
		return err
	}
	rows, prefix := []durable.Row{row}, k.row("")
	var failed error
	err = k.store.Scan(durable.Scan{Table: durable.NodeSecrets, Prefix: prefix}, func(key, value []byte) bool {
		name := string(key[len(prefix):])
		switch name {
		case saltName:
			return true
		case authority:
			rows = append(rows, durable.Row{Table: durable.NodeSecrets, Key: slices.Clone(key), Delete: true, Precondition: durable.Unchanged(slices.Clone(value))})
			return true
		}
		var s Secret
		if s, failed = k.open(name, slices.Clone(value)); failed == nil {
			value, failed = next.seal(name, s.Version+1, s.Content)
			rows = append(rows, durable.Row{Table: durable.NodeSecrets, Key: slices.Clone(key), Value: value, Precondition: durable.Unchanged(s.stored)})
		}
		return failed == nil
	})
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	return durable.Commit(k.store, rows)
}

func (k *Keyring) derive(secret string, salt []byte) (err error) {
	k.root, err = scrypt.Key([]byte(secret), salt, 1<<15, 8, 1, 32)
	return err
}

// row returns the key of a secret's row.
func (k *Keyring) row(name string) []byte { return ofStream(k.store, name) }

func (k *Keyring) aead(name string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, k.root, nil, "atelier node secret v1\x00"+name, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// bound returns the data to which a sealed secret is bound.
func (k *Keyring) bound(name string, version []byte) []byte {
	return slices.Concat(k.row(name), []byte{0}, version)
}

const versionBytes = 8

func (k *Keyring) seal(name string, version uint64, content []byte) ([]byte, error) {
	aead, err := k.aead(name)
	if err != nil {
		return nil, err
	}
	out := binary.BigEndian.AppendUint64(nil, version)
	nonce := make([]byte, aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return aead.Seal(append(out, nonce...), nonce, content, k.bound(name, out)), nil
}

func (k *Keyring) open(name string, stored []byte) (Secret, error) {
	aead, err := k.aead(name)
	if err != nil {
		return Secret{}, err
	}
	if len(stored) < versionBytes+aead.NonceSize() {
		return Secret{}, fmt.Errorf("the nodes' secret %s in the database is damaged", name)
	}
	version, rest := stored[:versionBytes], stored[versionBytes:]
	content, err := aead.Open(nil, rest[:aead.NonceSize()], rest[aead.NonceSize():], k.bound(name, version))
	if err != nil {
		return Secret{}, fmt.Errorf("the nodes' secret %s in the database is damaged, or sealed under a cluster.secret that was set meanwhile", name)
	}
	return Secret{content, binary.BigEndian.Uint64(version), stored}, nil
}

// Get returns a secret. If the database has no such secret, Version is 0.
func (k *Keyring) Get(name string) (Secret, error) {
	stored, err := k.store.Get(durable.NodeSecrets, k.row(name))
	if errors.Is(err, durable.ErrNotFound) {
		return Secret{}, nil
	}
	if err != nil {
		return Secret{}, fmt.Errorf("read the nodes' secret %s: %w", name, err)
	}
	return k.open(name, stored)
}

// Put replaces a secret, if it is unchanged since it was read. It returns durable.ErrConflict if
// another node has changed it meanwhile.
func (k *Keyring) Put(name string, was Secret, content []byte) (Secret, error) {
	value, err := k.seal(name, was.Version+1, content)
	if err != nil {
		return Secret{}, err
	}
	precondition := durable.Absent()
	if was.Version > 0 {
		precondition = durable.Unchanged(was.stored)
	}
	err = durable.Commit(k.store, []durable.Row{{Table: durable.NodeSecrets, Key: k.row(name), Value: value, Precondition: precondition}})
	if err != nil {
		return Secret{}, fmt.Errorf("store the nodes' secret %s: %w", name, err)
	}
	return Secret{content, was.Version + 1, value}, nil
}

// Share returns a secret that is the same on all nodes. It is the secret in the database, or else
// the result of own. If another node stores its secret first, the result of own is not used.
func (k *Keyring) Share(name string, own func() ([]byte, error)) (Secret, error) {
	for {
		s, err := k.Get(name)
		if err != nil || s.Version > 0 {
			return s, err
		}
		content, err := own()
		if err != nil {
			return s, err
		}
		s, err = k.Put(name, s, content)
		if !errors.Is(err, durable.ErrConflict) {
			return s, err
		}
	}
}
