package naming

import (
	"fmt"
	"slices"
	"strings"

	"atelier/transport/commerce/brief"
)

// CheckAuthority says whether host may speak for name: com.vendor.loyalty is
// for vendor.com and the hosts below it. The name must begin with the labels
// of the host in reverse, or of a domain above it.
func CheckAuthority(name, host string) error {
	labels := strings.Split(strings.ToLower(strings.TrimSuffix(host, ".")), ".")
	for len(labels) >= 2 && !publicSuffix(labels) {
		reversed := slices.Clone(labels)
		slices.Reverse(reversed)
		owner := strings.Join(reversed, ".")
		if name == owner || strings.HasPrefix(name, owner+".") {
			return nil
		}
		labels = labels[1:]
	}
	return fmt.Errorf("host %q cannot speak for the name %q", brief.Text(host), brief.Text(name))
}

// publicSuffix tells whether anybody can register below a domain like co.uk;
// its owner does not own what is below. A list of all of them would be a
// dependency; these are the shapes registries use.
func publicSuffix(labels []string) bool {
	if len(labels) != 2 || len(labels[1]) != 2 {
		return false
	}
	switch labels[0] {
	case "co", "com", "net", "org", "ac", "gov", "edu", "ne", "or", "go", "gob", "id", "me", "ltd", "plc":
		return true
	}
	return false
}
