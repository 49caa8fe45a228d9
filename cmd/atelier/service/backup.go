package service

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"atelier/cmd/atelier/config"
	"atelier/persistence/backup"
	"atelier/persistence/memory"
	"atelier/persistence/ondisk"
)

// sections returns the parts of the data folder, in the order of a backup. The store is first,
// because it refers to objects in the other parts. The secrets are not among them. AddSecrets adds
// them.
func (c *Core) sections() []backup.Section {
	return []backup.Section{
		c.storeSection(),
		c.blobs.Section("blobs", contentFolder),
		{Name: "objects", Folder: objectFolder, Hold: c.code.Hold, Save: c.code.Save},
	}
}

// Backup writes all data of the server while it runs. For a store in memory it fails with
// memory.ErrNoBackup. Data with a pending erasure request is erased first, so that no later backup
// contains it. If the erasure fails, for example because the disk accepts no writes or a codelab is
// quarantined, the backup continues, since it is now especially important. The log then reports the
// unerased data that the backup can contain.
func (c *Core) Backup(w io.Writer) error {
	if c.cfg.Storage.Backend == config.Memory {
		return memory.ErrNoBackup
	}
	ctx, cancel := context.WithTimeout(context.Background(), eraseWait)
	defer cancel()
	err := c.writable()
	if err == nil {
		err = c.finishErasing(ctx)
	}
	if err != nil {
		c.log.Error("erasing before the backup failed, so the backup may contain erased personal data; remove it, and make another when the store can be written", "error", err)
	}
	return backup.Write(w, c.sections()...)
}

// finishErasing waits until no actor of any kind has something to erase, or until ctx ends.
func (c *Core) finishErasing(ctx context.Context) error {
	var errs []error
	for _, h := range c.hosts {
		errs = append(errs, h.FinishErasing(ctx))
	}
	return errors.Join(errs...)
}

// eraseWait is the maximum time that a backup waits for erasures in progress.
const eraseWait = 30 * time.Second

// OpenData opens the data folder, without any actor.
func OpenData(cfg config.Config, log *slog.Logger) (_ *Core, err error) {
	c := &Core{cfg: cfg, log: log}
	if c.store, err = openStore(cfg, Hooks{}, Options{}, log); err != nil {
		return nil, err
	}
	if err = c.openFiles(cfg, Hooks{}, log); err != nil {
		return nil, errors.Join(err, c.Close(context.Background()))
	}
	return c, nil
}

// Restore restores a backup into the data folder and, if they are configured, into the database and
// the shared file store. The database and the shared store must be empty, and the data folder must
// contain no data. Code that is damaged in the backup stays damaged, and scrub reports it. With a
// passphrase, Restore also restores the secrets, which the backup must then contain.
func Restore(cfg config.Config, r io.Reader, passphrase string) (err error) {
	if err := ondisk.MakeFolder(cfg.Server.Data, 0o700); err != nil {
		return err
	}
	shared, err := openObjects(cfg)
	if err != nil {
		return err
	}
	sections := []backup.Section{(&Core{cfg: cfg}).storeSection()}
	if shared == nil {
		sections = append(sections, fileSections(nil)...)
	} else {
		defer func() { err = errors.Join(err, shared.Close()) }()
		sections = append(sections, fileSections(shared)...)
	}
	return backup.Restore(cfg.Server.Data, r, append(sections, sealedSecrets(passphrase))...)
}
