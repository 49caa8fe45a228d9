package bustest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// Addresses returns n unused loopback addresses. Their ports are below those of outgoing
// connections, because another test could take such a port in the meantime.
func Addresses(t testing.TB, n int) (out []string) {
	t.Helper()
	for tries := 0; len(out) < n; tries++ {
		address := fmt.Sprint("127.0.0.1:", 12_000+rand.IntN(18_000))
		l, err := net.Listen("tcp", address)
		if err != nil {
			if tries > 1000 {
				t.Fatal(err)
			}
			continue
		}
		defer func() { _ = l.Close() }() // none comes twice
		out = append(out, address)
	}
	return out
}
