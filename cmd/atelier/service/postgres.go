package service

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"atelier/actors/durable"
	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/nodes"
	"atelier/persistence/backup"
	"atelier/persistence/badger"
	"atelier/persistence/ondisk"
	"atelier/persistence/postgres"
)

// streamNote returns the path of a file in the data folder that contains the name of a database
// stream. The records of this stream refer to the other files in the data folder. With another
// store, these files would seem unreferenced and be swept.
func streamNote(cfg config.Config) string { return filepath.Join(cfg.Server.Data, "postgres.stream") }

func errOfDatabase(cfg config.Config) error {
	return fmt.Errorf("storage.backend: the files in %s belong to a PostgreSQL database, and a %s store does not refer to them; choose another server.data", cfg.Server.Data, cfg.Storage.Backend)
}

func openPostgres(cfg config.Config, hooks Hooks, opts Options, log *slog.Logger) (durable.Store, error) {
	if _, err := os.Stat(StoreDir(cfg)); err == nil {
		return nil, fmt.Errorf("storage.backend: the folder %s holds a store, and the database does not contain its data; choose another server.data, and move the data with backup and restore", cfg.Server.Data)
	}
	unlock, err := lockData(cfg)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			unlock()
		}
	}()
	store, err := postgres.Open(postgres.Options{
		URL: string(cfg.Storage.Postgres), Node: nodeName(cfg), Version: opts.protocol(), Program: opts.Version, Admit: nodes.Beside(cfg, opts.protocol()), Lease: opts.Lease, StoreLimits: storeLimits(cfg.Storage),
		OnCommit: hooks.Committed, Logger: log, Now: opts.Clock,
	})
	if errors.Is(err, postgres.ErrNameTaken) && cfg.Cluster.Enabled {
		return nil, fmt.Errorf("cluster.node: another node is called %s; each node needs its own name", cfg.Cluster.Node)
	}
	if errors.Is(err, postgres.ErrNameTaken) {
		return nil, errors.New("storage.postgres: another server is running on this database; stop it, or give this server its own database")
	}
	if err != nil {
		return nil, err
	}
	if err = noteStream(cfg, store.StreamID()); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return &lockedStore{store, unlock}, nil
}

// lockData locks the data folder against other processes, as Badger locks its own folder. Two nodes
// in one folder would overwrite each other's socket and copies.
func lockData(cfg config.Config) (unlock func(), err error) {
	dir, err := os.Open(cfg.Server.Data)
	if err != nil {
		return nil, err
	}
	// On a file system without locks this is impossible, but the server can still serve.
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		_ = dir.Close()
		return nil, errInUse(cfg)
	}
	return func() { _ = ondisk.Unlock(dir) }, nil
}

// lockedStore unlocks the data folder when the store is closed.
type lockedStore struct {
	*postgres.Store
	unlock func()
}

func (s *lockedStore) Close() error {
	defer s.unlock()
	return s.Store.Close()
}

// nodeName returns this node's name in a cluster; "" on a single server.
func nodeName(cfg config.Config) string {
	if !cfg.Cluster.Enabled {
		return ""
	}
	return cfg.Cluster.Node
}

// noteStream refuses a database that does not belong to the data folder. It records the first
// stream.
func noteStream(cfg config.Config, stream string) error {
	b, err := os.ReadFile(streamNote(cfg))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ondisk.Replace(streamNote(cfg), []byte(stream+"\n"))
	case err != nil:
		return err
	case strings.TrimSpace(string(b)) != stream:
		return fmt.Errorf("storage.postgres: the files in %s belong to another database, or to another state of this database; configure the right database, or choose another server.data", cfg.Server.Data)
	}
	return nil
}

// HasData reports whether the store exists. For PostgreSQL it returns true, because only the
// database can decide this.
func HasData(cfg config.Config) bool {
	if cfg.Storage.Backend == config.Postgres {
		return true // decided by the database
	}
	_, err := os.Stat(StoreDir(cfg))
	return err == nil
}

// storeSection returns the store's part of a backup. Both kinds of store can read it.
func (c *Core) storeSection() backup.Section {
	save := func(w io.Writer) error { return c.store.Backup(w) } // not called for a restore, which has no store
	s := backup.Section{Name: "store", Folder: "store", Save: save, Load: badger.Restore}
	if c.cfg.Storage.Backend != config.Postgres {
		return s
	}
	url := string(c.cfg.Storage.Postgres)
	var restoring *postgres.Restoring
	s.Vacant = func() error {
		if err := backup.CheckVacant(StoreDir(c.cfg)); err != nil {
			return err
		}
		return postgres.CheckEmpty(url)
	}
	s.Load = func(_ string, r io.Reader) (err error) {
		restoring, err = postgres.Restore(url, r)
		return err
	}
	s.Place = func(string) error {
		// The files next to this file now belong to the backup.
		if err := os.Remove(streamNote(c.cfg)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return restoring.Commit()
	}
	s.Discard = func() error {
		if restoring == nil {
			return nil
		}
		return restoring.Discard()
	}
	return s
}
