package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"atelier/actors/audit"
	"atelier/actors/catalog"
	"atelier/actors/clock"
	"atelier/actors/codelab"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/actors/participant"
	"atelier/actors/people"
	"atelier/actors/rehearsal"
	"atelier/actors/room"
	"atelier/actors/settings"
	"atelier/actors/webhook"
	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/nodes"
	"atelier/persistence/objects/contents"
	"atelier/persistence/objects/trees"
	"atelier/persistence/ondisk"
	"atelier/transport/messages"
)

// Core is the store and the actors. Serving and the offline commands share it.
type Core struct {
	store        durable.Store
	audit        *audit.Trail
	list         *catalog.List
	settings     *settings.Host
	codelabs     *codelab.Codelabs
	participants *participant.Host
	people       *people.Host
	webhooks     *webhook.Webhooks
	hosts        []hosted // of the five above, in the order of their start
	system       *actor.ActorSystem
	cfg          config.Config
	log          *slog.Logger
	objects      io.Closer // the store of code, and of all files that nodes share
	recovering   bool      // the operator requested a recovery
	blobs        *contents.Store
	files        *files.Register
	code         *trees.Store
	folder       *nodes.Folder
	node         *nodes.Node     // nil on a single server
	keyring      *nodes.Keyring  // nil on a single server
	usedBefore   bool            // the store was in use before this start
	made         map[string]bool // the shared secrets created by this start
	ballots      *ballots
}

// hosted is the host of one kind of actors. Its name is used in metrics.
type hosted struct {
	name string
	host
}

type host interface {
	Stats() *durable.Stats
	Replicas() durable.ReplicaStats
	Drop()
	FinishErasing(ctx context.Context) error
	Close(ctx context.Context) error
}

// Hooks are functions that lower layers call. Hooks that are nil are not called.
type Hooks struct {
	// Committed is called after each commit with the commit's duration. It must not block.
	Committed func(took time.Duration)
	// Damaged is called for each damaged stored object.
	Damaged func()
	// Removed is called for deleted attendees and codelabs. See codelab.Config.
	Removed func(r *room.Room, attendee string)
	// Forgotten is called for ended rooms. See codelab.Config.
	Forgotten func(r *room.Room)
	// Waited is called with the time that a command waited for its actor.
	Waited func(time.Duration)
	// Announce and Signal are called for messages from other nodes. See codelab.Config.
	Announce func(w codelab.Codelab, person string, arrived bool)
	Signal   func(w codelab.Codelab, person string, payload []byte)
}

