package publish

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"atelier/transport/commerce/lint"
	"atelier/transport/commerce/profile"
	"atelier/transport/commerce/schema"
)

// BusinessConfig is the configuration of a business profile.
type BusinessConfig struct {
	// SchemaBase is the address of the published schemas, without a trailing slash. "" means their
	// default base.
	SchemaBase string
	// Schemas are the schemas published under SchemaBase. Nil means only the built-in schemas.
	Schemas *schema.Set
	// Version is the protocol version. "" means the current release.
	Version         string
	Services        []Service
	Capabilities    []Capability
	PaymentHandlers []Handler
	// SupportedVersions maps other supported protocol versions to the addresses of their profiles.
	SupportedVersions map[string]string
}

// Service is a service over one transport.
type Service struct {
	Name, Version, Transport string
	// Endpoint and Schema are addresses. The transport determines which are required.
	Endpoint, Schema, Spec string
}

// Capability is a capability in one version.
type Capability struct {
	Name, Version string
	// Extends lists an extension's parents.
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

// DefaultBusiness returns the profile of a server without a configured one. It has the capabilities
// checkout, fulfillment, discount and order at the current release. It also has the shopping
// service, and the tokenization handlers for production and sandbox. Clients reach the server at
// address.
//
// The server serves every address in the profile. Schemas are below schemaBase, or below
// address/schemas if schemaBase is "". If address is "", the profile contains neither services nor
// handlers, and its capabilities state no schemas.
func DefaultBusiness(schemaBase, address string) BusinessConfig {
	address = strings.TrimSuffix(address, "/")
	c := BusinessConfig{SchemaBase: cmp.Or(schemaBase, schema.DefaultBase), Version: schema.Release, Capabilities: offered("")}
	if address == "" {
		return c
	}
	const v = schema.Release
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

// offered returns the capabilities of the business's checkout, with schemas below at; "" omits the
// schemas.
func offered(at string) []Capability {
	const (
		v        = schema.Release
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

// Business is the business profile in the form in which it is served. It is immutable.
type Business struct {
	// JSON is the document.
	JSON []byte
	// ETag is strong and quoted, as in the header.
	ETag string
	// Profile is the document in parsed form.
	Profile *profile.Profile
}

// NewBusiness builds the profile and checks it against the conventions and the published schema.
// The error lists each violated rule.
func NewBusiness(ctx context.Context, config BusinessConfig) (*Business, error) {
	published := config.Schemas
	if published == nil {
		var err error
		if published, err = schema.Published(config.SchemaBase); err != nil {
			return nil, fmt.Errorf("business profile: %w", err)
		}
	}
	data, err := json.MarshalIndent(config.document(), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("business profile: %w", err)
	}
	doc, err := schema.Parse("business profile", data)
	if err != nil {
		return nil, err
	}
	if err := check(ctx, doc, published); err != nil {
		return nil, fmt.Errorf("business profile: %w", err)
	}
	parsed, err := profile.Parse(doc.Value)
	if err != nil {
		return nil, fmt.Errorf("business profile: %w", err)
	}
	sum := sha256.Sum256(data)
	return &Business{JSON: data, ETag: `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`, Profile: parsed}, nil
}

func check(ctx context.Context, doc *schema.Document, published *schema.Set) error {
	report, err := lint.Document(ctx, doc, lint.Options{Published: published, As: lint.Business})
	if err != nil {
		return err
	}
	var broken []error
	for _, f := range report.Findings {
		if f.Severity == lint.Error {
			broken = append(broken, fmt.Errorf("%s: %s [%s]", f.Pointer, f.Message, f.Code))
		}
	}
	if len(broken) > 0 {
		return errors.Join(broken...)
	}
	profiles, err := profile.NewChecker(published)
	if err != nil {
		return err
	}
	for _, p := range profiles.Business(doc.Value) {
		broken = append(broken, fmt.Errorf("%s [meta/profile.json]", p))
	}
	return errors.Join(broken...)
}

// declared is an entry in the document.
type declared struct {
	ID        string         `json:"id,omitempty"`
	Version   string         `json:"version"`
	Transport string         `json:"transport,omitempty"`
	Endpoint  string         `json:"endpoint,omitempty"`
	Extends   any            `json:"extends,omitempty"`
	Spec      string         `json:"spec,omitempty"`
	Schema    string         `json:"schema,omitempty"`
	Config    map[string]any `json:"config,omitempty"`
}

func (c BusinessConfig) document() any {
	type ucp struct {
		Version           string                `json:"version"`
		Services          map[string][]declared `json:"services"`
		Capabilities      map[string][]declared `json:"capabilities"`
		PaymentHandlers   map[string][]declared `json:"payment_handlers"`
		SupportedVersions map[string]string     `json:"supported_versions,omitempty"`
	}
	d := ucp{cmp.Or(c.Version, schema.Release), map[string][]declared{}, map[string][]declared{}, map[string][]declared{}, c.SupportedVersions}
	for _, s := range c.Services {
		d.Services[s.Name] = append(d.Services[s.Name], declared{Version: s.Version, Transport: s.Transport, Endpoint: s.Endpoint, Spec: s.Spec, Schema: s.Schema})
	}
	for _, x := range c.Capabilities {
		e := declared{Version: x.Version, Spec: x.Spec, Schema: x.Schema, Config: x.Config}
		switch len(x.Extends) {
		case 0:
		case 1:
			e.Extends = x.Extends[0]
		default:
			e.Extends = x.Extends
		}
		d.Capabilities[x.Name] = append(d.Capabilities[x.Name], e)
	}
	for _, h := range c.PaymentHandlers {
		d.PaymentHandlers[h.Name] = append(d.PaymentHandlers[h.Name], declared{ID: h.ID, Version: h.Version, Spec: h.Spec, Schema: h.Schema, Config: h.Config})
	}
	return map[string]ucp{"ucp": d}
}
