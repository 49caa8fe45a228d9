package profile

import (
	"atelier/transport/commerce/brief"
	"atelier/transport/commerce/naming"
)

// Limits of a profile that is negotiated with.
const (
	maxNames   = 1000
	maxEntries = 100
)

// Profile is what a side declares. Immutable after Parse.
type Profile struct {
	Version         string
	Services        Registry
	Capabilities    Registry
	PaymentHandlers Registry
	// SupportedVersions has the address of the profile of each other protocol
	// version the side speaks.
	SupportedVersions map[string]string
}

// Registry has the entries of each name.
type Registry map[string][]Entry

// Entry is one declaration.
type Entry struct {
	Version string
	// Spec and Schema are addresses; "" when not stated.
	Spec, Schema string
	// ID is the instance id of a payment handler.
	ID string
	// Transport and Endpoint are of services.
	Transport, Endpoint string
	// Extends are the parents, sorted; none for a root.
	Extends  []string
	Requires naming.Requires
}

// MalformedError says where a profile is not one.
type MalformedError struct{ Pointer, Reason string }

func (e *MalformedError) Error() string {
	if e.Pointer == "" {
		return e.Reason
	}
	return brief.Text(e.Pointer) + ": " + brief.Message(e.Reason)
}
