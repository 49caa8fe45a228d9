package negotiate_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"atelier/transport/commerce/negotiate"
	"atelier/transport/commerce/profile"
	"atelier/transport/commerce/schema"
)

var (
	names    = []string{"com.a.a", "com.a.b", "com.a.c", "com.a.d", "com.a.e", "com.a.f"}
	versions = []string{"2025-01-01", "2025-06-01", "2026-01-23"}
)

// entries draws the entries of a name. Half of them extend something.
func entries(t *rapid.T) []profile.Entry {
	var list []profile.Entry
	for _, v := range rapid.SliceOfNDistinct(rapid.SampledFrom(versions), 1, 3, rapid.ID[string]).Draw(t, "versions") {
		e := profile.Entry{Version: v}
		if rapid.Bool().Draw(t, "extends") {
			e.Extends = rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 2, rapid.ID[string]).Draw(t, "parents")
		}
		if rapid.IntRange(0, 3).Draw(t, "requires") == 0 {
			e.Requires.Capabilities = map[string]schema.Range{rapid.SampledFrom(names).Draw(t, "needed"): {Min: rapid.SampledFrom(versions).Draw(t, "min")}}
		}
		list = append(list, e)
	}
	return list
}

func drawProfile(t *rapid.T, label string) *profile.Profile {
	p := &profile.Profile{Version: "2026-01-23", Capabilities: profile.Registry{}}
	for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID[string]).Draw(t, label) {
		p.Capabilities[name] = entries(t)
	}
	return p
}

func drawWant(t *rapid.T) map[string]string {
	return rapid.MapOf(rapid.SampledFrom(names), rapid.SampledFrom(versions)).Draw(t, "want")
}

// agreed negotiates. Without an agreement the result is empty.
func agreed(t *rapid.T, platform, business *profile.Profile, want map[string]string) *negotiate.Result {
	r, err := negotiate.Profiles(platform, business, want, nil)
	if e := (*negotiate.Error)(nil); errors.As(err, &e) {
		if e.Code != negotiate.CapabilitiesIncompatible {
			t.Fatal(e)
		}
		return &negotiate.Result{}
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func hasVersion(entries []profile.Entry, version string) bool {
	return slices.ContainsFunc(entries, func(e profile.Entry) bool { return e.Version == version })
}

// common returns the version that the algorithm chooses for a name, before any pruning.
func common(p, b []profile.Entry, want string) (version string) {
	for _, v := range versions {
		if hasVersion(p, v) && hasVersion(b, v) {
			version = v
		}
	}
	if hasVersion(p, want) && hasVersion(b, want) {
		return want
	}
	return version
}

func TestTheResultIsInBothProfiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, b, want := drawProfile(t, "platform"), drawProfile(t, "business"), drawWant(t)
		r := agreed(t, p, b, want)
		for name, chosen := range r.Capabilities {
			if len(chosen) != 1 || chosen[0].Version != common(p.Capabilities[name], b.Capabilities[name], want[name]) {
				t.Fatalf("the choice for %s is %v", name, chosen)
			}
		}
		for _, d := range r.Dropped {
			if r.Capabilities[d.Name] != nil || d.Reason == "" {
				t.Fatalf("%v is both dropped and agreed", d)
			}
		}
		if len(r.Capabilities) > 0 && len(r.Capabilities)+len(r.Dropped) != len(p.Capabilities) {
			t.Fatalf("%d agreed and %d dropped capabilities, want %d together", len(r.Capabilities), len(r.Dropped), len(p.Capabilities))
		}
	})
}

func TestTheOrderOfInputDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, b, want := drawProfile(t, "platform"), drawProfile(t, "business"), drawWant(t)
		shuffle := func(p *profile.Profile) *profile.Profile {
			out := &profile.Profile{Version: p.Version, Capabilities: profile.Registry{}}
			for name, entries := range p.Capabilities {
				out.Capabilities[name] = rapid.Permutation(entries).Draw(t, "order")
			}
			return out
		}
		first := agreed(t, p, b, want)
		if again := agreed(t, shuffle(p), shuffle(b), want); !reflect.DeepEqual(first, again) {
			t.Fatalf("the result is %+v, and in another order %+v", first, again)
		}
		// If the sides swap, the agreement stays the same.
		if swapped := agreed(t, b, p, want); !reflect.DeepEqual(first.Capabilities, swapped.Capabilities) {
			t.Fatalf("the result is %+v, and with swapped sides %+v", first.Capabilities, swapped.Capabilities)
		}
	})
}

// only returns the agreed part of a profile.
func only(p *profile.Profile, r *negotiate.Result) *profile.Profile {
	out := &profile.Profile{Version: p.Version, Capabilities: profile.Registry{}}
	for name, chosen := range r.Capabilities {
		out.Capabilities[name] = slices.DeleteFunc(slices.Clone(p.Capabilities[name]), func(e profile.Entry) bool { return e.Version != chosen[0].Version })
	}
	return out
}

func TestTheResultIsAFixpoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, b, want := drawProfile(t, "platform"), drawProfile(t, "business"), drawWant(t)
		r := agreed(t, p, b, want)
		if again := agreed(t, only(p, r), only(b, r), want); !reflect.DeepEqual(r.Capabilities, again.Capabilities) || len(again.Dropped) > 0 {
			t.Fatalf("negotiating %+v again results in %+v", r.Capabilities, again)
		}
	})
}

// The test follows every agreed name through agreed parents to a root, and checks every
// requirement.
func TestAgreedExtensionsHaveAgreedParents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, b, want := drawProfile(t, "platform"), drawProfile(t, "business"), drawWant(t)
		r := agreed(t, p, b, want)
		rooted := map[string]bool{}
		for range names {
			for name := range r.Capabilities {
				ok := true
				for _, e := range slices.Concat(only(p, r).Capabilities[name], only(b, r).Capabilities[name]) {
					ok = ok && (len(e.Extends) == 0 || slices.ContainsFunc(e.Extends, func(parent string) bool { return rooted[parent] }))
					for needed, rng := range e.Requires.Capabilities {
						if r.Capabilities[needed] == nil || !rng.Holds(r.Capabilities[needed][0].Version) {
							t.Fatalf("%s requires %s %s, but agreed are %v", name, needed, rng, r.Capabilities)
						}
					}
				}
				rooted[name] = rooted[name] || ok
			}
		}
		for name := range r.Capabilities {
			if !rooted[name] {
				t.Fatalf("%s has no root in %v", name, r.Capabilities)
			}
		}
	})
}

func TestALongChainOfExtensionsIsAgreed(t *testing.T) {
	p := &profile.Profile{Version: "2026-01-23", Capabilities: profile.Registry{}}
	for i := range 1000 {
		e := profile.Entry{Version: "2026-01-23"}
		if i > 0 {
			e.Extends = []string{fmt.Sprintf("com.a.x%d", i-1)}
		}
		p.Capabilities[fmt.Sprintf("com.a.x%d", i)] = []profile.Entry{e}
	}
	r, err := negotiate.Profiles(p, p, nil, nil)
	if err != nil || len(slices.Collect(maps.Keys(r.Capabilities))) != 1000 {
		t.Errorf("Profiles returned %v, %v", r, err)
	}
}
