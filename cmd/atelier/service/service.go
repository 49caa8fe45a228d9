package service

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"atelier/actors/audit"
	"atelier/actors/durable"
	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/nodes"
	"atelier/transport/ai"
	"atelier/transport/ai/keys"
	"atelier/transport/auth"
	"atelier/transport/control"
	"atelier/transport/httpapi"
	"atelier/transport/live"
	"atelier/transport/messages"
	"atelier/transport/rest"
	"atelier/transport/server"
	"atelier/transport/webhook"
	"atelier/transport/wire"
)

// Service is the running server. lifecycle.go lists its parts in start order. Each part uses
// earlier parts.
type Service struct {
	cfg      config.Config
	opts     Options
	log      *slog.Logger
	metrics  *server.Metrics
	core     *Core
	grants   *auth.Authenticator
	password adminPassword
	denials  *audit.Denials
	hub      *live.Hub
	answers  *ai.Answers
	gateway  *messages.Gateway
	ai       *ai.Service
	aiKeys   *keys.Ring
	webhooks *webhook.Sender
	control  *control.Server
	vaults   vaults
	rotating sync.Mutex // held while the token keys change
	bodies   *wire.BodyBudget
	probes   probes
	api      *rest.API
	app      bool // whether the program has the browser app
	internal *server.Internal
	public   *server.Public
	// pair is nil if this server does not use TLS itself.
	pair    *server.KeyPair
	started atomic.Bool // set when the public listener serves
	stopped atomic.Bool // set by the first Stop

	running    []part             // the started parts, in order
	ending     context.Context    // context of the background work
	end        context.CancelFunc // ends the background work
	background sync.WaitGroup
}

// Options contains the settings of a start that are not in the configuration.
type Options struct {
	// RecoverDamaged opens a store with damaged or missing files. Nothing is swept in that run,
	// because the damage may have removed references.
	RecoverDamaged bool
	// Version is the version of the program, for the metrics and the other nodes.
	Version string
	// Protocol is the version of the messages between nodes. 0 means this program's version. Tests
	// change it.
	Protocol int
	// Clock is compared with the database's clock. nil means the system's clock. Tests set it.
	Clock func() time.Time
	// Stop, if closed, ends a start that waits for other nodes. Optional.
	Stop <-chan struct{}
	// Lease is the duration of this node's lease in a cluster. 0 means 3 s. Tests change it.
	Lease time.Duration
}

// protocol returns the version of the messages between nodes for this start.
func (o Options) protocol() int { return cmp.Or(o.Protocol, nodes.Protocol) }

