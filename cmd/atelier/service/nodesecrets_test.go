package service

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"

	"atelier/actors/durable"
	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/nodes"
	"atelier/persistence/postgres/postgrestest"
)

// Shared secrets belong to one lineage of the database. The first node on a restored database
// publishes them again.
func TestSharedSecretsAreNotRestored(t *testing.T) {
	files := "folder:" + t.TempDir()
	onNode := func(c *Core) *nodes.Node {
		return &nodes.Node{Cluster: durable.Cluster{Store: c.store.(durable.Shared)}}
	}
	open := func(cfg config.Config) *Core {
		t.Helper()
		c, err := OpenData(cfg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close(context.Background()) })
		return c
	}
	cfg := onPostgres(t, postgrestest.Database(t))
	cfg.Files.Store = files
	c := open(cfg)
	if err := onNode(c).Agree("key", "secret"); err != nil {
		t.Fatal(err)
	}
	if err := onNode(c).Agree("key", "other"); !errors.Is(err, nodes.ErrNotTheSame) {
		t.Errorf("agreeing on another secret returned %v, want ErrNotTheSame", err)
	}
	var saved bytes.Buffer
	if err := c.store.Backup(&saved); err != nil {
		t.Fatal(err)
	}
	restored := onPostgres(t, postgrestest.Database(t))
	section := (&Core{cfg: restored}).storeSection()
	if err := section.Load("", &saved); err != nil {
		t.Fatal(err)
	}
	if err := section.Place(""); err != nil {
		t.Fatal(err)
	}
	restored.Files.Store = "folder:" + t.TempDir()
	c = open(restored) // into an empty folder
	for _, secret := range []string{"secret", "secret"} {
		if err := onNode(c).Agree("key", secret); err != nil {
			t.Errorf("agreeing on the secret after a restore: %v", err)
		}
	}
	if err := onNode(c).Agree("key", "other"); !errors.Is(err, nodes.ErrNotTheSame) {
		t.Errorf("agreeing on another secret after a restore returned %v, want ErrNotTheSame", err)
	}
}
