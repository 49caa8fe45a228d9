package bustest

import "testing"

// No address is returned twice, even if nothing listens on it yet.
func TestEveryAddressIsReturnedOnce(t *testing.T) {
	seen := map[string]bool{}
	for range 40 {
		for _, address := range Addresses(t, 50) {
			if seen[address] {
				t.Fatalf("%s is returned twice", address)
			}
			seen[address] = true
		}
	}
}