// Start starts everything, from the disk to the public listener. The configuration must have been
// checked.
func Start(cfg config.Config, opts Options, log *slog.Logger) (s *Service, err error) {
	began := time.Now()
	err = retryStart(log, func() error {
		s = newService(cfg, opts, log)
		if err := s.start(s.parts()); err != nil {
			err = s.core.explain(err)
			_ = s.Stop()
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.announce(s.password, s.app, time.Since(began))
	return s, nil
}

// maxStarts is the maximum number of attempts to start. A machine that is too busy to renew its
// lease on the database can still be too busy at the next attempt.
const maxStarts = 5

// retryStart calls start at most maxStarts times. It repeats a start that has lost its lease on the
// database, or that could not write to the store. Nothing is lost then, because no client has been
// served yet.
func retryStart(log *slog.Logger, start func() error) (err error) {
	for n := range maxStarts {
		if err = start(); !errors.Is(err, durable.ErrFenced) && !errors.Is(err, durable.ErrUnavailable) {
			return err
		}
		if n == maxStarts-1 {
			break
		}
		log.Warn("this server could not write to its store while it started, or lost its lease on the database; it starts again", "error", err)
	}
	return err
}

func newService(cfg config.Config, opts Options, log *slog.Logger) *Service {
	s := &Service{cfg: cfg, opts: opts, log: log, metrics: server.NewMetrics(opts.Version)}
	s.ending, s.end = context.WithCancel(context.Background())
	return s
}

// sweepEvery returns the interval of the sweep. The interval is short, so that unreferenced files
// do not stay much longer than their grace period.
func sweepEvery(grace time.Duration) time.Duration { return min(max(grace/4, time.Minute), time.Hour) }

// newLimits creates the token buckets. Nodes share the limits against guessing. The other limits
// are per node, so that the clients of one node get their full limit.
func newLimits(c config.Limits, nodes func() int) rest.Limits {
	perMinute := func(n int) *httpapi.Limiter {
		return httpapi.NewLimiter(httpapi.Rate{Burst: n, Per: time.Minute}, time.Now)
	}
	return rest.Limits{
		Reads: perMinute(c.ReadsPerMinute), Writes: perMinute(c.WritesPerMinute), Uploads: perMinute(c.UploadsPerMinute),
		Images:            httpapi.NewLimiter(httpapi.Rate{Burst: c.ImagesPerDay, Per: 24 * time.Hour}, time.Now),
		Registrations:     httpapi.NewRateLimiter(float64(c.RegistrationsPerSec), c.RegistrationBurst, time.Now),
		RegistrationsFrom: httpapi.NewRateLimiter(float64(c.RegistrationsFrom), c.RegistrationsAtOnce, time.Now),
		Joins:             httpapi.NewRateLimiter(float64(c.JoinsFrom), c.JoinsAtOnce, time.Now).Among(nodes),
		Questions:         httpapi.NewLimiter(httpapi.Rate{Burst: 1, Per: time.Duration(c.QuestionsSeconds) * time.Second}, time.Now),
		Git:               perMinute(c.GitPerMinute),
		Checks:            perMinute(c.ChecksPerMinute),
		WrongPINs:         httpapi.NewLimiter(httpapi.Rate{Burst: c.PINFailures, Per: c.PINWindow.Std(), Among: nodes}, time.Now),
	}
}

func appInfo(cfg config.Config, version string) rest.AppInfo {
	out := rest.AppInfo{Version: version, Mode: cfg.Server.Mode, Embed: cfg.Web.Embed}
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

// endGrants ends connections and responses with expired grants, such as those of one-day helpers.
// It releases the claims of these people, and periodically removes expired sessions.
func (s *Service) endGrants(ctx context.Context) {
	sweep, forget := time.NewTimer(grantsEvery), time.NewTicker(10*time.Minute)
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
		next := grantsEvery
		if v, err := s.core.leaders(); err == nil {
			if err := s.api.ReleaseClaims(v); err != nil {
				s.log.Warn("releasing the claims of former facilitators failed; it is tried again later", "error", err)
			}
			next = untilSweep(v, time.Now())
		}
		sweep.Reset(next)
	}
}

// grantsEvery is the interval at which grants without a timer are checked. A helper's access always
// lasts longer (people.MinHelperLife), so that no end is missed.
const grantsEvery = 30 * time.Second

// untilSweep returns the time until the next sweep. If the access of a helper ends soon, the sweep
// runs just after it ends.
func untilSweep(helpers interface {
	NextEnd(now time.Time) (time.Time, bool)
}, now time.Time) time.Duration {
	if end, ok := helpers.NextEnd(now); ok {
		return min(grantsEvery, end.Sub(now)+time.Millisecond)
	}
	return grantsEvery
}

// Reload reads the certificate again, if the server has one.
func (s *Service) Reload() error {
	if s.pair == nil {
		return nil
	}
	return s.pair.Reload()
}

// Addr returns the public address.
func (s *Service) Addr() string { return s.public.Addr().String() }

// InternalAddr returns the internal address; "" without one.
func (s *Service) InternalAddr() string {
	if s.internal == nil {
		return ""
	}
	return s.internal.Addr().String()
}

// Failed returns the channel that receives the error that ended the public listener.
func (s *Service) Failed() <-chan error { return s.public.Failed() }
