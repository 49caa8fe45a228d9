package service

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/goleak"

	"atelier/actors/durable"
	"atelier/actors/token/seal"
	"atelier/cmd/atelier/config"
)

// brokenStore is a store that has stopped writing.
type brokenStore struct {
	durable.Store
	failed error
}

func (s brokenStore) Stats() durable.StoreStats { return durable.StoreStats{Failed: s.failed} }

// In an earlier version, if the disk failed during a start, the error contained only "no answer in
// time".
func TestErrorsOfAStartContainTheErrorOfTheDisk(t *testing.T) {
	disk, late := errors.New("input/output error"), durable.ErrTimeout
	c := &Core{store: brokenStore{failed: disk}}
	if err := c.explain(late); !errors.Is(err, late) || !errors.Is(err, disk) || !strings.Contains(err.Error(), disk.Error()) {
		t.Errorf("the error is %v", err)
	}
	for name, err := range map[string]error{
		"disk error already": c.explain(disk), "nothing failed": (&Core{store: brokenStore{}}).explain(disk),
		"no store": (&Core{}).explain(disk), "nothing open": (*Core)(nil).explain(disk),
	} {
		if err != disk {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

// If a start fails after the first vault is open, the vault is closed again.
func TestAFailedStartOfTheVaultsClosesThem(t *testing.T) {
	cfg := config.Default()
	cfg.Server.Data = t.TempDir()
	c, err := OpenCore(cfg, Hooks{}, onBusyMachine, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	taken := actor.PropsFromFunc(func(actor.Context) {})
	if _, err := c.system.Root.SpawnNamed(taken, "tokens-"+string(seal.Sandbox)+"-001"); err != nil {
		t.Fatal(err)
	}
	before := goleak.IgnoreCurrent()
	if _, err := c.openVaults(); err == nil || !strings.Contains(err.Error(), "open the sandbox vault") {
		t.Errorf("the error is %v", err)
	}
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
}

// The sum of all default limits is less than 400 MiB, so that 512 MiB of memory are enough. The
// limits cover request bodies that are being read, and batches and snapshots for the disk. They
// also cover a busy codelab's events for clients that reconnect.
func TestTheDefaultMemoryLimitsFitInto400MiB(t *testing.T) {
	cfg := config.Default()
	limits := durable.StoreLimits{QueueBytes: int64(cfg.Storage.QueueMiB) << 20}
	limits.SetDefaults()
	all := []int64{int64(cfg.Limits.BodyMemoryMiB) << 20, limits.QueueBytes, limits.SnapshotQueueBytes, int64(cfg.Live.ReplayMiB) << 20}
	sum := int64(0)
	for _, bound := range all {
		if bound <= 0 {
			t.Errorf("a limit in %v is not positive", all)
		}
		sum += bound
	}
	if sum >= 400<<20 {
		t.Errorf("the limits %v add up to %d MiB", all, sum>>20)
	}
}