// OpenCore starts the store and the actors.
func OpenCore(cfg config.Config, hooks Hooks, opts Options, log *slog.Logger) (_ *Core, err error) {
	c := &Core{cfg: cfg, log: log, recovering: opts.RecoverDamaged, made: map[string]bool{}}
	defer func() {
		if err != nil {
			err = c.explain(err)
			_ = c.Close(context.Background())
		}
	}()
	if c.store, err = openStore(cfg, hooks, opts, log); err != nil {
		return nil, err
	}
	if err = ondisk.MakeFolder(filepath.Dir(TokenKeyFile(cfg)), 0o700); err != nil {
		return nil, err
	}
	c.folder = nodes.NewFolder(filepath.Dir(TokenKeyFile(cfg)), minFree(cfg), log)
	known, err := keyVersions(c.store) // every server records them at its first start
	if err != nil {
		return nil, err
	}
	c.usedBefore = len(known) > 0
	if cfg.Cluster.Enabled {
		if c.keyring, err = nodes.OpenKeyring(c.store, string(cfg.Cluster.Secret)); err != nil {
			return nil, err
		}
		if err = c.shareSecrets(); err != nil {
			return nil, err
		}
		if c.node, err = nodes.Open(cfg, c.store.(durable.Shared), c.keyring, c.folder, opts.Lease/3, opts.Stop, log); err != nil {
			return nil, err
		}
	}
	if err = c.openFiles(cfg, hooks, log); err != nil {
		return nil, err
	}
	c.audit = audit.New(c.store, clock.System, time.Duration(cfg.Audit.RetentionDays)*24*time.Hour)
	if err = c.openList(); err != nil {
		return nil, err
	}
	c.usedBefore = c.usedBefore || len(c.list.All()) > 0 // from a restored backup
	c.system = durable.NewSystem()
	actors := durable.Options{
		Logger: log, SnapshotEvents: cfg.Storage.SnapshotEvents, IdleAfter: cfg.Storage.IdleAfter.Std(),
		Gate: c.writable, Waited: hooks.Waited, Cluster: c.node.Actors(),
	}
	forever := actors
	forever.IdleAfter = -1
	if c.settings, err = durable.NewHost(c.system, c.store, settings.Kind(c.audit), forever); err != nil {
		return nil, err
	}
	c.hosts = append(c.hosts, hosted{"settings", c.settings})
	if c.participants, err = durable.NewHost(c.system, c.store, participant.Kind(c.audit), forever); err != nil {
		return nil, err
	}
	c.hosts = append(c.hosts, hosted{"participants", c.participants})
	if c.people, err = durable.NewHost(c.system, c.store, people.Kind(c.audit, cfg.Admin.ID), forever); err != nil {
		return nil, err
	}
	c.hosts = append(c.hosts, hosted{"people", c.people})
	if c.webhooks, err = webhook.New(webhook.Config{
		System: c.system, Journal: c.store, Audit: c.audit, Durable: actors, Clock: clock.System, Logger: log,
	}); err != nil {
		return nil, err
	}
	c.hosts = append(c.hosts, hosted{"webhooks", c.webhooks.Host()})
	if c.ballots, err = c.openBallots(); err != nil {
		return nil, err
	}
	if c.codelabs, err = codelab.NewCodelabs(codelab.Config{
		System: c.system, Journal: c.store, List: c.list, Files: c.files,
		Rules: codelab.Rules{
			AuthorOnlyDeletes: cfg.Server.Mode == "serverless", AuditRows: c.audit.Rows, FileGrace: cfg.Files.Grace.Std(),
			BallotKey: c.ballots.Key, BallotLost: c.ballots.lost, Webhooks: c.webhooks.Outbox,
		},
		Ballots: c.ballots,
		Frames:  messages.Frames{}, Epoch: c.store.StreamID(),
		Room:    room.Limits{Frames: cfg.Live.ReplayEvents, Bytes: cfg.Live.ReplayMiB << 20},
		Durable: actors, Removed: hooks.Removed, Forgotten: hooks.Forgotten, Announce: hooks.Announce, Signal: hooks.Signal,
		Rehearse: func(ctx context.Context, lab codelab.Codelab) { rehearsal.Play(ctx, lab, rand.Uint64()) },
		Sweep:    !opts.RecoverDamaged, Logger: log,
	}); err != nil {
		return nil, err
	}
	c.ballots.labs.Store(c.codelabs)
	c.hosts = append(c.hosts, hosted{"codelab", c.codelabs})
	return c, nil
}

// explain adds the reason to an error if the store has stopped writing. Without the reason, an
// operator whose disk has failed reads only "no answer in time".
func (c *Core) explain(err error) error {
	if c == nil || c.store == nil {
		return err
	}
	if failed := c.store.Stats().Failed; failed != nil && !errors.Is(err, failed) {
		return fmt.Errorf("%w (%w)", err, failed)
	}
	return err
}

// openList reads the list of codelabs, and follows the changes of other nodes.
func (c *Core) openList() (err error) {
	if c.node == nil {
		c.list, err = catalog.LoadList(c.store)
		return err
	}
	c.list, err = catalog.FollowList(c.node.Store, clock.System, func(err error) { c.log.Error("reading a change of the list of codelabs failed", "error", err) })
	return err
}

// timeOf returns the current time for a codelab, by the clock of the node that owns the codelab.
func (c *Core) timeOf(lab codelab.Codelab) time.Time {
	return c.node.OwnersTime(lab.Owner(), time.Now())
}

// writable refuses writes while the store is read-only, for example because its disk is nearly
// full.
func (c *Core) writable() error {
	if c.store.ReadOnly() {
		return durable.ErrReadOnly
	}
	return nil
}

// Close writes snapshots, stops the actors and closes the store.
func (c *Core) Close(ctx context.Context) error {
	var errs []error
	for _, h := range slices.Backward(c.hosts) {
		errs = append(errs, h.Close(ctx))
	}
	c.ballots.close()
	if c.code != nil {
		errs = append(errs, c.code.Close())
	}
	if c.objects != nil {
		errs = append(errs, c.objects.Close())
	}
	if c.list != nil {
		c.list.Close()
	}
	c.node.Close()
	if c.store != nil {
		errs = append(errs, c.store.Close())
	}
	return errors.Join(errs...)
}
