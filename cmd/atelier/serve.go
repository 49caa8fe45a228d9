package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"atelier/actors/catalog"
	"atelier/cmd/atelier/config"
	"atelier/transport/auth"
	"atelier/transport/control"
	"atelier/transport/limit"
	"atelier/transport/live"
	"atelier/transport/messages"
	"atelier/transport/rest"
	"atelier/transport/server"
)

type serveCmd struct {
	common
	Listen         string `help:"Public address; port 0 picks a free one." placeholder:"HOST:PORT"`
	InternalListen string `help:"Address of probes, metrics and profiles." placeholder:"HOST:PORT"`
}

// Run serves until SIGTERM or SIGINT. A second signal forces the end.
func (c serveCmd) Run() error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if c.Listen != "" {
		cfg.Server.Listen = c.Listen
	}
	if c.InternalListen != "" {
		cfg.Server.InternalListen = c.InternalListen
	}
	warnings, err := cfg.Check()
	if err != nil {
		return err
	}
	log := newLogger(cfg.Log)
	for _, w := range warnings {
		log.Warn(w)
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	s, err := start(cfg, log)
	if err != nil {
		return err
	}
	select {
	case <-signals:
		log.Info("stopping; a second signal forces it", "deadline", cfg.Server.DrainTimeout.Std())
	case err = <-s.public.Failed():
		log.Error("the public listener failed", "error", err)
	}
	go func() {
		<-signals
		log.Warn("forced to stop")
		os.Exit(1)
	}()
	return errors.Join(err, s.stop())
}

// service is everything that runs, in the order of its start.
type service struct {
	cfg      config.Config
	log      *slog.Logger
	core     *core
	sessions *catalog.Sessions
	denials  *catalog.Denials
	hub      *live.Hub
	gateway  *messages.Gateway
	control  *control.Server
	internal *server.Internal
	public   *server.Public

	cancel     context.CancelFunc // ends the background work
	background sync.WaitGroup
}

