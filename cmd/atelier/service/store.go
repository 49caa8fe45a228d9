package service

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"atelier/actors/durable"
	"atelier/cmd/atelier/config"
	"atelier/persistence/badger"
	"atelier/persistence/memory"
	"atelier/persistence/ondisk"
)

// StoreDir returns the folder of the embedded store in the data folder.
func StoreDir(cfg config.Config) string { return filepath.Join(cfg.Server.Data, "store") }

// openStore opens the store that is selected in the configuration.
func openStore(cfg config.Config, hooks Hooks, opts Options, log *slog.Logger) (durable.Store, error) {
	switch cfg.Storage.Backend {
	case config.Memory:
		return openMemory(cfg, log)
	case config.Postgres:
		return openPostgres(cfg, hooks, opts, log)
	}
	return openBadger(cfg, hooks, opts, log)
}

// storeLimits returns the limits that the embedded store and PostgreSQL have in common.
func storeLimits(s config.Storage) durable.StoreLimits {
	return durable.StoreLimits{QueueBytes: int64(s.QueueMiB) << 20}
}

// openMemory returns a store that ends with the process. It refuses a data folder that contains a
// store, or whose files belong to a PostgreSQL database. Those files would seem unreferenced, and
// would be swept.
func openMemory(cfg config.Config, log *slog.Logger) (durable.Store, error) {
	if _, err := os.Stat(StoreDir(cfg)); err == nil {
		return nil, fmt.Errorf("storage.backend: the folder %s holds a store, and the memory store does not contain its data; choose another server.data", cfg.Server.Data)
	}
	if _, err := os.Stat(streamNote(cfg)); err == nil {
		return nil, errOfDatabase(cfg)
	}
	log.Warn("storage.backend is memory: all data is lost when this process ends")
	return memory.New(), nil
}

// makeData creates the data folder. If the folder is not writable, the error contains the
// configuration key to change.
func (s *Service) makeData() error {
	dir := s.cfg.Server.Data
	err := ondisk.MakeFolder(dir, 0o700)
	if err == nil {
		err = unix.Access(dir, unix.W_OK|unix.X_OK)
	}
	if err != nil {
		return fmt.Errorf("server.data: cannot write to the folder %s (%w); make the server's user its owner, or choose another folder (--data, ATELIER_SERVER_DATA)", dir, err)
	}
	return nil
}

func errInUse(cfg config.Config) error {
	return fmt.Errorf("server.data: the folder %s is in use by another process; stop that process, or choose another folder", cfg.Server.Data)
}

// badgerOptions returns the common options of the embedded store.
func badgerOptions(cfg config.Config) badger.Options {
	return badger.Options{
		Dir: StoreDir(cfg), MemTableBytes: int64(cfg.Storage.MemtableMiB) << 20, BlockCacheBytes: int64(cfg.Storage.BlockCacheMiB) << 20,
	}
}

func openBadger(cfg config.Config, hooks Hooks, opts Options, log *slog.Logger) (durable.Store, error) {
	if _, err := os.Stat(streamNote(cfg)); err == nil {
		return nil, errOfDatabase(cfg)
	}
	o := badgerOptions(cfg)
	o.StoreLimits, o.MinFreeBytes = storeLimits(cfg.Storage), uint64(max(cfg.Storage.MinFreeMiB, 1))<<20
	o.Logger, o.RecoverDamaged = log, opts.RecoverDamaged
	if hooks.Committed != nil {
		o.OnCommit = func(c badger.Commit) { hooks.Committed(c.Took) }
	}
	store, err := badger.Open(o)
	if errors.Is(err, badger.ErrLocked) {
		return nil, errInUse(cfg)
	}
	if err != nil {
		return nil, err
	}
	return store, nil
}
