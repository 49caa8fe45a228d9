package httpapi

import "net/netip"

// networkBits is the length of the network part of an IPv6 address. Its owner can change the rest
// at any time.
const networkBits = 64

// Address returns the key for an address's limits: the network of an IPv6 address, or the IPv4
// address, even if it is written as IPv6. Any other text is its own key.
func Address(ip string) string {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	if a = a.Unmap(); a.Is4() {
		return a.String()
	}
	p, err := a.WithZone("").Prefix(networkBits)
	if err != nil {
		return ip
	}
	return p.String()
}
