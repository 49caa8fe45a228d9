package live

import (
	"testing"
	"unsafe"
)

// An idle connection uses 1.1 kB of RSS (BenchmarkIdleMemory). This test limits the size of the
// struct, because it could grow unnoticed.
func TestASessionIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Session{}); size > 288 {
		t.Errorf("a session has %d bytes, want at most 288", size)
	}
}
