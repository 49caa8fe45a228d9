package negotiate

import (
	"atelier/transport/commerce/schema"
)

// Result has the versions and capabilities on which both sides agree.
type Result struct {
	Version         string              `json:"version"`
	Capabilities    map[string][]Chosen `json:"capabilities"`
	Services        map[string][]Chosen `json:"services"`
	PaymentHandlers map[string][]Chosen `json:"payment_handlers"`
	// Dropped is sorted by name.
	Dropped []Dropped `json:"dropped"`
}

// Chosen is an agreed entry: the version, for a service the transport and
// where the business has it, for a handler the instance id of the business.
type Chosen struct {
	ID        string `json:"id,omitempty"`
	Version   string `json:"version"`
	Transport string `json:"transport,omitempty"`
	Endpoint  string `json:"endpoint,omitempty"`
	Schema    string `json:"schema,omitempty"`
}

// Dropped is a name the platform has that was not agreed on.
type Dropped struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// The codes of an Error.
const (
	VersionUnsupported       = "version_unsupported"
	ProfileMalformed         = "profile_malformed"
	CapabilitiesIncompatible = "capabilities_incompatible"
	ProfileUnreachable       = "profile_unreachable"
)

// Error is a negotiation that came to nothing.
type Error struct {
	Code    string `json:"code"`
	Content string `json:"content"`
}

// refuse makes an Error. Its content goes to a stranger, who may have written
// most of it.
func refuse(code, content string) *Error { return &Error{code, schema.BriefMessage(content)} }

func (e *Error) Error() string { return e.Code + ": " + e.Content }

// Status is the HTTP status an error is answered with.
func (e *Error) Status() int {
	if e.Code == ProfileUnreachable {
		return 424
	}
	return 422
}
