package service

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/cmd/atelier/config"
	"atelier/persistence/postgres/postgrestest"
)

// onBusyMachine sets a lease that is longer than the pauses of a busy machine.
var onBusyMachine = Options{Lease: 9 * time.Second}

func onPostgres(t *testing.T, url string) config.Config {
	cfg := config.Default()
	cfg.Server.Data, cfg.Storage.Backend, cfg.Storage.Postgres = t.TempDir(), config.Postgres, config.Secret(url)
	cfg.Storage.MinFreeMiB = 1
	return cfg
}

func openCoreOf(t *testing.T, cfg config.Config) *Core {
	t.Helper()
	c, err := OpenCore(cfg, Hooks{}, onBusyMachine, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

// A full backup moves from one kind of store to the other and back.
func TestABackupMovesBetweenStores(t *testing.T) {
	embedded := config.Default()
	embedded.Server.Data, embedded.Storage.MinFreeMiB = t.TempDir(), 1
	from := openCoreOf(t, embedded)
	if err := durable.Commit(from.store, []durable.Row{{Table: "t", Key: []byte("k"), Value: []byte("v")}}); err != nil {
		t.Fatal(err)
	}
	backup := func(c *Core) *bytes.Buffer {
		var b bytes.Buffer
		if err := c.Backup(&b); err != nil {
			t.Fatal(err)
		}
		return &b
	}
	holds := func(c *Core) {
		t.Helper()
		if v, err := c.store.Get("t", []byte("k")); err != nil || string(v) != "v" {
			t.Errorf("the restored row is %q, %v", v, err)
		}
	}
	first := backup(from)
	database := onPostgres(t, postgrestest.Database(t))
	broken := bytes.NewReader(first.Bytes()[:first.Len()-2])
	if err := Restore(database, broken, ""); err == nil {
		t.Error("a backup without an end was restored")
	}
	if err := Restore(database, bytes.NewReader(first.Bytes()), ""); err != nil {
		t.Fatal(err)
	}
	middle := openCoreOf(t, database)
	holds(middle)
	if err := Restore(onPostgres(t, string(database.Storage.Postgres)), first, ""); err == nil || !strings.Contains(err.Error(), "already contains data") {
		t.Errorf("a restore over data returned %v", err)
	}
	back := config.Default()
	back.Server.Data, back.Storage.MinFreeMiB = t.TempDir(), 1
	if err := Restore(back, backup(middle), ""); err != nil {
		t.Fatal(err)
	}
	holds(openCoreOf(t, back))
}

// The server does not guess which store a data folder's files belong to. With the wrong store, the
// server would remove the files as unreferenced.
func TestADataFolderStaysWithItsStore(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	refused := func(cfg config.Config, want string) {
		t.Helper()
		c, err := OpenCore(cfg, Hooks{}, onBusyMachine, log)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %v, want %q", err, want)
		}
		if err == nil {
			_ = c.Close(context.Background())
		}
	}
	cfg := onPostgres(t, postgrestest.Database(t))
	c := openCoreOf(t, cfg)
	second := cfg
	second.Server.Data = t.TempDir()
	second.Storage.Postgres = cfg.Storage.Postgres
	refused(second, "another server is running on this database")
	folder := cfg
	folder.Storage.Postgres = config.Secret(postgrestest.Database(t))
	refused(folder, "is in use by another process")
	if err := c.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	other := cfg
	other.Storage.Postgres = config.Secret(postgrestest.Database(t))
	refused(other, "belong to another database")
	for _, backend := range []string{config.Badger, config.Memory} {
		other.Storage.Backend = backend
		refused(other, "belong to a PostgreSQL database")
	}
	embedded := config.Default()
	embedded.Server.Data, embedded.Storage.MinFreeMiB = t.TempDir(), 1
	openCoreOf(t, embedded)
	embedded.Storage.Backend, embedded.Storage.Postgres = config.Postgres, cfg.Storage.Postgres
	refused(embedded, "holds a store")
	away := cfg
	away.Storage.Postgres = "postgres://u:hunter2@127.0.0.1:1/db"
	refused(away, "open the database")
}

func TestADataFolderHasOneNode(t *testing.T) {
	cfg := onPostgres(t, "")
	unlock, err := lockData(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockData(cfg); err == nil || err.Error() != errInUse(cfg).Error() {
		t.Errorf("a second node in the folder got %v", err)
	}
	unlock()
	if unlock, err = lockData(cfg); err != nil {
		t.Fatalf("after the first node has stopped: %v", err)
	}
	unlock()
}
