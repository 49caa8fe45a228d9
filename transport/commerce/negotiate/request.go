package negotiate

import (
	"maps"
	"slices"

	"atelier/transport/commerce/profile"
	"atelier/transport/commerce/schema"
)

// Request is the request of a platform.
type Request struct {
	// Profile is the inline profile, or nil if the profile is at Address.
	Profile any
	Address string
	// Want maps names to the requested versions.
	Want map[string]string
}

// maxValues bounds the values of a profile, because anyone can send one. A published profile has
// some hundreds.
const maxValues = 10_000

// ReadRequest reads the header UCP-Agent and the body of a negotiation, {"profile": …, "want":
// …}, which can be empty. An inline profile has priority over the header. The error is an *Error.
func ReadRequest(body []byte, agent string) (*Request, error) {
	r := &Request{}
	if len(body) > 0 {
		doc, err := schema.ParseSmall("body", body, maxValues)
		if err != nil {
			return nil, refuse(ProfileMalformed, err.Error())
		}
		object, ok := doc.Value.(map[string]any)
		if !ok {
			return nil, refuse(ProfileMalformed, "the body is not an object")
		}
		r.Profile = object["profile"]
		if r.Want, err = parseWant(object["want"]); err != nil {
			return nil, err
		}
	}
	if r.Profile != nil {
		return r, nil
	}
	if agent == "" {
		return nil, refuse(ProfileMalformed, `no profile: give it inline as "profile", or its address in the header UCP-Agent`)
	}
	address, err := profile.ParseAgent(agent)
	if err != nil {
		return nil, refuse(ProfileMalformed, err.Error())
	}
	r.Address = address
	return r, nil
}

func parseWant(value any) (map[string]string, error) {
	if value == nil {
		return nil, nil
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, refuse(ProfileMalformed, "want is not an object of versions by name")
	}
	want := make(map[string]string, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) { // sorted, so that equal requests have equal errors
		version, _ := object[name].(string)
		if err := CheckWant(name, version); err != nil {
			return nil, refuse(ProfileMalformed, "want: "+err.Error())
		}
		want[name] = version
	}
	return want, nil
}

// CheckWant validates a name and the version that is requested for it.
func CheckWant(name, version string) error {
	if err := schema.CheckName(name); err != nil {
		return err
	}
	return schema.CheckVersion(version)
}
