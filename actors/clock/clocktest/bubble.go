package clocktest

import (
	"testing"
	"testing/synctest"
	"time"
)

// Bubble runs a test of actors on simulated time (testing/synctest). After the test's own cleanups
// it waits a simulated minute, so that the goroutines of the actor library can end. A goroutine
// that still waits at the end of a bubble is an error.
func Bubble(t *testing.T, run func(t *testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Minute) }) // simulated
		run(t)
	})
}
