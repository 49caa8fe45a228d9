package profile

import (
	"cmp"
	"strings"

	"atelier/transport/commerce/schemas"
)

// Config is what the profile of a business is made of.
type Config struct {
	// SchemaBase is where the published schemas are served, without a slash at
	// the end. "" is their default base.
	SchemaBase string
	// Version is the protocol version. "" is the current release.
	Version         string
	Services        []Service
	Capabilities    []Capability
	PaymentHandlers []Handler
	// SupportedVersions has the address of the profile of each other protocol
	// version that is still spoken.
	SupportedVersions map[string]string
}

// Service is a service over one transport.
type Service struct {
	Name, Version, Transport string
	// Endpoint and Schema are addresses; which are needed the transport says.
	Endpoint, Schema, Spec string
}

// Capability is a capability in one version.
type Capability struct {
	Name, Version string
	// Extends names the parents of an extension.
	Extends      []string
	Spec, Schema string
	Config       map[string]any
}

// Handler is one configuration of a payment handler.
type Handler struct {
	ID, Name, Version string
	Spec, Schema      string
	Config            map[string]any
}

// Default is the profile a server has that nobody configured: the published
// capabilities at the current release, the shopping service at address, and
// the tokenization handler below it.
func Default(schemaBase, address string) Config {
	const v = schemas.Version
	base := cmp.Or(schemaBase, schemas.DefaultBase)
	at := func(path string) string { return base + "/" + v + "/" + path }
	address = strings.TrimSuffix(address, "/")
	const checkout = "dev.commerce.shopping.checkout"
	return Config{
		SchemaBase: base,
		Version:    v,
		Services: []Service{
			{Name: "dev.commerce.shopping", Version: v, Transport: "rest", Endpoint: address + "/api/commerce", Schema: at("shopping/rest.openapi.json")},
		},
		Capabilities: []Capability{
			{Name: checkout, Version: v, Schema: at("shopping/checkout.json")},
			{Name: "dev.commerce.shopping.fulfillment", Version: v, Extends: []string{checkout}, Schema: at("shopping/fulfillment.json"),
				Config: map[string]any{"allows_multi_destination": map[string]any{"shipping": true}}},
			{Name: "dev.commerce.shopping.discount", Version: v, Extends: []string{checkout}, Schema: at("shopping/discount.json")},
			{Name: "dev.commerce.shopping.order", Version: v, Schema: at("shopping/order.json")},
		},
		PaymentHandlers: []Handler{
			{ID: "tokenization", Name: "com.atelier.tokenization", Version: v, Schema: at("handlers/tokenization.json"),
				Config: map[string]any{"environment": "production", "base_url": address + "/handler"}},
			{ID: "tokenization-sandbox", Name: "com.atelier.tokenization", Version: v, Schema: at("handlers/tokenization.json"),
				Config: map[string]any{"environment": "sandbox", "base_url": address + "/sandbox/handler"}},
		},
	}
}
