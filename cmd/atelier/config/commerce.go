package config

import (
	"encoding/json"
	"errors"
)

// Commerce is the configuration section of the business's side of the commerce protocol. Empty
// lists of services, capabilities and payment handlers select the server's defaults.
type Commerce struct {
	SchemaBase        string               `toml:"schema_base" doc:"Base address of the published schemas' $id. If empty, it is public_url and /schemas, or without public_url https://atelier.example/schemas."`
	Schemas           string               `toml:"schemas" doc:"Folder with your own schemas, read at the start and served under /schemas/ as <version>/<path>.json. Each has its address in $id, where https://atelier.example/schemas/ is replaced by the schema base. A schema that breaks a convention prevents the start. Empty: none."`
	Version           string               `toml:"version" doc:"Protocol version of the business profile. Empty: the newest supported version."`
	SupportedVersions []string             `toml:"supported_versions" doc:"Profiles of other supported protocol versions, as \"DATE=URL\"."`
	Services          []CommerceService    `toml:"services" doc:"Services offered: tables of name, version, transport, endpoint, schema, spec. Empty: dev.commerce.shopping over rest, when public_url is set."`
	Capabilities      []CommerceCapability `toml:"capabilities" doc:"Capabilities offered: tables of name, version, extends, schema, spec, config. Empty: checkout, fulfillment, discount, order."`
	PaymentHandlers   []CommerceHandler    `toml:"payment_handlers" doc:"Payment handlers: tables of id, name, version, schema, spec, config. Empty: this server's own tokenization handler, production and sandbox, when public_url is set."`
}

// CommerceService is a service of the profile over one transport.
type CommerceService struct {
	Name      string `toml:"name" json:"name"`
	Version   string `toml:"version" json:"version"`
	Transport string `toml:"transport" json:"transport"`
	Endpoint  string `toml:"endpoint,omitempty" json:"endpoint"`
	Schema    string `toml:"schema,omitempty" json:"schema"`
	Spec      string `toml:"spec,omitempty" json:"spec"`
}

// CommerceCapability is a capability of the profile in one version.
type CommerceCapability struct {
	Name    string         `toml:"name" json:"name"`
	Version string         `toml:"version" json:"version"`
	Extends Names          `toml:"extends,omitempty" json:"extends"`
	Schema  string         `toml:"schema,omitempty" json:"schema"`
	Spec    string         `toml:"spec,omitempty" json:"spec"`
	Config  map[string]any `toml:"config,omitempty" json:"config"`
}

// Names is a list of names that can also be written as a single name.
type Names []string

// UnmarshalText reads one name.
func (n *Names) UnmarshalText(text []byte) error {
	*n = Names{string(text)}
	return nil
}

// UnmarshalJSON reads a name or a list of names.
func (n *Names) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*n = Names{one}
		return nil
	}
	var list []string
	if err := json.Unmarshal(text, &list); err != nil {
		return errors.New("want a name or a list of names")
	}
	*n = list
	return nil
}

// example returns the example text below the section in config.toml.
func (Commerce) example() string { return capabilityExample }

const capabilityExample = `For example, at the end of the file and instead of capabilities = [] above; a
list replaces the default capabilities:

[[commerce.capabilities]]
name = "dev.commerce.shopping.checkout"
version = "2026-01-23"

[[commerce.capabilities]]
name = "com.vendor.points"
version = "2026-02-01"
extends = "dev.commerce.shopping.checkout" # or a list: ["dev.commerce.shopping.checkout"]
config = {"rate" = 2}
`

// CommerceHandler is one configuration of a payment handler in the profile.
type CommerceHandler struct {
	ID      string         `toml:"id" json:"id"`
	Name    string         `toml:"name" json:"name"`
	Version string         `toml:"version" json:"version"`
	Schema  string         `toml:"schema,omitempty" json:"schema"`
	Spec    string         `toml:"spec,omitempty" json:"spec"`
	Config  map[string]any `toml:"config,omitempty" json:"config"`
}
