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
	report, err := lint.Document(ctx, doc, lint.Options{Published: published})
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

// members drops what is not stated.
func members(list ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(list); i += 2 {
		switch v := list[i+1].(type) {
		case string:
			if v == "" {
				continue
			}
		case []string:
			if len(v) == 0 {
				continue
			}
			if len(v) == 1 {
				m[list[i].(string)] = v[0]
				continue
			}
		case map[string]any:
			if v == nil {
				continue
			}
		case map[string]string:
			if len(v) == 0 {
				continue
			}
		}
		m[list[i].(string)] = list[i+1]
	}
	return m
}

func (c Config) document() map[string]any {
	services, capabilities, handlers := map[string][]any{}, map[string][]any{}, map[string][]any{}
	for _, s := range c.Services {
		services[s.Name] = append(services[s.Name], members("version", s.Version, "transport", s.Transport, "endpoint", s.Endpoint, "schema", s.Schema, "spec", s.Spec))
	}
	for _, x := range c.Capabilities {
		capabilities[x.Name] = append(capabilities[x.Name], members("version", x.Version, "extends", x.Extends, "spec", x.Spec, "schema", x.Schema, "config", x.Config))
	}
	for _, h := range c.PaymentHandlers {
		handlers[h.Name] = append(handlers[h.Name], members("id", h.ID, "version", h.Version, "spec", h.Spec, "schema", h.Schema, "config", h.Config))
	}
	return map[string]any{"ucp": members("version", cmp.Or(c.Version, schemas.Version),
		"services", services, "capabilities", capabilities, "payment_handlers", handlers, "supported_versions", c.SupportedVersions)}
}
