package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"atelier/actors/audit"
	"atelier/actors/clock"
	"atelier/actors/codelab"
	"atelier/actors/room"
	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/nodes"
	"atelier/persistence/ondisk"
	"atelier/transport/ai"
	"atelier/transport/auth"
	"atelier/transport/control"
	"atelier/transport/httpapi"
	"atelier/transport/keypair"
	"atelier/transport/limit"
	"atelier/transport/live"
	"atelier/transport/messages"
	"atelier/transport/rest"
	"atelier/transport/server"
	"atelier/transport/wire"
)

// Service is everything that runs, in the order of its start.
type Service struct {
	cfg      config.Config
	log      *slog.Logger
	core     *Core
	grants   *auth.Authenticator
	denials  *audit.Denials
	hub      *live.Hub
	gateway  *messages.Gateway
	ai       *ai.Service
	control  *control.Server
	vaults   vaults
	rotating sync.Mutex // held while the token keys change
	internal *server.Internal
	public   *server.Public
	// pair is nil without TLS of our own.
	pair    *keypair.Pair
	started atomic.Bool // set when the public listener answers

	cancel     context.CancelFunc // ends the background work
	background sync.WaitGroup
}

// Options are what a start may be told beside the configuration.
type Options struct {
	// RecoverDamaged opens a store whose files are damaged or missing. Nothing
	// is swept in that run: what the store does not know any more may be what
	// the damage took.
	RecoverDamaged bool
	// Version of the program, for the metrics and the other nodes.
	Version string
	// Protocol is the version of the messages between nodes; 0: this program's.
	// Tests change it.
	Protocol int
	// Stop, if closed, ends a start that waits for other nodes. May be nil.
	Stop <-chan struct{}
	// Lease is how long this node's lease lasts, where it is one of several; 0:
	// 3 s. Tests shorten it.
	Lease time.Duration
}

// protocol is the version of the messages between nodes in this start.
func (o Options) protocol() int { return cmp.Or(o.Protocol, nodes.Protocol) }

