package schema

import "slices"

// This file contains each enum of the protocol once. The tests of atelier/actors/naming compare
// these enums with handwritten copies elsewhere, such as the published schemas.

// The registries of a profile ("Registry shape").
const (
	Services        = "services"
	Capabilities    = "capabilities"
	PaymentHandlers = "payment_handlers"
)

// Registries lists all registries, in the order of findings about them.
var Registries = []string{Services, Capabilities, PaymentHandlers}

// Variants of an entity's declaration, under $defs ("Variants").
const (
	PlatformVariant = "platform_schema"
	BusinessVariant = "business_schema"
	ResponseVariant = "response_schema"
)

// Category is a kind of entity ("Schema categories").
type Category struct {
	// Name is also the name of its meta schema.
	Name string
	// Registry is the registry of its declarations.
	Registry string
	Variants []string
}

// Categories lists all categories.
var Categories = []Category{
	{"capability", Capabilities, []string{PlatformVariant, BusinessVariant, ResponseVariant}},
	{"service", Services, []string{PlatformVariant, BusinessVariant}},
	{"payment_handler", PaymentHandlers, []string{PlatformVariant, BusinessVariant, ResponseVariant}},
}

// CategoryNames returns the names of all categories.
func CategoryNames() []string {
	var names []string
	for _, c := range Categories {
		names = append(names, c.Name)
	}
	return names
}

// Transport is a way in which a service is offered.
type Transport struct {
	Name string
	// Needs lists the members that the transport's entries need in every profile.
	Needs []string
}

// Transports are all transports ("Schema categories").
var Transports = []Transport{
	{"rest", []string{"endpoint", "schema"}},
	{"mcp", []string{"endpoint", "schema"}},
	{"a2a", []string{"endpoint"}},
	{"embedded", []string{"schema"}},
}

// TransportNames returns the names of all transports.
func TransportNames() []string {
	var names []string
	for _, t := range Transports {
		names = append(names, t.Name)
	}
	return names
}

// Operations lists the protocol's operations. A vendor's capability can have further operations,
// which its annotations name.
var Operations = []string{"create", "read", "update", "complete", "cancel"}

// IsOperation reports whether the protocol has an operation.
func IsOperation(name string) bool {
	return slices.Contains(Operations, name) || slices.Contains(ContainerOperations, name)
}

// The annotations, and their values for a property.
const (
	RequestKey  = "ucp_request"
	ResponseKey = "ucp_response"

	Omit     = "omit"
	Optional = "optional"
	Required = "required"
)

// Visibilities lists the values of an annotation.
var Visibilities = []string{Omit, Optional, Required}

// CheckoutStates lists the states of a checkout, the only set of values in payloads that can never
// grow ("Checkout payload").
var CheckoutStates = []string{"open", "completed", "expired"}
