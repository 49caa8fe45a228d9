package negotiate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"atelier/transport/commerce/profile"
	"atelier/transport/commerce/schema"
)

// Requirements returns the requirements in the schema of an entry, in addition to those that the
// entry itself states. If it returns an error, the entry is dropped with the error as the reason.
type Requirements func(name string, entry profile.Entry) (schema.Requires, error)

// Profiles negotiates the version, capabilities, services and payment handlers of a platform and a
// business. want maps names to the versions that the platform requests. stated can be nil. The
// error is an *Error.
func Profiles(platform, business *profile.Profile, want map[string]string, stated Requirements) (*Result, error) {
	version, ok := protocol(platform, business)
	if !ok {
		return nil, refuse(VersionUnsupported, fmt.Sprintf("the platform supports %s, the business %s", spoken(platform), spoken(business)))
	}
	a := &agreement{version: version, chosen: map[key]*choice{}, dropped: map[key]string{}}
	a.choose(capabilities, platform.Capabilities, business.Capabilities, want)
	a.choose(services, platform.Services, business.Services, want)
	a.choose(handlers, platform.PaymentHandlers, business.PaymentHandlers, want)
	a.require(stated)
	a.settle()
	r := a.result()
	if len(r.Capabilities) == 0 {
		return nil, refuse(CapabilitiesIncompatible, "no capability is left"+because(r.Dropped))
	}
	return r, nil
}

// protocol returns the common version. It is the current version of both sides, or the current
// version of one side for which the other has a profile. If two versions are possible, it is the
// later one.
func protocol(platform, business *profile.Profile) (version string, ok bool) {
	if platform.Version == business.Version {
		return platform.Version, true
	}
	if _, ok := business.SupportedVersions[platform.Version]; ok {
		version = platform.Version
	}
	if _, ok := platform.SupportedVersions[business.Version]; ok {
		version = max(version, business.Version)
	}
	return version, version != ""
}

func spoken(p *profile.Profile) string {
	versions := []string{p.Version}
	for v := range p.SupportedVersions {
		versions = append(versions, v)
	}
	slices.Sort(versions)
	return schema.BriefList(slices.Compact(versions))
}

func because(dropped []Dropped) string {
	const most = 5
	var b strings.Builder
	for i, d := range dropped {
		if i == most {
			fmt.Fprintf(&b, "; and %d more", len(dropped)-most)
			break
		}
		fmt.Fprintf(&b, "; %s: %s", d.Name, d.Reason)
	}
	return b.String()
}

type registry int

const (
	capabilities registry = iota
	services
	handlers
)

type key struct {
	registry registry
	name     string
}

func (k key) compare(other key) int {
	return cmp.Or(cmp.Compare(k.name, other.name), cmp.Compare(k.registry, other.registry))
}
