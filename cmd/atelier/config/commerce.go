package config

// Commerce is the business's side of the commerce protocol. Empty lists of
// services and capabilities take what the server offers by itself.
type Commerce struct {
	SchemaBase        string               `toml:"schema_base" doc:"Base address that the published schemas carry in their $id. Empty: public_url and /schemas; without public_url https://atelier.example/schemas."`
	Version           string               `toml:"version" doc:"Protocol version of the business profile. Empty: the newest that this server knows."`
	SupportedVersions []string             `toml:"supported_versions" doc:"Profiles of other protocol versions that are still spoken, as \"DATE=URL\"."`
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
	Extends []string       `toml:"extends,omitempty" json:"extends"`
	Schema  string         `toml:"schema,omitempty" json:"schema"`
	Spec    string         `toml:"spec,omitempty" json:"spec"`
	Config  map[string]any `toml:"config,omitempty" json:"config"`
}

// CommerceHandler is one configuration of a payment handler in the profile.
type CommerceHandler struct {
	ID      string         `toml:"id" json:"id"`
	Name    string         `toml:"name" json:"name"`
	Version string         `toml:"version" json:"version"`
	Schema  string         `toml:"schema,omitempty" json:"schema"`
	Spec    string         `toml:"spec,omitempty" json:"spec"`
	Config  map[string]any `toml:"config,omitempty" json:"config"`
}
