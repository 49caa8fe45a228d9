package service

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/cmd/atelier/config"
	"atelier/transport/commerce/publish"
	"atelier/transport/commerce/remote"
	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

// CheckCommerce returns the errors in the operator's schemas and the business profile.
func CheckCommerce(cfg config.Config) error {
	_, err := newCommerce(cfg, nil, nil, nil)
	return err
}

// newCommerce creates the business profile from the configuration and checks it. An invalid profile
// prevents the start.
func newCommerce(cfg config.Config, client func(*fasthttp.RequestCtx) string, bodies *wire.BodyBudget, log *slog.Logger) (*publish.Endpoint, error) {
	c := cfg.Commerce
	p := publish.DefaultBusiness(strings.TrimSuffix(c.SchemaBase, "/"), cfg.Server.PublicURL)
	p.Version = cmp.Or(c.Version, p.Version)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var err error
	if p.Schemas, err = publish.Schemas(ctx, p.SchemaBase, c.Schemas); err != nil {
		return nil, err
	}
	// The server's own tokenization handler is declared under the name in the published schema.
	// Under another name it would need its own schema, and therefore an entry in the configuration.
	own := len(p.PaymentHandlers) > 0 && p.PaymentHandlers[0].Name == cfg.Handler.Name
	if len(c.PaymentHandlers) > 0 || !own || !cfg.Handler.Tokenize && !cfg.Handler.Detokenize {
		p.PaymentHandlers = nil
	}
	if len(c.SupportedVersions) > 0 {
		p.SupportedVersions = map[string]string{}
		for _, s := range c.SupportedVersions {
			date, url, ok := strings.Cut(s, "=")
			if !ok {
				return nil, fmt.Errorf("commerce.supported_versions: %q is not DATE=URL", s)
			}
			p.SupportedVersions[date] = url
		}
	}
	if len(c.Services) > 0 {
		p.Services = nil
		for _, s := range c.Services {
			p.Services = append(p.Services, publish.Service{
				Name: s.Name, Version: s.Version, Transport: s.Transport, Endpoint: s.Endpoint, Schema: s.Schema, Spec: s.Spec,
			})
		}
	}
	if len(c.Capabilities) > 0 {
		p.Capabilities = nil
		for _, s := range c.Capabilities {
			p.Capabilities = append(p.Capabilities, publish.Capability{
				Name: s.Name, Version: s.Version, Extends: s.Extends, Spec: s.Spec, Schema: s.Schema, Config: s.Config,
			})
		}
	}
	for _, s := range c.PaymentHandlers {
		p.PaymentHandlers = append(p.PaymentHandlers, publish.Handler{
			ID: s.ID, Name: s.Name, Version: s.Version, Spec: s.Spec, Schema: s.Schema, Config: s.Config,
		})
	}
	business, err := publish.NewBusiness(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("business profile: %w", err)
	}
	limiter := httpapi.NewLimiter(httpapi.Rate{Burst: cfg.Limits.WritesPerMinute, Per: time.Minute}, time.Now)
	return publish.NewEndpoint(publish.EndpointConfig{
		Business: business, Schemas: p.Schemas, Fetcher: remote.New(), Bodies: bodies, Logger: log,
		ClientIP: client,
		Wait:     func(ctx *fasthttp.RequestCtx) time.Duration { return limiter.Allow(httpapi.Address(client(ctx))) },
	}), nil
}
