package token

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"atelier/actors/audit"
	"atelier/actors/clock"
	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
	"atelier/actors/webhook"
)

// Options configures a Vault. A limit or duration of zero, and a nil Clock or Logger, select the
// default. The other fields except Webhooks are required.
type Options struct {
	Environment seal.Environment
	System      *actor.ActorSystem
	Journal     durable.Journal
	Audit       *audit.Trail
	// Webhooks receive events of tokens that are used, reused and locked, unless it is nil.
	Webhooks *webhook.Outbox
	// Stream is the id of the store's stream. A restored backup has a new id.
	Stream string
	Keys   []seal.Key
	Shares Shares
	Rules  Rules // MaxMismatches defaults to 5
	// SessionCap is the maximum time for which a checkout session stays open. The default is 6 h.
	SessionCap time.Duration
	// RememberExpired and RememberEnded are the times for which the record of an ended token is
	// kept. After that time, requests for the token are answered as if the token were unknown.
	// RememberExpired applies to expired tokens, RememberEnded to used, revoked and locked ones.
	// The defaults are 1 h and 24 h.
	RememberExpired, RememberEnded time.Duration
	// RememberSessions is how long the record of a session is kept after the session's end or its
	// cap. The default is 400 days.
	RememberSessions time.Duration
	// MaxOpen bounds the unanswered operations. The default is 65,536.
	MaxOpen int
	// Timeout bounds how long an operation waits for its answer. The default is 10 s.
	Timeout time.Duration
	// BackoffMin, BackoffMax, MaxFailures and QuarantineFor apply to tokens whose actor panics, as
	// in durable.Options. The defaults are 100 ms, 10 s, 5 and 5 min.
	BackoffMin, BackoffMax time.Duration
	MaxFailures            int
	QuarantineFor          time.Duration
	// Clock determines the end of tokens and sessions by its time of day, and measures durations by
	// its uptime. The default is clock.System.
	Clock  clock.Clock
	Logger *slog.Logger
}

