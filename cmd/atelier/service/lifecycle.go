package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"atelier/actors/audit"
	"atelier/actors/clock"
	"atelier/actors/codelab"
	"atelier/actors/room"
	"atelier/cmd/atelier/config"
	"atelier/transport/ai"
	"atelier/transport/auth"
	"atelier/transport/control"
	"atelier/transport/httpapi"
	"atelier/transport/live"
	"atelier/transport/messages"
	"atelier/transport/rest"
	"atelier/transport/server"
	"atelier/transport/wire"
)

// part is a piece of the service that is started and stopped.
type part struct {
	name string
	// start cleans up its own resources if it fails.
	start func() error
	// stop returns when ctx ends at the latest, and aborts slower work. It is nil if there is
	// nothing to stop.
	stop func(ctx context.Context) error
	// share is the divisor of server.drain_timeout that gives the time for stop. 0 means the
	// remaining time.
	share int
}

// parts returns all parts in start order. They are stopped in reverse order.
func (s *Service) parts() []part {
	return []part{
		{name: "data folder", start: s.makeData},
		{name: "certificate", start: s.loadPair},
		// The addresses are reserved before the data is opened. If an address is in use, nothing
		// has changed and no secret was created. Public requests are answered only when everything
		// is ready.
		{name: "public address", start: s.reserve, stop: s.shutdown},
		{name: "internal listener", start: s.listenInternal, stop: s.closeInternal},
		{name: "rooms", start: s.makeHub, stop: s.closeHub},
		{name: "actors and store", start: s.openCore, stop: s.closeCore},
		{name: "public address after a wait", start: s.listen},
		{name: "accounts", start: s.account, stop: s.closeSessions},
		{name: "token vaults", start: s.openVaults, stop: s.closeVaults},
		{name: "record of denials", start: s.openDenials, stop: s.closeDenials},
		{name: "live messages", start: s.openGateway, stop: s.closeGateway},
		{name: "AI answers", start: s.openAI, stop: s.closeAI, share: 4},
		{name: "webhooks", start: s.openWebhooks},
		{name: "probes of slow values", start: s.startProbes, stop: s.stopProbes, share: 8},
		{name: "interface", start: s.openAPI},
		{name: "background work", start: s.work, stop: s.awaitWork},
		{name: "control socket", start: s.listenControl, stop: s.closeControl},
		{name: "public listener", start: s.serve, stop: s.shutdown, share: 4},
		{name: "live connections", start: s.ready, stop: s.drain, share: 2},
	}
}

// start starts parts until one fails.
func (s *Service) start(parts []part) error {
	for _, p := range parts {
		if err := p.start(); err != nil {
			return err
		}
		s.running = append(s.running, p)
	}
	return nil
}

// slowStop is the time after which the stop of a part is logged as slow.
const slowStop = time.Second

// Stop stops the started parts in reverse order. It first turns readiness off. It then asks clients
// to reconnect at different times, disconnects them, finishes requests, and writes snapshots. A
// second call does nothing.
func (s *Service) Stop() error {
	if s.stopped.Swap(true) {
		return nil
	}
	slow := slog.LevelInfo
	if s.started.Load() {
		s.leave()
	} else { // a failed start has already reported its reason
		slow = slog.LevelDebug
	}
	s.end()
	deadline := s.cfg.Server.DrainTimeout.Std()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	var errs []error
	for _, p := range slices.Backward(s.running) {
		if p.stop == nil {
			continue
		}
		began := time.Now()
		if err := p.within(ctx, deadline); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", p.name, err))
		}
		level, took := slog.LevelDebug, time.Since(began)
		if took > slowStop {
			level = slow
		}
		s.log.Log(ctx, level, "stopped", "part", p.name, "took", took.Round(time.Millisecond))
	}
	return errors.Join(errs...)
}

// within stops a part within the part's share of the time.
func (p part) within(ctx context.Context, whole time.Duration) error {
	if p.share > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, whole/time.Duration(p.share))
		defer cancel()
	}
	return p.stop(ctx)
}

// leave turns readiness off, and waits for server.shutdown_delay, so that load balancers notice.
func (s *Service) leave() {
	if s.internal != nil {
		s.internal.Drain()
	}
	s.public.Leave()
	time.Sleep(s.cfg.Server.ShutdownDelay.Std())
}

func (s *Service) loadPair() (err error) {
	if s.cfg.Server.TLSCert == "" {
		return nil
	}
	if s.pair, err = server.LoadKeyPair(s.cfg.Server.TLSCert, s.cfg.Server.TLSKey, func(err error) {
		s.log.Error("the renewed certificate cannot be used; the previous one stays in use", "error", err)
	}); err != nil {
		return fmt.Errorf("server.tls_cert: %w", err)
	}
	return nil
}

// reserve binds the public address. With PostgreSQL it releases the address again, because opening
// the store can wait for the lease of the previous process. In that time, clients must not connect
// to a server that does not respond yet.
func (s *Service) reserve() error {
	if err := s.listen(); err != nil || s.cfg.Storage.Backend != config.Postgres {
		return err
	}
	err := s.public.Abandon()
	s.public = nil
	return err
}

