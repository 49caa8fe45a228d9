package badger

import (
	"atelier/actors/durable"
	"atelier/persistence/internal/calls"
	"atelier/persistence/layout"
)

// reader reads an actor's log, even while the owner has the log open.
type reader struct{ log *actorLog }

// Follow implements durable.Journal.
func (s *Store) Follow(actor string) (durable.Reader, error) {
	if err := layout.CheckActor(actor); err != nil {
		return nil, err
	}
	if err := s.gate.Enter(); err != nil {
		return nil, err
	}
	s.gate.Leave()
	return reader{&actorLog{store: s, Cursor: calls.Cursor{Actor: actor}, prefix: layout.ActorPrefix(layout.FamilyChunk, actor)}}, nil
}

// Load implements durable.LogReader.
func (r reader) Load(history uint64, snapshot func(durable.Snapshot) error, record func(uint64, []byte) error) error {
	return r.log.Load(history, snapshot, record)
}

// Replay implements durable.LogReader.
func (r reader) Replay(after uint64, fn func(seq uint64, record []byte) error) error {
	return r.log.Replay(after, fn)
}

// Tail implements durable.Reader.
func (r reader) Tail() (uint64, error) {
	if err := r.log.store.gate.Enter(); err != nil {
		return 0, err
	}
	defer r.log.store.gate.Leave()
	return r.log.store.tail(r.log.Actor)
}

// Close implements durable.Reader.
func (r reader) Close() {}
