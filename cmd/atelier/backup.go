package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/doctor"
	"atelier/cmd/atelier/service"
	"atelier/persistence/ondisk"
	"atelier/transport/control"
)

type backupCmd struct {
	common
	File           string `arg:"" help:"File for the backup; must not exist."`
	Secrets        bool   `help:"Include the secrets of the data folder, encrypted with a passphrase."`
	PassphraseFile string `help:"File whose first line is the passphrase." placeholder:"FILE" type:"path"`
}

// Run writes a backup. If a server runs on the data, the server makes the backup.
func (c backupCmd) Run() error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if _, err := os.Stat(c.File); err == nil {
		return fmt.Errorf("%s exists already", c.File)
	}
	if c.Secrets != (c.PassphraseFile != "") {
		return errors.New("--secrets and --passphrase-file belong together")
	}
	passphrase, err := passphraseOf(c.PassphraseFile)
	if err != nil {
		return err
	}
	// The backup is written to a temporary file and renamed, so that a partial backup is never
	// mistaken for a complete one.
	tmp, err := os.CreateTemp(filepath.Dir(c.File), ".atelier-backup-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if err = writeBackup(cfg, tmp); err == nil && c.Secrets {
		err = service.AddSecrets(cfg, tmp, passphrase)
	}
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if err := os.Rename(tmp.Name(), c.File); err != nil {
		return err
	}
	if err := ondisk.SyncFolder(filepath.Dir(c.File)); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	info, err := os.Stat(c.File)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes\n", c.File, info.Size())
	noteBackup(cfg, c.File, info.Size())
	if c.Secrets {
		fmt.Println("It holds the secrets, encrypted with the passphrase; it does not hold the configuration. Keep the passphrase elsewhere.")
	} else {
		fmt.Printf("It holds neither the secrets in %s nor the configuration. Keep copies of both elsewhere, or use --secrets.\n", filepath.Join(cfg.Server.Data, "secrets"))
	}
	return nil
}

// noteBackup records the time of the last backup in the data folder, for doctor. If the folder is
// not writable, the backup is still valid.
func noteBackup(cfg config.Config, file string, size int64) {
	path, err := filepath.Abs(file)
	if err == nil {
		err = doctor.Note(cfg.Server.Data, doctor.Backup{At: time.Now().UTC(), File: path, Bytes: size})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "warning: this backup is not recorded for atelier doctor:", err)
	}
}

// passphraseOf reads the passphrase from a file. It returns "" if no file is given.
func passphraseOf(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	return service.Passphrase(path)
}

func writeBackup(cfg config.Config, w io.Writer) error {
	return operate(cfg, func(client *control.Client) error { return client.Backup(w) }, func() (*service.Core, error) {
		if _, err := cfg.Check(); err != nil {
			return nil, err
		}
		if err := hasData(cfg); err != nil {
			return nil, err
		}
		// This needs the actors, because the backup must not contain data that is due for erasure.
		return openCore(cfg)
	})
}

func hasData(cfg config.Config) error {
	if !service.HasData(cfg) {
		return fmt.Errorf("there is no data in %s", cfg.Server.Data)
	}
	return nil
}

// openData opens the data folder. A server must not have it open at the same time.
func openData(cfg config.Config) (*service.Core, error) {
	if err := hasData(cfg); err != nil {
		return nil, err
	}
	return service.OpenData(cfg, newLogger(quietly(cfg.Log)))
}

// quietly raises the level info to warn, because the command itself prints its results.
func quietly(l config.Log) config.Log {
	if l.Level == "info" {
		l.Level = "warn"
	}
	return l
}

type restoreCmd struct {
	common
	File           string `arg:"" help:"Backup file." type:"existingfile"`
	PassphraseFile string `help:"File whose first line is the passphrase of the secrets in the backup; without it the secrets are not restored." placeholder:"FILE" type:"path"`
}

// Run restores a backup into a data folder without data. When clients reconnect later, the server
// rejects their stream positions, and the clients read everything again.
func (c restoreCmd) Run() error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	// A server would not start with an invalid configuration, so a restore fails early.
	if _, err := cfg.Check(); err != nil {
		return err
	}
	passphrase, err := passphraseOf(c.PassphraseFile)
	if err != nil {
		return err
	}
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := service.Restore(cfg, f, passphrase); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	fmt.Printf("restored into %s\n", cfg.Server.Data)
	if passphrase != "" {
		fmt.Println("The secrets are restored. Tokens are invalid, as after every restore.")
	} else {
		fmt.Print(withoutSecrets)
	}
	return nil
}

const withoutSecrets = `The secrets are not restored. Unless you copy them into the data folder before the first start:
  - everybody must sign in again, and the owner's generated password is replaced by a new one;
  - the rejoin codes of attendees are invalid: a facilitator gives out new ones
    (POST /api/codelabs/ID/reset-pins);
  - the key of the AI must be entered again;
  - tokens are invalid, as after every restore.
`
