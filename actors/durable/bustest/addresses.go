package bustest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// Addresses returns n addresses of the loopback on which nothing listens. They lie
// below the ports that the system gives to outgoing connections: one of those was
// taken by another test between the look and the use.
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