// Start starts everything, from the disk to the door. The configuration must
// have been checked.
func Start(cfg config.Config, opts Options, log *slog.Logger) (_ *Service, err error) {
	began := time.Now()
	s := &Service{cfg: cfg, log: log}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	defer func() {
		if err != nil {
			err = s.core.explain(err)
			_ = s.Stop()
		}
	}()
	if err := ondisk.MakeFolder(cfg.Server.Data, 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	// The doors first: whoever finds one taken has changed nothing, and has
	// made no secrets. Nobody is let in before everything is there.
	if cfg.Server.TLSCert != "" {
		if s.pair, err = keypair.Load(cfg.Server.TLSCert, cfg.Server.TLSKey, func(err error) {
			log.Error("the renewed certificate cannot be used; the one before serves on", "error", err)
		}); err != nil {
			return nil, fmt.Errorf("server.tls_cert: %w", err)
		}
	}
	listen := func() (err error) {
		s.public, err = server.Listen(cfg.Server.Listen, s.pair)
		return err
	}
	if err := listen(); err != nil {
		return nil, err
	}
	slow := cfg.Storage.Backend == config.Postgres
	if slow { // it may wait for the lease of the one before, and nobody should at its door
		if err := s.public.Abandon(); err != nil {
			return nil, err
		}
		s.public = nil
	}
	metrics := server.NewMetrics(opts.Version)
	if cfg.Server.InternalListen != "" {
		if s.internal, err = server.ListenInternal(cfg.Server.InternalListen, metrics.Registry, s.health); err != nil {
			return nil, err
		}
		log.Info("internal listening", "addr", s.internal.Addr().String())
	}
	removed := func(r *room.Room, attendee string) {
		s.gateway.Removed(r, attendee)
		s.ai.Removed(attendee)
	}
	s.core, err = OpenCore(cfg, Hooks{
		Committed: metrics.Commit, Damaged: metrics.Damaged, Removed: removed, Waited: metrics.Waited,
		Forgotten: func(r *room.Room) {
			if s.started.Load() {
				s.gateway.Forgotten(r)
			}
		},
		Announce: func(w codelab.Workshop, person string, arrived bool) {
			if s.started.Load() {
				s.gateway.Announce(w, person, arrived)
			}
		},
		Signal: func(w codelab.Workshop, person string, payload []byte) {
			if s.started.Load() {
				s.gateway.Signal(w, person, payload)
			}
		},
	}, opts, log)
	if err != nil {
		return nil, err
	}
	if slow {
		if err := listen(); err != nil {
			return nil, err
		}
	}
	password, err := s.account()
	if err != nil {
		return nil, err
	}
	if s.vaults, err = s.core.openVaults(); err != nil {
		return nil, err
	}
	s.denials = audit.NewDenials(s.core.audit, time.Minute, log)
	if s.hub, err = live.New(live.Options{
		FirstSession: s.core.node.SessionNumbers(),
		MessageRate:  float64(cfg.Limits.MessagesPerSecond), MessageBurst: float64(cfg.Limits.MessageBurst),
		PingInterval: cfg.Live.PingInterval.Std(), IdleTimeout: cfg.Live.IdleTimeout.Std(), SlowTimeout: cfg.Live.SlowTimeout.Std(),
		Delivered: metrics.Delivered,
	}); err != nil {
		return nil, err
	}
	s.hub.Start()
	origins := httpapi.Origins{PublicURL: cfg.Server.PublicURL, Allowed: cfg.Server.AllowedOrigins}
	s.gateway = messages.NewGateway(messages.Config{
		Hub: s.hub, Grants: s.grants, Workshops: s.core.workshops.Active, Origins: origins,
		SocketsPerPerson: cfg.Limits.SocketsPerPerson, SocketsPerAddress: server.Descriptors() / 2,
		Logger: log, Now: time.Now, Acked: metrics.Acked,
	})
	aiKeys, err := s.aiKeys(s.grants.AdminPassword)
	if err != nil {
		return nil, err
	}
	if s.ai, err = s.newAI(); err != nil {
		return nil, err
	}
	bodies := wire.NewBodyBudget(int64(cfg.Limits.BodyMemoryMiB) << 20)
	api := rest.New(rest.Config{
		Workshops: s.core.workshops, List: s.core.list, Audit: s.core.audit, Files: s.core.files, Settings: s.core.settings,
		Participants: s.core.participants, Auth: s.grants,
		Current: s.current(), Valid: s.core.node.Valid(), Bodies: bodies,
		Limits: newLimits(cfg.Limits, s.core.node.Count()), Denials: s.denials.Note, Observe: metrics.Request,
		LoginFailed: metrics.LoginFailed,
		Others:      slices.Concat(s.gateway.Operations(), s.ai.Operations()), AIModels: s.aiModels(), AIKeys: aiKeys, Workspaces: s.core.code,
		App:     appInfo(cfg, opts.Version),
		Origins: origins,
		AdminID: cfg.Admin.ID, StreamID: s.core.store.StreamID(), TrustedProxies: prefixes(cfg.Server.TrustedProxies),
		SecureCookies: overHTTPS(cfg.Server),
		Logger:        log, Now: time.Now,
	})
	metrics.Watch(server.Sources{
		Store: s.core.store.Stats, Hub: s.hub.Stats, Actors: s.core.workshops.Stats, Sessions: s.grants.Sessions.Len,
		AI:          s.ai.Stats,
		Active:      func() int { return len(s.core.workshops.Active()) },
		Quarantined: func() int { return len(s.core.workshops.Quarantined()) },
		Codelabs:    func() int { return len(s.core.list.All()) },
		Tokens:      s.vaults.stats,
		Public:      s.public.Stats,
		Bodies:      bodies.Refused,
		Cluster:     s.clusterStats,
	})
	if s.control, err = control.Listen(cfg.Server.Data, s.controls()); err != nil {
		return nil, err
	}
	commerce, err := newCommerce(cfg, api.ClientIP, bodies, log)
	if err != nil {
		return nil, err
	}
	handler, err := s.newHandler(api.ClientIP, bodies, metrics)
	if err != nil {
		return nil, err
	}
	app, err := s.newWeb(api.ClientIP)
	if err != nil {
		return nil, err
	}
	s.public.Serve(server.PublicOptions{
		Access:         accessLog(cfg.Log, api.Routes(), api.ClientIP, log),
		MaxConnections: cfg.Server.MaxConnections, API: api.Handler, APIExpect: api.Expect, Handler: handler.Handle, Commerce: commerce.Handle,
		Web: app.Handle, Live: func() int { return int(s.hub.Stats().Sessions) }, Proxy: api.Trusted,
	})
	s.started.Store(true)
	s.background.Go(func() { s.core.workshops.Retain(ctx, time.Hour) })
	if !opts.RecoverDamaged {
		s.background.Go(func() { s.core.files.SweepEvery(ctx, clock.System, sweepEvery(cfg.Files.Grace.Std()), log) })
		s.background.Go(func() { s.core.keepCodeSwept(ctx, sweepEvery(cfg.Files.Grace.Std())) })
	}
	s.background.Go(func() { s.endGrants(ctx) })
	s.background.Go(func() {
		keepMemory(ctx, func() {
			s.grants.Forget()
			api.Limits.Forget()
		})
	})
	if s.core.node != nil {
		s.background.Go(func() { s.core.node.Watch(ctx, duties{s}) })
	}
	s.announce(password, app.App(), time.Since(began))
	return s, nil
}

// sweepEvery is often enough for what nobody refers to not to stay much longer
// than its grace period.
func sweepEvery(grace time.Duration) time.Duration { return min(max(grace/4, time.Minute), time.Hour) }

// newLimits makes the token buckets. What keeps somebody from guessing is shared
// by the nodes; the others are each node's own, so that nobody who stays with one
// is refused what they may do.
func newLimits(c config.Limits, nodes func() int) rest.Limits {
	perMinute := func(n int) *limit.Limiter { return limit.New(limit.Rate{Burst: n, Per: time.Minute}, time.Now) }
	return rest.Limits{
		Reads: perMinute(c.ReadsPerMinute), Writes: perMinute(c.WritesPerMinute), Uploads: perMinute(c.UploadsPerMinute),
		Images:            limit.New(limit.Rate{Burst: c.ImagesPerDay, Per: 24 * time.Hour}, time.Now),
		Registrations:     limit.NewRate(float64(c.RegistrationsPerSec), c.RegistrationBurst, time.Now),
		RegistrationsFrom: limit.NewRate(float64(c.RegistrationsFrom), c.RegistrationsAtOnce, time.Now),
		Joins:             limit.NewRate(float64(c.JoinsFrom), c.JoinsAtOnce, time.Now).Among(nodes),
		WrongPINs:         limit.New(limit.Rate{Burst: c.PINFailures, Per: c.PINWindow.Std(), Among: nodes}, time.Now),
	}
}

func appInfo(cfg config.Config, version string) rest.AppInfo {
	out := rest.AppInfo{Version: version, Mode: cfg.Server.Mode}
	for _, s := range cfg.Live.IceServers {
		out.IceServers = append(out.IceServers, rest.IceServer(s))
	}
	return out
}

func prefixes(cidrs []string) []netip.Prefix {
	var out []netip.Prefix
	for _, s := range cidrs {
		out = append(out, netip.MustParsePrefix(s)) // checked with the configuration
	}
	return out
}

// endGrants ends what stands on grants that have expired, and now and then
// forgets the sessions that are over.
func (s *Service) endGrants(ctx context.Context) {
	sweep, forget := time.NewTicker(30*time.Second), time.NewTicker(10*time.Minute)
	defer sweep.Stop()
	defer forget.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-sweep.C:
			s.grants.Sweep()
		case <-forget.C:
			s.grants.Sessions.Expire()
		}
	}
}

