package bustest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"testing"
)

// Addresses returns n unused loopback addresses. Their ports are below the range for outgoing
// connections, so that no connection takes one in the meantime. On Linux, no other call in any
// process on this machine returns these addresses until the test ends.
func Addresses(t testing.TB, n int) (out []string) {
	t.Helper()
	for tries := 0; len(out) < n; tries++ {
		port := 12_000 + rand.IntN(18_000)
		address := fmt.Sprint("127.0.0.1:", port)
		err := reserve(t, port)
		if err == nil {
			var l net.Listener
			if l, err = net.Listen("tcp", address); err == nil {
				_ = l.Close()
				out = append(out, address)
				continue
			}
		}
		if tries > 1000 {
			t.Fatal(err)
		}
	}
	return out
}

// reserve reserves a port by listening on an abstract socket with its number. Only one process can
// listen on such a name, and the kernel frees it when the process ends.
func reserve(t testing.TB, port int) error {
	if runtime.GOOS != "linux" {
		return nil
	}
	held, err := net.Listen("unix", fmt.Sprint("@atelier-test-port-", port))
	if err != nil {
		return err
	}
	t.Cleanup(func() { _ = held.Close() })
	return nil
}
