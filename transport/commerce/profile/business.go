package profile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"atelier/transport/commerce/document"
	"atelier/transport/commerce/lint"
	"atelier/transport/commerce/schemas"
	"atelier/transport/commerce/validate"
)

// Business is the profile of this business, ready to be served. Immutable.
type Business struct {
	// JSON is the document.
	JSON []byte
	// ETag is strong and quoted, as the header wants it.
	ETag string
	// Profile is the document as negotiation reads it.
	Profile *Profile
}

// Build makes the profile from config and holds it against the conventions
// and the published schema. The error names each rule that is broken.
func Build(ctx context.Context, config Config) (*Business, error) {
	published, err := schemas.Published(config.SchemaBase)
	if err != nil {
		return nil, fmt.Errorf("business profile: %w", err)
	}
	data, err := json.MarshalIndent(config.document(), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("business profile: %w", err)
	}
	doc, err := document.Parse("business profile", data)
	if err != nil {
		return nil, err
	}
	if err := check(ctx, doc, published); err != nil {
		return nil, fmt.Errorf("business profile: %w", err)
	}
	parsed, err := Parse(doc.Value)
	if err != nil {
		return nil, fmt.Errorf("business profile: %w", err)
	}
	sum := sha256.Sum256(data)
	return &Business{JSON: data, ETag: `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`, Profile: parsed}, nil
}

func check(ctx context.Context, doc *document.Document, published *schemas.Set) error {
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
	profiles, err := validate.NewProfiles(published)
	if err != nil {
		return err
	}
	for _, p := range profiles.Business(doc.Value) {
		broken = append(broken, fmt.Errorf("%s [meta/profile.json]", p))
	}
	return errors.Join(broken...)
}

// declared is an entry as the document has it.
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

func (c Config) document() any {
	type ucp struct {
		Version           string                `json:"version"`
		Services          map[string][]declared `json:"services"`
		Capabilities      map[string][]declared `json:"capabilities"`
		PaymentHandlers   map[string][]declared `json:"payment_handlers"`
		SupportedVersions map[string]string     `json:"supported_versions,omitempty"`
	}
	d := ucp{cmp.Or(c.Version, schemas.Version), map[string][]declared{}, map[string][]declared{}, map[string][]declared{}, c.SupportedVersions}
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
