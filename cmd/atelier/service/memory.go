package service

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// leastMemory is what the Go heap may take before collecting gets eager, and
// roomy how many times what is in use it may take when that is more.
const (
	leastMemory = 256 << 20
	roomy       = 1.5
)

// keepMemory bounds the garbage that piles up under load. The collector alone
// lets the heap grow to twice what is in use at the worst moment, which is a
// flush of the store, and gives it back slowly: a million tokens made at once
// left 800 MiB of heap, of which 150 were in use. With the bound it is 256, and
// neither throughput nor latency changed. It follows what is in use, so that a
// large installation never collects without end. GOMEMLIMIT in the environment
// wins.
func keepMemory(ctx context.Context) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	// The limit counts all of the runtime's memory, so what is not heap comes on
	// top of the heap's share.
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	beside := []metrics.Sample{
		{Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/memory/classes/os-stacks:bytes"}, {Name: "/memory/classes/other:bytes"},
		{Name: "/memory/classes/metadata/mspan/inuse:bytes"}, {Name: "/memory/classes/metadata/mspan/free:bytes"},
		{Name: "/memory/classes/metadata/mcache/inuse:bytes"}, {Name: "/memory/classes/metadata/mcache/free:bytes"},
		{Name: "/memory/classes/metadata/other:bytes"}, {Name: "/memory/classes/profiling/buckets:bytes"},
	}
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		metrics.Read(live)
		metrics.Read(beside)
		limit := max(leastMemory, int64(roomy*float64(live[0].Value.Uint64())))
		for _, s := range beside {
			limit += int64(s.Value.Uint64())
		}
		debug.SetMemoryLimit(limit)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
