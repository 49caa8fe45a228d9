package negotiate

import (
	"atelier/transport/commerce/schema"
)

// Result contains the versions and capabilities on which both sides agree.
type Result struct {
	Version         string              `json:"version"`
	Capabilities    map[string][]Chosen `json:"capabilities"`
	Services        map[string][]Chosen `json:"services"`
	PaymentHandlers map[string][]Chosen `json:"payment_handlers"`
	// Dropped is sorted by name.
	Dropped []Dropped `json:"dropped"`
}

// Chosen is an agreed entry. It contains the version. For a service it also contains the business's
// transport, endpoint and schema, and for a handler the business's instance id.
type Chosen struct {
	ID        string `json:"id,omitempty"`
	Version   string `json:"version"`
	Transport string `json:"transport,omitempty"`
	Endpoint  string `json:"endpoint,omitempty"`
	Schema    string `json:"schema,omitempty"`
}

// Dropped is a name of the platform that was not agreed on.
type Dropped struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Codes of an Error.
const (
	VersionUnsupported       = "version_unsupported"
	ProfileMalformed         = "profile_malformed"
	CapabilitiesIncompatible = "capabilities_incompatible"
	ProfileUnreachable       = "profile_unreachable"
)

// Error is a failed negotiation.
type Error struct {
	Code    string `json:"code"`
	Content string `json:"content"`
}

// refuse returns an Error. The content is shortened, because an unknown client receives it and may
// have written most of it.
func refuse(code, content string) *Error { return &Error{code, schema.BriefMessage(content)} }

func (e *Error) Error() string { return e.Code + ": " + e.Content }

// Status returns the HTTP status for the error.
func (e *Error) Status() int {
	if e.Code == ProfileUnreachable {
		return 424
	}
	return 422
}
