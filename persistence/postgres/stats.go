package postgres

import (
	"time"

	"atelier/actors/durable"
)

// refusedFor is the time for which Stats reports the store as read-only after a refused write,
// unless a later write succeeds. A renewed lease does not end this, because renewing needs no
// space.
const refusedFor = 30 * time.Second

// Stats implements durable.Store. The free space of the database's disk is unknown.
func (s *Store) Stats() durable.StoreStats {
	out := s.stats.Read()
	out.QueueBatches, out.QueueBytes = s.queue.Load()
	out.SnapshotBytes = s.snapshots.Bytes()
	refused := time.Duration(s.refused.Load())
	out.ReadOnly = s.ReadOnly() || refused > 0 && uptime()-refused < refusedFor
	return out
}
