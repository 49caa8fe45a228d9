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

// Default is the profile of a server that nobody configured: the published
// capabilities at the current release, the shopping service at address, which
// is where the server is reached, and the tokenization handler below it.
//
// Every address in it is served there. Schemas lie under schemaBase, "" for
// that of the server; a server that does not know its address has neither
// services nor handlers to offer, nor schemas to point to.
func Default(schemaBase, address string) Config {
	address = strings.TrimSuffix(address, "/")
	c := Config{SchemaBase: cmp.Or(schemaBase, schemas.DefaultBase), Version: schemas.Version, Capabilities: offered("")}
	if address == "" {
		return c
	}
	const v = schemas.Version
	c.SchemaBase = cmp.Or(schemaBase, address+"/schemas")
	at := c.SchemaBase + "/" + v + "/"
	c.Capabilities = offered(at)
	c.Services = []Service{
		{Name: "dev.commerce.shopping", Version: v, Transport: "rest", Endpoint: address + "/api/commerce", Schema: at + "shopping/rest.openapi.json"},
	}
	c.PaymentHandlers = []Handler{
		{ID: "tokenization", Name: "com.atelier.tokenization", Version: v, Schema: at + "handlers/tokenization.json",
			Config: map[string]any{"environment": "production", "base_url": address + "/handler"}},
		{ID: "tokenization-sandbox", Name: "com.atelier.tokenization", Version: v, Schema: at + "handlers/tokenization.json",
			Config: map[string]any{"environment": "sandbox", "base_url": address + "/sandbox/handler"}},
	}
	return c
}

// offered are the capabilities of the business's checkout, their schemas below
// at; "" leaves those out.
func offered(at string) []Capability {
	const (
		v        = schemas.Version
		shopping = "dev.commerce.shopping."
	)
	list := []Capability{
		{Name: shopping + "checkout"},
		{Name: shopping + "fulfillment", Extends: []string{shopping + "checkout"},
			Config: map[string]any{"allows_multi_destination": map[string]any{"shipping": true}}},
		{Name: shopping + "discount", Extends: []string{shopping + "checkout"}},
		{Name: shopping + "order"},
	}
	for i := range list {
		list[i].Version = v
		if at != "" {
			list[i].Schema = at + "shopping/" + strings.TrimPrefix(list[i].Name, shopping) + ".json"
		}
	}
	return list
}
