package profile

import (
	"fmt"
	"maps"
	"slices"

	"atelier/transport/commerce/schema"
)

// Limits of a profile. maxNames bounds the names in a registry, and maxEntries bounds the entries
// of a name and the supported versions.
const (
	maxNames   = 1000
	maxEntries = 100
)

// Profile is the declaration of one side. It is immutable after Parse.
type Profile struct {
	Version         string
	Services        Registry
	Capabilities    Registry
	PaymentHandlers Registry
	// SupportedVersions maps the other protocol versions of the side to the addresses of their
	// profiles.
	SupportedVersions map[string]string
}

// Registry maps names to their entries.
type Registry map[string][]Entry

// Entry is one declaration ("Entity entry fields").
type Entry struct {
	Version string
	// Spec and Schema are addresses; "" if not stated.
	Spec, Schema string
	// ID is the instance id of a payment handler.
	ID string
	// Transport and Endpoint are set for services.
	Transport, Endpoint string
	// Extends are the parents, sorted; none for a root.
	Extends  []string
	Requires schema.Requires
}

// MalformedError is the position and reason of a malformed profile.
type MalformedError struct{ Pointer, Reason string }

func (e *MalformedError) Error() string {
	if e.Pointer == "" {
		return e.Reason
	}
	return schema.Brief(e.Pointer) + ": " + schema.BriefMessage(e.Reason)
}

// Parse reads a profile from a tree of schema.Parse. A missing registry is empty. The error is a
// *MalformedError.
func Parse(value any) (*Profile, error) {
	root, ok := value.(map[string]any)
	if !ok {
		return nil, &MalformedError{"", "a profile is an object"}
	}
	ucp, ok := root["ucp"].(map[string]any)
	if !ok {
		return nil, &MalformedError{"/ucp", "a profile has an object ucp"}
	}
	version, err := parseVersion("/ucp", ucp)
	if err != nil {
		return nil, err
	}
	p := &Profile{Version: version}
	registries := map[string]*Registry{schema.Services: &p.Services, schema.Capabilities: &p.Capabilities, schema.PaymentHandlers: &p.PaymentHandlers}
	for _, name := range schema.Registries { // in this order, so that equal profiles have equal errors
		if *registries[name], err = parseRegistry("/ucp/"+name, ucp[name]); err != nil {
			return nil, err
		}
	}
	if err := checkHandlers(p.PaymentHandlers); err != nil {
		return nil, err
	}
	if p.SupportedVersions, err = parseSupported(ucp["supported_versions"]); err != nil {
		return nil, err
	}
	return p, nil
}

func parseVersion(at string, object map[string]any) (string, error) {
	version, ok := object["version"].(string)
	if !ok {
		return "", &MalformedError{at + "/version", "a version, a string YYYY-MM-DD, is missing"}
	}
	if err := schema.CheckVersion(version); err != nil {
		return "", &MalformedError{at + "/version", err.Error()}
	}
	return version, nil
}

func parseSupported(value any) (map[string]string, error) {
	const at = "/ucp/supported_versions"
	if value == nil {
		return nil, nil
	}
	object, ok := value.(map[string]any)
	if !ok || len(object) > maxEntries {
		return nil, &MalformedError{at, fmt.Sprintf("want an object of at most %d profile addresses by version", maxEntries)}
	}
	supported := make(map[string]string, len(object))
	for _, version := range slices.Sorted(maps.Keys(object)) {
		if err := schema.CheckVersion(version); err != nil {
			return nil, &MalformedError{at, err.Error()}
		}
		if supported[version], ok = object[version].(string); !ok {
			return nil, &MalformedError{at + "/" + version, "want the address of a profile"}
		}
	}
	return supported, nil
}

func parseRegistry(at string, value any) (Registry, error) {
	if value == nil {
		return nil, nil
	}
	byName, ok := value.(map[string]any)
	if !ok {
		return nil, &MalformedError{at, "a registry is an object: name -> array of entries"}
	}
	if len(byName) > maxNames {
		return nil, &MalformedError{at, fmt.Sprintf("more than %d names", maxNames)}
	}
	registry := make(Registry, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		below := at + "/" + schema.Escape(name)
		if err := schema.CheckName(name); err != nil {
			return nil, &MalformedError{below, err.Error()}
		}
		list, ok := byName[name].([]any)
		if !ok || len(list) == 0 || len(list) > maxEntries {
			return nil, &MalformedError{below, fmt.Sprintf("want an array of 1 to %d entries", maxEntries)}
		}
		for i, item := range list {
			entry, err := parseEntry(fmt.Sprintf("%s/%d", below, i), item)
			if err != nil {
				return nil, err
			}
			registry[name] = append(registry[name], entry)
		}
	}
	return registry, nil
}

func parseEntry(at string, value any) (e Entry, err error) {
	object, ok := value.(map[string]any)
	if !ok {
		return e, &MalformedError{at, "the entry is not an object"}
	}
	if e.Version, err = parseVersion(at, object); err != nil {
		return e, err
	}
	texts := map[string]*string{"spec": &e.Spec, "schema": &e.Schema, "id": &e.ID, "transport": &e.Transport, "endpoint": &e.Endpoint}
	for _, member := range slices.Sorted(maps.Keys(texts)) {
		if v, ok := object[member]; ok {
			if *texts[member], ok = v.(string); !ok {
				return e, &MalformedError{at + "/" + member, "want a string"}
			}
		}
	}
	if config, ok := object["config"]; ok {
		if _, ok := config.(map[string]any); !ok {
			return e, &MalformedError{at + "/config", "want an object"}
		}
	}
	if e.Extends, err = schema.ParseExtends(object["extends"]); err != nil {
		return e, &MalformedError{at + "/extends", err.Error()}
	}
	if e.Requires, err = schema.ParseRequires(object["requires"]); err != nil {
		return e, &MalformedError{at, err.Error()}
	}
	return e, nil
}

// checkHandlers checks ids: every handler has an id, unique in the profile.
func checkHandlers(handlers Registry) error {
	ids := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(handlers)) {
		for i, e := range handlers[name] {
			at := fmt.Sprintf("/ucp/payment_handlers/%s/%d", name, i)
			if e.ID == "" {
				return &MalformedError{at, "a payment handler needs an instance id"}
			}
			if ids[e.ID] {
				return &MalformedError{at + "/id", fmt.Sprintf("id %q is used twice", e.ID)}
			}
			ids[e.ID] = true
		}
	}
	return nil
}