// listen binds the public address, unless it is already bound.
func (s *Service) listen() (err error) {
	if s.public == nil {
		s.public, err = server.Listen(s.cfg.Server.Listen, s.pair)
	}
	return err
}

// shutdown closes the public address, even if nothing is served on it yet. A second call does
// nothing.
func (s *Service) shutdown(ctx context.Context) error {
	if s.public == nil {
		return nil
	}
	return s.public.Shutdown(ctx)
}

func (s *Service) listenInternal() (err error) {
	if s.cfg.Server.InternalListen == "" {
		return nil
	}
	if s.internal, err = server.ListenInternal(s.cfg.Server.InternalListen, s.metrics.Registry, s.health); err != nil {
		return err
	}
	s.log.Info("internal listening", "addr", s.internal.Addr().String())
	return nil
}

func (s *Service) closeInternal(context.Context) error {
	if s.internal == nil {
		return nil
	}
	return s.internal.Close()
}

// makeHub creates the receiver of the hooks. It must exist early, because codelabs report removed
// people while they are being opened.
func (s *Service) makeHub() (err error) {
	s.answers = ai.NewAnswers(s.cfg.AI.MaxStreams, s.cfg.AI.MaxStreamsPerPerson)
	s.hub, err = live.New(live.Options{
		MessageRate: float64(s.cfg.Limits.MessagesPerSecond), MessageBurst: float64(s.cfg.Limits.MessageBurst),
		PingInterval: s.cfg.Live.PingInterval.Std(), IdleTimeout: s.cfg.Live.IdleTimeout.Std(), SlowTimeout: s.cfg.Live.SlowTimeout.Std(),
		Delivered: s.metrics.Delivered,
	})
	return err
}

func (s *Service) closeHub(context.Context) error {
	s.hub.Close()
	return nil
}

func (s *Service) openCore() (err error) {
	rooms := messages.Rooms{Hub: s.hub}
	s.core, err = OpenCore(s.cfg, Hooks{
		Committed: s.metrics.Commit, Damaged: s.metrics.Damaged, Waited: s.metrics.Waited,
		Removed: func(r *room.Room, attendee string) {
			rooms.Removed(r, attendee)
			s.answers.Removed(attendee)
		},
		Forgotten: rooms.Forgotten, Announce: rooms.Announce, Signal: rooms.Signal,
	}, s.opts, s.log)
	return err
}

func (s *Service) closeCore(ctx context.Context) error { return s.core.Close(ctx) }

func (s *Service) closeSessions(context.Context) error {
	s.grants.Sessions.Close()
	return nil
}

func (s *Service) openVaults() (err error) {
	s.vaults, err = s.core.openVaults()
	return err
}

func (s *Service) closeVaults(ctx context.Context) error { return s.vaults.close(ctx) }

func (s *Service) openDenials() error {
	s.denials = audit.NewDenials(s.core.audit, time.Minute, s.log)
	return nil
}

func (s *Service) closeDenials(context.Context) error {
	s.denials.Close()
	return nil
}

func (s *Service) origins() httpapi.Origins {
	return httpapi.Origins{PublicURL: s.cfg.Server.PublicURL, Allowed: s.cfg.Server.AllowedOrigins}
}

func (s *Service) openGateway() error {
	s.hub.Start(s.core.node.SessionNumbers())
	s.gateway = messages.NewGateway(messages.Config{
		Hub: s.hub, Grants: s.grants, Codelabs: s.core.codelabs.Active, Origins: s.origins(),
		SocketsPerPerson: s.cfg.Limits.SocketsPerPerson, SocketsPerAddress: ofOneAddress(server.Descriptors()),
		Logger: s.log, Now: time.Now, TimeOf: s.core.timeOf, Acked: s.metrics.Acked,
	})
	return nil
}

// ofOneAddress is the maximum number of sockets per address. With the usual 20,000 descriptors it
// allows ten thousand people behind one router, and leaves a quarter for all other addresses.
func ofOneAddress(descriptors int) int { return descriptors / 4 * 3 }

// closeGateway also ends the connections, before the actors that they use stop.
func (s *Service) closeGateway(context.Context) error {
	s.gateway.Close()
	s.hub.Close()
	return nil
}

