package badger

import (
	"bytes"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/persistence/layout"
)

// Actors implements durable.Journal. It reads only keys. If an actor has many chunks, it seeks
// directly to the next actor.
func (s *Store) Actors(prefix string, fn func(actor string) bool) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	return s.view(func(txn *badgerdb.Txn) error {
		logs := newActorCursor(txn, layout.FamilyChunk, prefix)
		defer logs.it.Close()
		heads := newActorCursor(txn, layout.FamilyHead, prefix)
		defer heads.it.Close()
		for logs.valid || heads.valid {
			actor := logs.actor
			if !logs.valid || heads.valid && heads.actor < actor {
				actor = heads.actor
			}
			logs.pass(actor)
			heads.pass(actor)
			if !fn(actor) {
				return nil
			}
		}
		return nil
	})
}

// actorCursor iterates over the actors in one family of keys.
type actorCursor struct {
	it     *badgerdb.Iterator
	family byte
	actor  string
	valid  bool
}

func newActorCursor(txn *badgerdb.Txn, family byte, prefix string) *actorCursor {
	c := &actorCursor{family: family}
	start := append([]byte{family}, prefix...)
	c.it = txn.NewIterator(badgerdb.IteratorOptions{Prefix: start})
	c.it.Seek(start)
	c.read()
	return c
}

func (c *actorCursor) read() {
	for ; c.it.Valid(); c.it.Next() {
		if c.actor, c.valid = layout.ActorOf(c.it.Item().Key()); c.valid {
			return
		}
	}
	c.valid = false
}

// pass moves beyond an actor if the cursor is at this actor.
func (c *actorCursor) pass(actor string) {
	if !c.valid || c.actor != actor {
		return
	}
	end := layout.PrefixEnd(layout.ActorPrefix(c.family, actor))
	for n := 0; c.it.Valid() && bytes.Compare(c.it.Item().Key(), end) < 0; n++ {
		if n == nearKeys {
			c.it.Seek(end)
			break
		}
		c.it.Next()
	}
	c.read()
}

// nearKeys is the number of keys of an actor that are iterated over before the cursor seeks the
// next actor. Most actors have few keys, and a seek costs as much as a dozen keys.
const nearKeys = 6

// eachKey calls fn with a copy of every key with the prefix.
func (s *Store) eachKey(prefix []byte, fn func(key []byte) error) error {
	return s.view(func(txn *badgerdb.Txn) error {
		it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: prefix})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if err := fn(it.Item().KeyCopy(nil)); err != nil {
				return err
			}
		}
		return nil
	})
}
