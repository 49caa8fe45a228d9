package httpapi

import "net/netip"

// networkBits is the length of the network part of an IPv6 address. The owner of the network can
// change the other bits at any time, so limits apply to the network.
const networkBits = 64

// Address returns the key for an address's limits: the network of an IPv6 address, or the IPv4
// address, even if it is written as IPv6. Any other text is returned unchanged.
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
