package live

import (
	"testing"
	"unsafe"
)

// TestASessionIsSmall guards the memory of an idle connection, 1.1 kB of RSS in
// BenchmarkIdleMemory, of which the struct is the part that grows unnoticed.
func TestASessionIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Session{}); size > 288 {
		t.Errorf("a session has %d bytes", size)
	}
}