// openAPI creates the API under /api.
func (s *Service) openAPI() error {
	cfg := s.cfg
	s.bodies = wire.NewBodyBudget(int64(cfg.Limits.BodyMemoryMiB) << 20)
	s.api = rest.New(rest.Config{
		Codelabs: s.core.codelabs, List: s.core.list, Audit: s.core.audit, Files: s.core.files, Settings: s.core.settings,
		Participants: s.core.participants, People: s.core.people, Passwords: auth.NewPasswordComputer(), Auth: s.grants,
		SignIn: s.signIn(), OwnerPassword: !cfg.Login.Password,
		Current: s.current(), Valid: s.core.node.Valid(), Bodies: s.bodies,
		Limits: newLimits(cfg.Limits, s.core.node.Count()), Denials: s.denials.Note, SignInFailed: s.denials.NoteSignIn, Observe: s.metrics.Request,
		LoginFailed: s.metrics.LoginFailed,
		Others:      slices.Concat(s.gateway.Operations(), s.ai.Operations()), AIModels: s.aiModels(), AIKeys: s.aiKeys, Webhooks: s.core.webhooks, WebhookSender: s.webhooks, Workspaces: s.core.code,
		Health:  s.ownersHealth,
		App:     appInfo(cfg, s.opts.Version),
		Origins: s.origins(),
		AdminID: cfg.Admin.ID, StreamID: s.core.store.StreamID(), TrustedProxies: prefixes(cfg.Server.TrustedProxies),
		SecureCookies: overHTTPS(cfg.Server), Framing: len(cfg.Web.FrameAncestors) > 0, CodelabsDays: cfg.Retention.CodelabsDays,
		Logger: s.log, Now: time.Now, TimeOf: s.core.timeOf,
	})
	return nil
}

// work starts the periodic tasks. They run until Stop.
func (s *Service) work() error {
	ctx := s.ending
	s.background.Go(func() {
		s.core.codelabs.Retain(ctx, time.Hour, codelab.Expiry{Days: s.cfg.Retention.CodelabsDays, Delete: s.core.deleteDue})
	})
	s.background.Go(func() { s.core.codelabs.SweepBallots(ctx, time.Minute) })
	s.background.Go(func() { s.core.webhooks.Run(ctx, s.webhooks.Send) })
	if !s.opts.RecoverDamaged {
		every := sweepEvery(s.cfg.Files.Grace.Std())
		s.background.Go(func() { s.core.files.SweepEvery(ctx, clock.System, every, s.log) })
		s.background.Go(func() { s.core.keepCodeSwept(ctx, every) })
	}
	s.background.Go(func() { s.core.folder.Watch(ctx) })
	s.background.Go(func() { s.endGrants(ctx) })
	s.background.Go(func() {
		keepMemory(ctx, func() {
			s.grants.Forget()
			s.api.Limits.Forget()
		})
	})
	if s.core.node != nil {
		s.background.Go(func() { s.core.node.Watch(ctx, &duties{Service: s, undrain: func() {}}) })
		s.background.Go(func() { s.vaults.keys.Follow(ctx, time.Minute) })
		s.background.Go(func() { s.core.ballots.follow(ctx, time.Minute) })
	}
	return nil
}

func (s *Service) awaitWork(context.Context) error {
	s.end()
	s.background.Wait()
	return nil
}

func (s *Service) listenControl() (err error) {
	s.control, err = control.Listen(s.cfg.Server.Data, s.operations().Handler(s.api.Operator))
	return err
}

func (s *Service) closeControl(context.Context) error { return s.control.Close() }

func (s *Service) closeAI(ctx context.Context) error {
	s.ai.Close(ctx)
	return nil
}

// serve assembles the handlers of the public address, and accepts requests.
func (s *Service) serve() error {
	cfg, api := s.cfg, s.api
	commerce, err := newCommerce(cfg, api.ClientIP, s.bodies, s.log)
	if err != nil {
		return err
	}
	handler, err := s.newHandler(api.ClientIP)
	if err != nil {
		return err
	}
	app, err := s.newWeb(api.ClientIP)
	if err != nil {
		return err
	}
	s.app = app.App()
	s.watch()
	s.public.Serve(server.PublicOptions{
		Access:         accessLog(cfg.Log, api.Routes(), api.ClientIP, s.log),
		MaxConnections: cfg.Server.MaxConnections, API: api.Handler, APIExpect: api.Expect, Handler: handler.Handle, Commerce: commerce.Handle,
		Prefix: s.origins().Prefix(), Web: app.Handle, Live: func() int { return int(s.hub.Stats().Sessions) }, Proxy: api.Trusted,
	})
	return nil
}

// watch connects the metrics to their sources.
func (s *Service) watch() {
	s.metrics.Watch(server.Sources{
		Store: s.core.store.Stats, Hub: s.hub.Stats, Actors: s.core.codelabs.Stats, Sessions: s.grants.Sessions.Len,
		AI:          s.ai.Stats,
		Webhooks:    s.core.webhooks.Stats,
		Machine:     s.machine,
		Active:      func() int { return len(s.core.codelabs.Active()) },
		Quarantined: func() int { return len(s.core.codelabs.Quarantined()) },
		Codelabs:    func() int { return len(s.core.list.All()) },
		Tokens:      s.vaults.stats,
		Public:      s.public.Stats,
		Bodies:      s.bodies.Refused,
		Passwords:   s.api.Passwords.Computed,
		Cluster:     s.clusterStats,
	})
}

func (s *Service) ready() error {
	s.started.Store(true)
	return nil
}

// drain asks connected clients to leave. Remaining connections are closed with the public listener.
func (s *Service) drain(ctx context.Context) error {
	err := s.hub.Drain(ctx, messages.Reconnect, s.cfg.Server.ReconnectSpread.Std())
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}