func (o *Options) setDefaults() {
	def := func(p *time.Duration, v time.Duration) {
		if *p == 0 {
			*p = v
		}
	}
	def(&o.SessionCap, 6*time.Hour)
	def(&o.RememberExpired, time.Hour)
	def(&o.RememberEnded, 24*time.Hour)
	def(&o.RememberSessions, 400*24*time.Hour)
	def(&o.Timeout, 10*time.Second)
	def(&o.BackoffMin, 100*time.Millisecond)
	def(&o.BackoffMax, 10*time.Second)
	def(&o.QuarantineFor, 5*time.Minute)
	if o.Rules.MaxMismatches == 0 {
		o.Rules.MaxMismatches = 5
	}
	if o.MaxOpen == 0 {
		o.MaxOpen = 65536
	}
	if o.MaxFailures == 0 {
		o.MaxFailures = 5
	}
	if o.Clock == nil {
		o.Clock = clock.System
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

const shardCount = 256

// Vault contains the tokens of one environment. Safe for concurrent use.
type Vault struct {
	// Immutable after NewVault.
	opts           Options
	tables         tables
	streamTag      [streamTagBytes]byte
	placeholderKey []byte // the key of a record without an owner
	missingKey     []byte // the key of a record that never exists
	shards         [shardCount]*actor.PID
	completions    *completions
	log            *slog.Logger

	ring        atomic.Pointer[seal.Ring]
	open        atomic.Int64 // unanswered operations
	live        atomic.Int64 // tokens that have not ended
	resident    atomic.Int64 // token actors in memory
	quarantined atomic.Int64
	closed      atomic.Bool

	stop       context.CancelFunc
	background sync.WaitGroup
}

type tables struct{ tokens, sessions, answers string }

func tablesOf(env seal.Environment) tables {
	return tables{"tokens-" + string(env), "checkouts-" + string(env), "answers-" + string(env)}
}

// NewVault starts the vault of an environment.
func NewVault(opts Options) (*Vault, error) {
	opts.setDefaults()
	ring, err := seal.NewRing(opts.Environment, opts.Stream, opts.Keys)
	if err != nil {
		return nil, err
	}
	env := string(opts.Environment)
	v := &Vault{
		opts:   opts,
		tables: tablesOf(opts.Environment),
		log:    opts.Logger.With("component", "token", "environment", env),
	}
	sum := sha256.Sum256([]byte(opts.Stream))
	copy(v.streamTag[:], sum[:])
	v.ring.Store(ring)
	v.placeholderKey, v.missingKey = v.rowKey("decoy", ring.Newest()), v.rowKey("missing", ring.Newest())
	v.placePlaceholder(ring.Newest())
	for i := range v.shards {
		sh := newShard(v)
		props := actor.PropsFromProducer(func() actor.Actor { return sh },
			actor.WithDispatcher(inline{}), actor.WithSupervisor(strategy{sh}))
		if v.shards[i], err = opts.System.Root.SpawnNamed(props, fmt.Sprintf("tokens-%s-%03d", env, i)); err != nil {
			return nil, fmt.Errorf("spawn shard of tokens: %w", err)
		}
	}
	v.completions = newCompletions(opts.System)
	ctx, stop := context.WithCancel(context.Background())
	v.stop = stop
	started := opts.Clock.Now()
	v.background.Go(func() { v.recount(ctx, started) })
	v.background.Go(func() { v.turn(ctx) })
	return v, nil
}

// placePlaceholder stores the placeholder: the record that is read in place of the record of an
// unknown token.
func (v *Vault) placePlaceholder(version *seal.Version) {
	now := v.opts.Clock.Now().UnixMilli()
	body := pbwire.Encode(&pb.Token{
		State: pb.State_STATE_ACTIVE, Policy: pb.Policy_POLICY_SINGLE_USE, Checkout: make([]byte, 32), CreatedAt: now, ExpiresAt: now,
		Credential: make([]byte, 200), Display: make([]byte, 50), Share: make([]byte, len(seal.ShareID{})),
	})
	err := durable.Commit(v.opts.Journal, []durable.Row{{
		Table: v.tables.tokens, Key: v.placeholderKey, Value: version.Authenticate(v.placeholderKey, body),
	}})
	if err != nil {
		v.log.Warn("writing the placeholder token failed; response times may reveal which tokens exist", "error", err)
	}
}

// SetKeys activates new server keys. The newest key that is not pending is used for new tokens, the
// others for existing tokens.
func (v *Vault) SetKeys(keys []seal.Key) error {
	ring, err := seal.NewRing(v.opts.Environment, v.opts.Stream, keys)
	if err != nil {
		return err
	}
	// The placeholder must not remain under a dropped key. It is stored under the current newest
	// key, which is also among the new keys, so it can be verified before and after the change.
	v.placePlaceholder(v.ring.Load().Newest())
	v.ring.Store(ring)
	return nil
}

// Ring returns the keys in use.
func (v *Vault) Ring() *seal.Ring { return v.ring.Load() }

// Environment returns the vault's environment.
func (v *Vault) Environment() seal.Environment { return v.opts.Environment }

// SessionCap returns the maximum time for which a checkout session stays open.
func (v *Vault) SessionCap() time.Duration { return v.opts.SessionCap }

// Stats contains a vault's current statistics.
type Stats struct {
	// Live is the number of tokens that have not ended. Tokens of an ended session count until they
	// expire.
	Live int64
	// Resident is the number of token actors in memory.
	Resident int64
	// Quarantined is the number of quarantined tokens.
	Quarantined int64
	// Open is the number of unanswered operations.
	Open int64
}

// Stats returns the current statistics.
func (v *Vault) Stats() Stats {
	return Stats{v.live.Load(), v.resident.Load(), v.quarantined.Load(), v.open.Load()}
}

// Tokenize creates a token. If an earlier request had the same idempotency key, and its token has
// not ended, Tokenize returns that token if the requests are identical, and otherwise IsConflict.
// The token is stored when Tokenize returns. The error is a Refusal, ErrDamaged, or an error of
// package durable or seal.
func (v *Vault) Tokenize(c Caller, in Issue) (seal.Token, error) {
	for range maxRetries {
		kept, err := v.keptAnswer(c, in)
		if err != nil {
			return "", err
		}
		if kept.token != "" {
			op := Replay
			if kept.conflict {
				op = Probe
			}
			r := v.ask(&command{
				name: kept.token.Name(), token: kept.token, caller: c, checkout: in.Checkout,
				attempt: Attempt{Operation: op, Participant: in.Participant, Checkout: CheckoutHash(in.Checkout)},
			})
			_, over := errors.AsType[Refusal](r.err)
			switch {
			case !over && r.err == nil && kept.conflict:
				return "", IsConflict
			case !over && r.err != nil:
				return "", r.err
			case !over:
				return kept.token, nil
			}
			// The token has ended, so the key is free for a new token.
		}
		t, err := v.issue(c, in, kept)
		if !errors.Is(err, durable.ErrConflict) {
			return t, err
		}
	}
	return "", durable.ErrUnavailable
}

// maxRetries bounds the retries of an operation whose precondition failed. Each time another
// operation has succeeded, so the retries do not block each other.
const maxRetries = 8

// issue creates a new token.
func (v *Vault) issue(c Caller, in Issue, kept keptAnswer) (seal.Token, error) {
	now := v.opts.Clock.Now()
	ring := v.ring.Load()
	version := ring.Newest()
	t := seal.NewToken(v.opts.Environment)
	checkout := CheckoutHash(in.Checkout)
	if Ends(PolicyOf(in.Policy)) {
		s, err := v.session(in.Participant, checkout[:])
		if err != nil {
			return "", err
		}
		// The cap belongs to the session: its later tokens have a shorter lifetime.
		if in.Life = s.ends(v, now).Sub(now); in.Life <= 0 {
			return "", IsSessionEnded
		}
	}
	key := v.rowKey(t, version)
	share, err := v.shareUntil(now.Add(in.Life))
	if err != nil {
		return "", err
	}
	id := share.ID()
	record := &pb.Token{
		State: pb.State_STATE_ACTIVE, Policy: in.Policy, Participant: in.Participant,
		Checkout: checkout[:], CreatedAt: now.UnixMilli(), ExpiresAt: now.Add(in.Life).UnixMilli(), Share: id[:],
	}
	display := pbwire.Encode(in.Credential.Display())
	opener, err := version.SharedOpener(t, share)
	if err != nil {
		return "", durable.ErrConflict // the share has just ended, so decide again
	}
	binding := bound(key, record)
	record.Credential = opener.Seal(seal.ForCredential, binding, in.Credential.Bytes())
	record.Display = version.Opener(t).Seal(seal.ForDisplay, binding, display)
	create := &creation{key: key, ring: ring, version: version, record: record}
	if in.IdempotencyKey != "" {
		if create.kept, err = v.keepAnswer(c, in, kept, t, share); err != nil {
			return "", err
		}
	}
	r := v.ask(&command{
		name: t.Name(), token: t, caller: c, create: create, checkout: in.Checkout,
		attempt: Attempt{Participant: in.Participant, Checkout: checkout},
	})
	if r.err != nil {
		return "", r.err
	}
	return t, nil
}

// Detokenize returns the credential once all records of its use are stored.
func (v *Vault) Detokenize(c Caller, u Use) (seal.Secret, error) {
	r := v.attempt(c, u, Detokenize)
	return r.credential, r.err
}

// Revoke ends a token. It is not an error if the token has already ended.
func (v *Vault) Revoke(c Caller, u Use) error { return v.attempt(c, u, Revoke).err }

// Introspect describes a token without using it.
func (v *Vault) Introspect(c Caller, u Use) (Status, error) {
	r := v.attempt(c, u, Introspect)
	if r.err != nil {
		return Status{}, r.err
	}
	return Status{r.record.Policy, r.state, r.record.ExpiresAt, r.display}, nil
}

func (v *Vault) attempt(c Caller, u Use, op Operation) result {
	return v.ask(&command{
		name: u.Token.Name(), token: u.Token, caller: c, checkout: u.Checkout,
		attempt: Attempt{Operation: op, Participant: u.Participant, Checkout: CheckoutHash(u.Checkout)},
	})
}

// EndSession permanently ends a participant's checkout session, and with it all its tokens. It is
// idempotent.
func (v *Vault) EndSession(c Caller, participant, checkout string) error {
	hash := CheckoutHash(checkout)
	return v.ask(&command{
		name: sessionName(participant, hash[:]), caller: c, end: true, checkout: checkout,
		attempt: Attempt{Participant: participant, Checkout: hash},
	}).err
}

// ask sends a command to its shard and waits.
func (v *Vault) ask(cmd *command) result {
	if v.open.Add(1) > int64(v.opts.MaxOpen) {
		v.open.Add(-1)
		return result{err: durable.ErrBusy}
	}
	if v.closed.Load() {
		v.open.Add(-1)
		return result{err: durable.ErrClosed}
	}
	cmd.reply, cmd.open = make(chan result, 1), &v.open
	v.opts.System.Root.Send(v.shards[cmd.name[0]], cmd)
	timeout := v.opts.Clock.NewTimer(v.opts.Timeout)
	defer timeout.Stop()
	select {
	case r := <-cmd.reply:
		return r
	case <-timeout.C():
		cmd.leave()
		return result{err: durable.ErrTimeout}
	}
}

// get reads a row. It returns nil if the row does not exist.
func (v *Vault) get(table string, key []byte) ([]byte, error) {
	b, err := v.opts.Journal.Get(table, key)
	if errors.Is(err, durable.ErrNotFound) {
		return nil, nil
	}
	if errors.Is(err, durable.ErrCorrupt) {
		return nil, fmt.Errorf("%w: %w", seal.ErrDamaged, err)
	}
	return b, err
}

// audit returns the rows of an audit record about a token or session. target is the token's
// reference, from which the token cannot be derived, or the participant of the session.
//
// The audit record appears in the event logs of the caller and of the bound participant. These logs
// identify the token by its last four characters; type, brand and last four digits of the
// credential stay sealed.
func (v *Vault) audit(action string, cmd *command, policy pb.Policy, target string, now time.Time, more map[string]string) []durable.Row {
	c, bound := cmd.caller, more["participant"]
	own := &audit.Own{TokenLastFour: string(cmd.token[max(0, len(cmd.token)-4):])}
	if policy != pb.Policy_POLICY_UNSPECIFIED {
		own.Policy = PolicyName(policy)
	}
	// Default values are omitted to save space: half of the data that the store writes for a token
	// is its audit record.
	if v.opts.Environment != seal.Production {
		more["environment"] = string(v.opts.Environment)
	}
	if more["participant"] == c.Participant {
		delete(more, "participant")
	}
	return v.opts.Audit.OwnRows(&audit.Record{
		Action: action, ActorType: "participant", ActorId: c.Participant, TargetId: target,
		Ip: c.IP, UserAgent: c.UserAgent, Metadata: more, CreatedAt: now.UnixMilli(),
	}, own, c.Participant, bound)
}

// Close waits until all open operations are answered, and then stops the shards. If ctx ends
// earlier, Close returns its error, and the shards are not stopped.
func (v *Vault) Close(ctx context.Context) error {
	if v.closed.Swap(true) {
		return nil
	}
	v.stop()
	v.background.Wait()
	tick := v.opts.Clock.NewTicker(time.Millisecond)
	defer tick.Stop()
	for v.open.Load() > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C():
		}
	}
	var errs []error
	for _, pid := range v.shards {
		errs = append(errs, v.opts.System.Root.StopFuture(pid).Wait())
	}
	v.completions.close()
	return errors.Join(errs...)
}
