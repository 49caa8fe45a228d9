package fetch

import (
	"errors"
	"net/netip"
)

// errInside is all that is said of an address of our own network.
var errInside = errors.New("the host is not on the public internet")

// inside are ranges that package netip does not know as private.
var inside = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network
	netip.MustParsePrefix("100.64.0.0/10"),   // carrier-grade NAT
	netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("240.0.0.0/4"),     // reserved, and broadcast
	netip.MustParsePrefix("64:ff9b::/96"),    // NAT64 may lead to any of these
	netip.MustParsePrefix("64:ff9b:1::/48"),  // local NAT64
	netip.MustParsePrefix("100::/64"),        // discard
	netip.MustParsePrefix("2001::/23"),       // protocol assignments, Teredo
	netip.MustParsePrefix("2001:db8::/32"),   // documentation
	netip.MustParsePrefix("2002::/16"),       // 6to4 may lead to any of these
	netip.MustParsePrefix("fec0::/10"),       // site-local, deprecated
}

// public refuses what is not an address of the public internet.
func public(a netip.AddrPort) error {
	ip := a.Addr().WithZone("").Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
		return errInside
	}
	for _, p := range inside {
		if p.Contains(ip) {
			return errInside
		}
	}
	return nil
}
