package durable

import (
	"encoding/binary"
	"time"
)

// A copy must never differ from its owner at the same position. Owners send the
// hash of their log with each position that they name (see chained); a copy that
// has another one there is wrong, whatever the cause.

// distrustFor is within how long a second difference makes a follower read from
// the store only.
const distrustFor = time.Minute

// encodeChain is a hash as it travels beside a position.
func encodeChain(chain uint64) []byte { return binary.BigEndian.AppendUint64(nil, chain) }

// compare holds the copy against the position that its owner named, and the hash
// that came with it. A copy that differs drops itself and is loaded anew. Nodes of
// an earlier version name no hash.
func (f *follower[C, E, V]) compare(seq uint64, chain []byte) {
	if !f.joined || seq != f.seq || len(chain) != chainBytes || binary.BigEndian.Uint64(chain) == f.chain || f.handle.distrusted.Load() {
		return
	}
	now := time.Now()
	again := !f.differed.IsZero() && now.Sub(f.differed) < distrustFor
	f.differed = now
	f.host.stats.Divergences.Add(1)
	f.host.log.Error("a copy differs from its owner; it is loaded anew",
		"actor", f.handle.actorID, "owner", f.owner, "seq", seq, "from_store_only", again)
	f.handle.distrusted.Store(again)
	f.joined = false
	f.load(seq)
}
