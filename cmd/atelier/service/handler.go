package service

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/token"
	"atelier/actors/token/credential"
	"atelier/actors/token/seal"
	"atelier/cmd/atelier/nodes"
	"atelier/persistence/shares"
	"atelier/transport/handler"
	"atelier/transport/httpapi"
)

// vaults contains the token vaults of the two environments, and the shares of their sealing keys.
type vaults struct {
	production, sandbox *token.Vault
	shares              *shares.Store
	exchange            *nodes.Exchange[shares.Share] // nil on a single server
	keys                *nodes.TokenKeys              // nil on a single server
}

// openVaults opens both vaults with their keys and shares. If it fails, it closes everything again.
func (c *Core) openVaults() (v vaults, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, v.close(context.Background())) // no operation is in progress
		}
	}()
	keys, err := c.openTokenKeys(time.Now())
	if err != nil {
		return v, err
	}
	h := c.cfg.Handler
	so := shares.Options{Dir: filepath.Dir(TokenKeyFile(c.cfg)), Longest: max(h.SessionCap.Std(), token.MaxLife), Logger: c.log, Failed: c.folder.Failed}
	if c.node != nil {
		// One quarter of an hour is added because a share covers all tokens that expire within the
		// same quarter. The second quarter covers the difference between the nodes' clocks.
		if v.exchange, err = nodes.NewShareExchange(c.node, string(c.cfg.Cluster.Secret), so.Longest+2*seal.Quarter); err != nil {
			return v, err
		}
		so.Lacks = v.exchange.Lacks
		so.Spread = func(s shares.Share) error {
			_, err := v.exchange.Spread(s)
			return err
		}
	}
	if v.shares, err = shares.Open(so); err != nil {
		return v, err
	}
	if v.exchange != nil {
		if err := v.exchange.Begin(v.shares); err != nil {
			return v, err
		}
	}
	open := func(e seal.Environment) (*token.Vault, error) {
		return token.NewVault(token.Options{
			Environment: e, System: c.system, Journal: c.store, Audit: c.audit, Stream: c.store.StreamID(), Keys: keys,
			Shares: v.shares, Webhooks: c.webhooks.Outbox,
			Rules:      token.Rules{MaxMismatches: uint32(h.MaxMismatches), DropSensitive: h.DropSensitive},
			SessionCap: h.SessionCap.Std(), RememberExpired: h.RememberExpired.Std(), RememberEnded: h.RememberEnded.Std(),
			Logger: c.log,
		})
	}
	if v.production, err = open(seal.Production); err != nil {
		return v, fmt.Errorf("open the vault: %w", err)
	}
	if v.sandbox, err = open(seal.Sandbox); err != nil {
		return v, fmt.Errorf("open the sandbox vault: %w", err)
	}
	if c.node == nil {
		return v, nil
	}
	if v.keys, err = c.openSharedKeys(v.use); err != nil {
		return v, err
	}
	return v, v.keys.Begin()
}

// use activates token keys in the open vaults.
func (v vaults) use(keys []seal.Key) error {
	return v.each(func(x *token.Vault) error { return x.SetKeys(keys) })
}

// each calls fn for the open vaults.
func (v vaults) each(fn func(*token.Vault) error) error {
	var errs []error
	for _, x := range []*token.Vault{v.production, v.sandbox} {
		if x != nil {
			errs = append(errs, fn(x))
		}
	}
	return errors.Join(errs...)
}

func (v vaults) close(ctx context.Context) error {
	err := v.each(func(x *token.Vault) error { return x.Close(ctx) })
	v.exchange.End()
	v.keys.End()
	if v.shares != nil {
		err = errors.Join(err, v.shares.Close())
	}
	return err
}

func (v vaults) stats() map[string]token.Stats {
	all := map[string]token.Stats{}
	_ = v.each(func(x *token.Vault) error {
		all[string(x.Environment())] = x.Stats()
		return nil
	})
	return all
}

// rotateKeys creates a new server key and starts to use it. It returns the output of describeKeys.
func (s *Service) rotateKeys() (string, error) {
	// Rotations run one after the other. Of two concurrent rotations, one could overwrite the
	// other's key after tokens were created under it.
	s.rotating.Lock()
	defer s.rotating.Unlock()
	var keys []seal.Key
	var err error
	if s.vaults.keys != nil {
		keys, err = s.vaults.keys.Rotate(time.Now())
	} else if keys, err = s.core.newTokenKey(time.Now()); len(keys) > 0 {
		err = errors.Join(err, s.vaults.use(keys))
	}
	if err != nil {
		return "", err
	}
	s.log.Info("token keys rotated", "version", keys[len(keys)-1].Version)
	return describeKeys(keys), nil
}

// newHandler assembles the tokenization handler.
func (s *Service) newHandler(clientIP func(*fasthttp.RequestCtx) string) (*handler.Handler, error) {
	h := s.cfg.Handler
	return handler.New(handler.Config{
		Production: s.vaults.production, Sandbox: s.vaults.sandbox, Participants: s.core.participants, Audit: s.core.audit,
		Document: handler.Document{
			Name: h.Name, PublicURL: s.cfg.Server.PublicURL, Onboarding: h.Onboarding,
			AcknowledgementVersion: h.DutiesVersion, AcknowledgementText: h.Duties, SessionCap: h.SessionCap.Std(),
			MaxMismatches: h.MaxMismatches, DropSensitive: h.DropSensitive,
		},
		Credentials:   credential.Rules{RefuseExpired: h.RefuseExpired, Opaque: h.OpaqueTypes},
		DefaultPolicy: h.DefaultPolicy, DefaultLife: h.TTL.Std(), Tokenize: h.Tokenize, Detokenize: h.Detokenize,
		Limiter:  httpapi.NewRateLimiter(float64(h.RatePerSecond), h.RatePerSecond, time.Now).Among(s.core.node.Count()),
		ClientIP: clientIP, Denied: s.denials.Note, Observe: s.metrics.Handled, Valid: s.core.node.Valid(), Bodies: s.bodies, Now: time.Now, Logger: s.log,
	})
}