// start starts everything, from the disk to the door.
func start(cfg config.Config, log *slog.Logger) (_ *service, err error) {
	began := time.Now()
	s := &service{cfg: cfg, log: log}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	defer func() {
		if err != nil {
			_ = s.stop()
		}
	}()
	if err := os.MkdirAll(cfg.Server.Data, 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	metrics := server.NewMetrics()
	removed := func(lab, attendee string) {
		if ws, err := s.core.workshops.Get(lab); err == nil || attendee == "" {
			s.gateway.Removed(ws.Room, attendee)
		}
	}
	if s.core, err = openCore(cfg, metrics.Commit, removed, log); err != nil {
		return nil, err
	}
	authenticator, password, err := s.authenticator()
	if err != nil {
		return nil, err
	}
	s.denials = catalog.NewDenials(s.core.audit, time.Minute, log)
	if s.hub, err = live.New(live.Options{
		MessageRate: float64(cfg.Limits.MessagesPerSecond), MessageBurst: float64(cfg.Limits.MessageBurst),
		PingInterval: cfg.Live.PingInterval.Std(), IdleTimeout: cfg.Live.IdleTimeout.Std(), SlowTimeout: cfg.Live.SlowTimeout.Std(),
	}); err != nil {
		return nil, err
	}
	s.hub.Start()
	s.gateway = messages.NewGateway(messages.Config{
		Hub: s.hub, Workshops: s.core.workshops.Active, AllowedOrigins: cfg.Server.AllowedOrigins, PublicURL: cfg.Server.PublicURL,
		Logger: log, Now: time.Now,
	})
	api := rest.New(rest.Config{
		Workshops: s.core.workshops, List: s.core.list, Audit: s.core.audit, Settings: s.core.settings, Auth: authenticator,
		Limits: newLimits(cfg.Limits), Live: s.gateway, Denials: s.denials.Note, Observe: metrics.Request,
		AdminID: cfg.Admin.ID, StreamID: s.core.store.StreamID(), TrustedProxies: prefixes(cfg.Server.TrustedProxies),
		SecureCookies: cfg.Server.TLSCert != "" || strings.HasPrefix(cfg.Server.PublicURL, "https:"),
		Logger:        log, Now: time.Now,
	})
	metrics.Watch(server.Sources{
		Store: s.core.store.Stats, Hub: s.hub.Stats, Actors: s.core.workshops.Stats, Sessions: s.sessions.Len,
		Active:      func() int { return len(s.core.workshops.Active()) },
		Quarantined: func() int { return len(s.core.workshops.Quarantined()) },
		Codelabs:    func() int { return len(s.core.list.All()) },
	})
	if s.control, err = control.Listen(cfg.Server.Data, s.core.controls(cfg.Admin.ID)); err != nil {
		return nil, err
	}
	if cfg.Server.InternalListen != "" {
		if s.internal, err = server.ListenInternal(cfg.Server.InternalListen, metrics.Registry, s.health); err != nil {
			return nil, err
		}
		log.Info("internal listening", "addr", s.internal.Addr().String())
	}
	s.public, err = server.Listen(server.PublicOptions{
		Listen: cfg.Server.Listen, CertFile: cfg.Server.TLSCert, KeyFile: cfg.Server.TLSKey,
		MaxConnections: cfg.Server.MaxConnections, API: api.Handler,
	})
	if err != nil {
		return nil, err
	}
	s.public.Serve()
	s.background.Go(func() { s.core.workshops.Retain(ctx, time.Hour) })
	s.background.Go(func() { s.expireSessions(ctx) })
	s.announce(password, time.Since(began))
	return s, nil
}

// adminPassword is where the admin's password came from.
type adminPassword struct {
	file string // "" when it was configured
	made string // the password itself, when it was made now
}

// announce says how to reach the server. A password that was made now is
// shown once, on standard output and never in the log.
func (s *service) announce(pw adminPassword, took time.Duration) {
	scheme := "http"
	if s.cfg.Server.TLSCert != "" {
		scheme = "https"
	}
	addr := s.public.Addr().String()
	s.log.Info("listening", "addr", addr, "url", scheme+"://"+addr, "data", s.cfg.Server.Data, "started_in", took.Round(time.Millisecond))
	where := pw.file
	if where == "" {
		where = "as configured"
	}
	s.log.Info("admin account", "admin_id", s.cfg.Admin.ID, "password", where)
	if pw.made != "" {
		fmt.Printf("\n  Atelier    %s://%s\n  Admin id   %s\n  Password   %s   (shown once; kept in %s)\n\n", scheme, addr, s.cfg.Admin.ID, pw.made, pw.file)
	}
}

// authenticator brings up sessions, API tokens and the admin's password.
func (s *service) authenticator() (*auth.Authenticator, adminPassword, error) {
	cfg, pw := s.cfg, adminPassword{}
	secrets := filepath.Join(cfg.Server.Data, "secrets")
	key, err := string(cfg.Session.Key), error(nil)
	if key == "" {
		if key, _, err = auth.LoadOrMake(filepath.Join(secrets, "session.key"), 32); err != nil {
			return nil, pw, err
		}
	}
	password := string(cfg.Admin.Password)
	if password == "" {
		pw.file = filepath.Join(secrets, "admin.password")
		var made bool
		if password, made, err = auth.LoadOrMake(pw.file, 15); err != nil {
			return nil, pw, err
		}
		if made {
			pw.made = password
		}
	}
	if s.sessions, err = catalog.LoadSessions(s.core.store, time.Now); err != nil {
		return nil, pw, err
	}
	settings, err := s.core.settings.Get(catalog.SettingsID)
	if err != nil {
		return nil, pw, fmt.Errorf("settings: %w", err)
	}
	pinKey, err := s.core.pinKey()
	if err != nil {
		return nil, pw, err
	}
	return auth.New(auth.Config{
		AdminID: cfg.Admin.ID, AdminPassword: password, AdminLifetime: cfg.Session.AdminLifetime.Std(),
		AttendeeLifetime: cfg.Session.AttendeeLifetime.Std(), Signer: auth.NewSigner(key, time.Now), Sessions: s.sessions,
		Tokens: settings.View, PINKey: pinKey, Now: time.Now,
		Failures: limit.New(limit.Rate{Burst: cfg.Limits.LoginFailures, Per: cfg.Limits.LoginWindow.Std()}, time.Now),
	}), pw, nil
}

func newLimits(c config.Limits) rest.Limits {
	perMinute := func(n int) *limit.Limiter { return limit.New(limit.Rate{Burst: n, Per: time.Minute}, time.Now) }
	return rest.Limits{
		Reads: perMinute(c.ReadsPerMinute), Writes: perMinute(c.WritesPerMinute),
		Registrations: limit.NewRate(float64(c.RegistrationsPerSec), c.RegistrationBurst, time.Now),
		WrongPINs:     limit.New(limit.Rate{Burst: c.PINFailures, Per: c.PINWindow.Std()}, time.Now),
	}
}

func prefixes(cidrs []string) []netip.Prefix {
	var out []netip.Prefix
	for _, s := range cidrs {
		out = append(out, netip.MustParsePrefix(s)) // checked with the configuration
	}
	return out
}

func (s *service) health() server.Health {
	st := s.core.store.Stats()
	h := server.Health{Ready: true, ReadOnly: st.ReadOnly, Quarantined: s.core.workshops.Quarantined()}
	if h.Quarantined == nil {
		h.Quarantined = []string{}
	}
	if st.Failed != nil {
		h.Ready, h.Why = false, "the store failed and needs a restart"
	}
	return h
}

func (s *service) expireSessions(ctx context.Context) {
	tick := time.NewTicker(10 * time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.sessions.Expire()
		}
	}
}

// stop stops what was started, in reverse order: readiness off, clients told
// when to come back and closed, requests finished, snapshots written.
func (s *service) stop() error {
	deadline := s.cfg.Server.DrainTimeout.Std()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	var errs []error
	step := func(name string, fn func() error) {
		began := time.Now()
		if err := fn(); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", name, err))
		}
		s.log.Info("stopped", "part", name, "took", time.Since(began).Round(time.Millisecond))
	}
	if s.internal != nil {
		s.internal.Drain()
	}
	s.cancel()
	if s.hub != nil && s.public != nil {
		step("live connections", func() error {
			half, cancel := context.WithTimeout(ctx, deadline/2)
			defer cancel()
			err := s.hub.Drain(half, messages.Reconnect, s.cfg.Server.ReconnectSpread.Std())
			if errors.Is(err, context.DeadlineExceeded) {
				err = nil // the rest is cut off below
			}
			return err
		})
	}
	if s.public != nil {
		step("public listener", func() error { return s.public.Shutdown(ctx) })
	}
	if s.control != nil {
		step("control socket", s.control.Close)
	}
	s.background.Wait()
	if s.gateway != nil {
		s.gateway.Close()
	}
	if s.hub != nil {
		s.hub.Close()
	}
	if s.denials != nil {
		s.denials.Close()
	}
	if s.core != nil {
		step("actors and store", func() error { return s.core.close(ctx) })
	}
	if s.internal != nil {
		step("internal listener", s.internal.Close)
	}
	return errors.Join(errs...)
}
