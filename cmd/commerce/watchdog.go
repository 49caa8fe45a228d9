package main

import (
	"fmt"
	"os"
	"runtime/metrics"
	"time"
)

// maxHeap is the maximum size of a run's heap, in bytes. A checkout of a thousand lines takes 30
// MB.
const maxHeap = 2 << 30

// lookEvery is the interval of the watchdog.
const lookEvery = 50 * time.Millisecond

// watch ends the process with the exit code for composition if a run takes longer than within, or
// uses more than maxHeap. A schema can multiply the work with each level of a value, and nothing
// inside a validator can stop the work.
func watch(s streams, args []string, within time.Duration) {
	began := time.Now()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for {
		time.Sleep(lookEvery)
		metrics.Read(heap)
		var reason string
		switch took := time.Since(began); {
		case took >= within:
			reason = fmt.Sprintf("more than %v", within)
		case heap[0].Value.Uint64() > maxHeap:
			reason = fmt.Sprintf("more than %d MiB", maxHeap>>20)
		default:
			continue
		}
		err := fmt.Errorf("gave up: these schemas and values take %s; --give-up-after sets the time", reason)
		os.Exit(report(s, args, failure{exitUsage, "too-much-work", "", err}))
	}
}