// Reload reads the certificate again, if there is one.
func (s *Service) Reload() error {
	if s.pair == nil {
		return nil
	}
	return s.pair.Reload()
}

// Addr is the public address.
func (s *Service) Addr() string { return s.public.Addr().String() }

// InternalAddr is the internal address; "" without one.
func (s *Service) InternalAddr() string {
	if s.internal == nil {
		return ""
	}
	return s.internal.Addr().String()
}

// Failed gets the error that ended the public listener.
func (s *Service) Failed() <-chan error { return s.public.Failed() }

// Stop stops what was started, in reverse order: readiness off, clients told
// when to come back and closed, requests finished, snapshots written.
func (s *Service) Stop() error {
	if s.internal != nil {
		s.internal.Drain()
	}
	if s.public != nil {
		s.public.Leave()
	}
	if s.started.Load() {
		// Balancers need a moment to see that no more should come.
		time.Sleep(s.cfg.Server.ShutdownDelay.Std())
	}
	deadline := s.cfg.Server.DrainTimeout.Std()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	var errs []error
	level := slog.LevelInfo
	if !s.started.Load() { // a start that failed says why, and nothing behind it
		level = slog.LevelDebug
	}
	step := func(name string, fn func() error) {
		began := time.Now()
		if err := fn(); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", name, err))
		}
		s.log.Log(ctx, level, "stopped", "part", name, "took", time.Since(began).Round(time.Millisecond))
	}
	s.cancel()
	if s.hub != nil && s.started.Load() {
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
		step("public listener", func() error {
			most, cancel := context.WithTimeout(ctx, deadline/4)
			defer cancel()
			return s.public.Shutdown(most) // what is slower is cut off
		})
	}
	if s.ai != nil {
		step("AI answers", func() error {
			quarter, cancel := context.WithTimeout(ctx, deadline/4)
			defer cancel()
			s.ai.Close(quarter)
			return nil
		})
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
	if s.grants != nil {
		s.grants.Sessions.Close()
	}
	step("token vaults", func() error { return s.vaults.close(ctx) })
	if s.core != nil {
		step("actors and store", func() error { return s.core.Close(ctx) })
	}
	if s.internal != nil {
		step("internal listener", s.internal.Close)
	}
	return errors.Join(errs...)
}
