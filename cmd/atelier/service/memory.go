package service

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The limit of the Go heap, above which the garbage collector works harder, is roomy times the
// memory in use, but at least leastMemory bytes.
const (
	leastMemory = 352 << 20
	roomy       = 1.5
)

// A server is quiet if it allocates less than quietBytes per second. It then returns unused memory
// to the system, if at least worthwhile bytes have accumulated since the last return.
const (
	quietBytes = 4 << 20
	worthwhile = 8 << 20
)

// The collector runs when the heap has grown by this percentage of the memory in use. A smaller
// percentage keeps less memory resident, but costs CPU time. Under durable writes or tokens (120 to
// 270 MB/s), collecting at 100 takes 5 % of the CPU time, and at 40 two and a half times as much.
// The server therefore uses 40 only while it allocates less than calmBytes per second.
const (
	thrifty   = 40
	hurried   = 100
	calmBytes = 64 << 20
)

// lookEvery is the interval of measurements.
const lookEvery = 2 * time.Second

// keepMemory bounds the garbage that accumulates under load. The collector alone lets the heap grow
// to twice the memory in use at the worst moment, a flush of the store. It then returns the memory
// slowly. A million new tokens left a heap of 800 MiB, of which 150 MiB were in use. With the bound
// the heap is 352 MiB, at the same throughput and latency. A bound of 256 MiB gave durable writes
// on 256 connections a longer tail. A flush of the store allocates 100 MiB in one step, and the
// collector then ran permanently. The p99 was 3.0 to 5.1 times the median, compared with 2.5 to 3.2
// times at 352 MiB (alternating runs). A bound above 352 MiB was no better. The bound grows with
// the memory in use, so that a large installation does not collect permanently. If GOMEMLIMIT is
// set in the environment, keepMemory does nothing.
//
// The runtime retains a tenth more memory than it expects to need, judged by the last peak. Ten
// thousand attendees who had joined left 60 MiB. After a peak, one collection therefore returns the
// memory when the server is quiet. Before that, forget empties the caches.
func keepMemory(ctx context.Context, forget func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	// The limit counts all of the runtime's memory. Memory outside the heap is therefore added to
	// the limit for the heap.
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	beside := []metrics.Sample{
		{Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/memory/classes/os-stacks:bytes"}, {Name: "/memory/classes/other:bytes"},
		{Name: "/memory/classes/metadata/mspan/inuse:bytes"}, {Name: "/memory/classes/metadata/mspan/free:bytes"},
		{Name: "/memory/classes/metadata/mcache/inuse:bytes"}, {Name: "/memory/classes/metadata/mcache/free:bytes"},
		{Name: "/memory/classes/metadata/other:bytes"}, {Name: "/memory/classes/profiling/buckets:bytes"},
	}
	unused := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	pace := pace{set: func(percent int) { debug.SetGCPercent(percent) }}
	if os.Getenv("GOGC") != "" {
		pace.set = func(int) {}
	}
	pace.is(thrifty)
	var growth growth
	var returns returns
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		metrics.Read(live)
		metrics.Read(beside)
		limit := max(leastMemory, int64(roomy*float64(live[0].Value.Uint64())))
		for _, s := range beside {
			limit += int64(s.Value.Uint64())
		}
		debug.SetMemoryLimit(limit)
		metrics.Read(unused)
		metrics.Read(allocated)
		grown, known := growth.since(allocated[0].Value.Uint64())
		pace.adjust(grown, known)
		garbage := unused[2].Value.Uint64() - min(live[0].Value.Uint64(), unused[2].Value.Uint64())
		if returns.due(grown, known, unused[0].Value.Uint64()+unused[1].Value.Uint64()+garbage) {
			forget()
			debug.FreeOSMemory()
			metrics.Read(live)
			metrics.Read(unused)
			returns.done(unused[0].Value.Uint64() + unused[1].Value.Uint64())
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// growth measures the bytes allocated between two measurements.
type growth struct {
	looked    bool
	allocated uint64
}

// since receives the total number of allocated bytes, once per lookEvery, and returns the growth.
// The growth is unknown at the first call.
func (g *growth) since(allocated uint64) (grown uint64, known bool) {
	grown, known = allocated-g.allocated, g.looked
	g.looked, g.allocated = true, allocated
	return grown, known
}

// pace decides how often garbage is collected.
type pace struct {
	set     func(percent int)
	percent int
}

// adjust processes the number of bytes allocated within lookEvery.
func (p *pace) adjust(grown uint64, known bool) {
	if known && grown > uint64(calmBytes*lookEvery.Seconds()) {
		p.is(hurried)
	} else {
		p.is(thrifty)
	}
}

func (p *pace) is(percent int) {
	if percent != p.percent { // a change stops the world for a moment
		p.percent = percent
		p.set(percent)
	}
}

// returns decides when memory is returned to the system.
type returns struct {
	// left is the unused memory after the last return.
	left uint64
}

// due reports whether memory should be returned now. It considers the bytes allocated within
// lookEvery, and the unused memory.
func (r *returns) due(grown uint64, known bool, unused uint64) bool {
	quiet := known && grown < uint64(quietBytes*lookEvery.Seconds())
	return quiet && unused > r.left+worthwhile
}

// done records the unused memory that another collection would not return, either.
func (r *returns) done(left uint64) { r.left = left }
