package service

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/token/seal"
	"atelier/transport/auth"
	"atelier/transport/control"
	"atelier/transport/rest"
	"atelier/transport/wire"
)

// operations returns the functions that a running server offers to commands of the binary, in
// addition to the API.
func (s *Service) operations() control.Operations {
	return control.Operations{Backup: s.core.Backup, Scrub: s.core.Scrub, RotateKeys: s.rotateKeys, Cluster: s.clusterStatus, Place: s.place, Panicked: panicked(s.log)}
}

func panicked(log *slog.Logger) func(path, kind string) {
	return func(path, kind string) {
		log.Error("an operator's operation panicked", "operation", path, "panic", kind)
	}
}

// Operator returns the handler of the binary's commands while no server runs. It offers backup,
// scrub and the rotation of token keys. If the actors are open, it also offers the admin's part of
// the API, without a login.
func (c *Core) Operator() fasthttp.RequestHandler {
	ops := control.Operations{Backup: c.Backup, Scrub: c.Scrub, RotateKeys: c.rotateTokenKeys, Panicked: panicked(c.log)}
	if c.codelabs == nil { // opened without actors
		return ops.Handler(func(ctx *fasthttp.RequestCtx) { ctx.SetStatusCode(fasthttp.StatusNotFound) })
	}
	api := rest.New(rest.Config{
		Codelabs: c.codelabs, List: c.list, Audit: c.audit, Files: c.files, Settings: c.settings, Participants: c.participants,
		People: c.people, Passwords: auth.NewPasswordComputer(),
		Bodies: wire.NewBodyBudget(int64(c.cfg.Limits.BodyMemoryMiB) << 20), Workspaces: c.code,
		AdminID: c.cfg.Admin.ID, StreamID: c.store.StreamID(), Logger: c.log, Now: time.Now, TimeOf: c.timeOf,
	})
	return ops.Handler(api.Operator)
}

// rotateTokenKeys creates a new server key while no server runs.
func (c *Core) rotateTokenKeys() (string, error) {
	if c.node != nil {
		k, err := c.openSharedKeys(func([]seal.Key) error { return nil })
		if err != nil {
			return "", err
		}
		keys, err := k.Rotate(time.Now())
		return describeKeys(keys), err
	}
	keys, err := c.newTokenKey(time.Now())
	if err != nil {
		return "", err
	}
	return describeKeys(keys), nil
}

// describeKeys describes keys without revealing any part of them.
func describeKeys(keys []seal.Key) string {
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, "version %d, made %s", k.Version, k.MadeAt.Format(time.RFC3339))
		if k.Pending {
			b.WriteString(", waits for all nodes")
		} else if !k.RetiredAt.IsZero() {
			fmt.Fprintf(&b, ", retired %s", k.RetiredAt.Format(time.RFC3339))
		} else {
			b.WriteString(", in use")
		}
		b.WriteString("\n")
	}
	return b.String()
}
