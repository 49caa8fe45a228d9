package service

import (
	"errors"
	"io"
	"log/slog"
	"os"

	"atelier/cmd/atelier/config"
	"atelier/persistence/backup"
	"atelier/persistence/badger"
)

// sections are the parts of the data folder, in the order of a backup: the
// store comes first, since it refers to what the others hold. Secrets are not
// among them.
func (c *Core) sections() []backup.Section {
	return []backup.Section{
		{Name: "store", Folder: "store", Save: c.store.Backup, Load: badger.Restore},
		c.blobs.Section("blobs", "blobs"),
		{Name: "workspaces", Folder: codeFolder, Hold: c.code.Hold, Save: c.code.Save, Load: backup.LoadFolder},
	}
}

// Backup writes everything there is, while it is used.
func (c *Core) Backup(w io.Writer) error { return backup.Write(w, c.sections()...) }

// OpenData opens what the data folder holds, without any actor.
func OpenData(cfg config.Config, log *slog.Logger) (_ *Core, err error) {
	c := &Core{}
	if c.store, err = OpenStore(cfg, nil, log); err != nil {
		return nil, err
	}
	if err = errors.Join(c.openFiles(cfg, log), c.openCode(cfg, log)); err != nil {
		return nil, errors.Join(err, c.store.Close())
	}
	return c, nil
}

// Restore fills the data folder, which must hold no data, from a backup.
func Restore(cfg config.Config, r io.Reader) error {
	if err := os.MkdirAll(cfg.Server.Data, 0o700); err != nil {
		return err
	}
	return backup.Restore(cfg.Server.Data, r, new(Core).sections()...)
}
