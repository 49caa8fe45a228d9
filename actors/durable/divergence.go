package durable

import (
	"encoding/binary"
	"time"
)

// A replica must never differ from its owner at the same position. Owners send the hash of their
// log with each batch and each position (see chained). A replica whose hash differs at the same
// position is wrong, whatever the cause. The hash of a batch is compared before the batch is
// applied, so that neither a view nor a frame shows wrong data.

// distrustFor is the time within which a second difference counts. If a replica differs twice
// within this time, its follower reads only from the store.
const distrustFor = time.Minute

// encodeChain encodes the hash that is sent with a position.
func encodeChain(chain uint64) []byte { return binary.BigEndian.AppendUint64(nil, chain) }

// compareAnswer calls compare with the hash in an owner's answer.
func (f *follower[C, E, V]) compareAnswer(a answer) {
	if len(a.body) == chainBytes {
		f.compare(a.seq, binary.BigEndian.Uint64(a.body))
	}
}

// compare compares the replica's hash with that of its owner, if both are at the same position.
func (f *follower[C, E, V]) compare(seq, chain uint64) {
	if f.joined && seq == f.seq && chain != f.chain && !f.handle.distrusted.Load() {
		f.differs(seq)
	}
}

// differs is called when the replica's hash at a position differs from the owner's. It loads the
// replica again.
func (f *follower[C, E, V]) differs(seq uint64) {
	now := f.host.opts.Clock.Uptime()
	again := f.differed != 0 && now-f.differed < distrustFor
	f.differed = now
	f.host.stats.Divergences.Add(1)
	f.host.log.Error("a replica differs from its owner; it is loaded again",
		"actor", f.handle.actorID, "owner", f.owner, "seq", seq, "from_store_only", again)
	f.handle.distrusted.Store(again)
	f.joined = false
	f.load(seq)
}
