package service

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"atelier/actors/code"
	"atelier/cmd/atelier/config"
	"atelier/persistence/backup"
	"atelier/persistence/objects"
	"atelier/persistence/objects/objectstest"
	"atelier/persistence/postgres/postgrestest"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m)) }

func coreIn(t *testing.T, store string) (config.Config, func() *Core) {
	t.Helper()
	cfg := config.Default()
	cfg.Server.Data, cfg.Files.Store, cfg.Storage.MinFreeMiB = t.TempDir(), store, 1
	return cfg, func() *Core {
		t.Helper()
		// The core runs without actors, and without sweeping unreferenced files.
		c, err := OpenData(cfg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
}

// A backup of any kind of store can be restored into every kind, but only into an empty store.
func TestABackupRestoresIntoEveryStore(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", objectstest.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", objectstest.SecretKey)
	bucket := func() string {
		return "s3://" + objectstest.Bucket + "/of/us?endpoint=http://" + objectstest.Serve(t).Endpoint
	}
	const workspace = "019a3f52-7c1e-7a44-9f0b-3d5a1e6b2c01"
	_, open := coreIn(t, "")
	c := open()
	l, err := c.blobs.Put(strings.NewReader("content"), 100)
	if err != nil {
		t.Fatal(err)
	}
	sum := l.Sum
	if err := c.code.Make(workspace, code.Git); err != nil {
		t.Fatal(err)
	}
	tree, err := c.code.Write(workspace, code.Git, "", code.Change{Write: []code.File{{Path: "a/b", Content: []byte("code")}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{bucket(), "folder:" + t.TempDir(), "", bucket()} {
		var saved bytes.Buffer
		if err := errors.Join(backup.Write(&saved, c.sections()...), c.Close(context.Background())); err != nil {
			t.Fatal(err)
		}
		cfg, open := coreIn(t, to)
		if err := Restore(cfg, bytes.NewReader(saved.Bytes()), ""); err != nil {
			t.Fatalf("restoring to %q: %v", to, err)
		}
		other, _ := coreIn(t, to)
		if err := Restore(other, bytes.NewReader(saved.Bytes()), ""); to != "" && err == nil {
			t.Errorf("%q: restored over existing data", to)
		}
		c = open()
		f, _, err := c.blobs.Open(sum)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); string(got) != "content" || err != nil {
			t.Errorf("%q: the file is %q, %v", to, got, err)
		}
		if got, _, err := c.code.Read(workspace, code.Git, tree, "a/b"); string(got) != "code" || err != nil {
			t.Errorf("%q: the code is %q, %v", to, got, err)
		}
		if n, err := c.Scrub(io.Discard); n != 0 || err != nil {
			t.Errorf("%q: the scrub found %d damaged objects, error %v", to, n, err)
		}
		if to != "" {
			// Another installation has no references to these files, so it must not open the store.
			_, err := OpenCore(other, Hooks{}, onBusyMachine, slog.New(slog.DiscardHandler))
			if !errors.Is(err, objects.ErrOwned) {
				t.Errorf("%s: the store was opened a second time: %v", to, err)
			}
		}
	}
	if _, err := c.files.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := c.code.Sweep(t.Context(), c.codeHeads); err != nil {
		t.Error(err)
	}
	if f, _, err := c.blobs.Open(sum); err != nil {
		t.Error(err)
	} else if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// An empty folder that used to contain files is treated as not mounted.
func TestAnUnmountedSharedStoreIsRefused(t *testing.T) {
	dir := t.TempDir()
	cfg, open := coreIn(t, "folder:"+dir)
	for range 2 {
		if err := open().Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	away := cfg
	away.Files.Store = "folder:" + t.TempDir()
	c, err := OpenData(away, slog.New(slog.DiscardHandler))
	if err == nil {
		_ = c.Close(context.Background())
		t.Fatal("an empty folder was accepted as the store with the files")
	}
	if !strings.Contains(err.Error(), "is it mounted") {
		t.Error(err)
	}
	// Nothing was written to the wrong folder, so the right folder is still accepted.
	if left, err := os.ReadDir(strings.TrimPrefix(away.Files.Store, "folder:")); err != nil || len(left) > 1 {
		t.Errorf("the empty folder contains %v, %v", left, err)
	}
	if err := open().Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestAWrongSharedStoreIsNotOpened(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	open := func(cfg config.Config) string {
		t.Helper()
		c, err := OpenCore(cfg, Hooks{}, onBusyMachine, slog.New(slog.DiscardHandler))
		if err == nil {
			_ = c.Close(context.Background())
			t.Fatal("the store was opened")
		}
		return err.Error()
	}
	cfg, _ := coreIn(t, "s3://bucket?endpoint=https://host.invalid")
	if err := open(cfg); !strings.Contains(err, "AWS_SECRET_ACCESS_KEY") || !strings.Contains(err, "files.store") {
		t.Error(err)
	}
	cfg, _ = coreIn(t, "folder:/not/mounted")
	if err := open(cfg); !strings.Contains(err, "files.store") {
		t.Error(err)
	}
	cfg, _ = coreIn(t, "folder:"+t.TempDir())
	cfg.Storage.Backend = config.Memory
	if err := open(cfg); !strings.Contains(err, "files.store") {
		t.Error(err)
	}
	// A shared store is refused if the data folder still contains files, because they would become
	// unreachable. Empty folders do not matter.
	cfg, local := coreIn(t, "")
	c := local()
	_ = c.Close(context.Background())
	shared := "folder:" + t.TempDir()
	cfg.Files.Store = shared
	if c, err := OpenData(cfg, slog.New(slog.DiscardHandler)); err != nil {
		t.Error(err)
	} else {
		_ = c.Close(context.Background())
	}
	c = local()
	if _, err := c.blobs.Put(strings.NewReader("x"), 1); err != nil {
		t.Fatal(err)
	}
	_ = c.Close(context.Background())
	if err := open(cfg); !strings.Contains(err, "files are in") {
		t.Error(err)
	}
}
