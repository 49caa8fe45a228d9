package limit

import "net/netip"

// networkBits is what of an IPv6 address names the network. The rest its owner
// chooses anew as often as they like.
const networkBits = 64

// Address is the key under which an address is limited: of IPv6 the network, of
// IPv4 the address, also where it is written as IPv6. What is no address stands
// for itself.
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
