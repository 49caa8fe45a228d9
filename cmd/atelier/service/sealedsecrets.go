package service

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"atelier/cmd/atelier/config"
	"atelier/persistence/backup"
)

// backedUpSecrets lists the files of the secrets folder that a backup can contain. The shares of
// token keys are not included. A copy would outlive their destruction, and a restored backup voids
// every token anyway.
var backedUpSecrets = []string{passwordFile, sessionKeyFile, pinKeyFile, settingsKeyFile, tokenKeyFile}

// Passphrase returns the first line of a file with a passphrase. It refuses a passphrase of fewer
// than minPassphrase bytes.
func Passphrase(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the passphrase: %w", err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	if line = strings.TrimSuffix(line, "\r"); len(line) < minPassphrase {
		return "", fmt.Errorf("the passphrase in %s has fewer than %d bytes", path, minPassphrase)
	}
	return line, nil
}

// minPassphrase is the minimum length of a passphrase, in bytes. It excludes passphrases that are
// easily guessed, because a thief of the backup has unlimited time to guess.
const minPassphrase = 12

// AddSecrets adds the secrets to a complete backup, as a tar file that age encrypts with a
// passphrase.
func AddSecrets(cfg config.Config, f *os.File, passphrase string) error {
	to, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return err
	}
	return backup.Append(f, backup.Section{Name: secretsSection, Save: func(w io.Writer) error {
		sealed, err := age.Encrypt(w, to)
		if err != nil {
			return err
		}
		err = backup.SaveFiles(sealed, filepath.Join(cfg.Server.Data, secretsFolder), backedUpSecrets...)
		return errors.Join(err, sealed.Close())
	}})
}

const (
	secretsSection = "secrets"
	secretsFolder  = "secrets"
	// maxWork is the maximum scrypt work factor that a backup can demand, as a power of two. At the
	// maximum, decryption takes minutes.
	maxWork = 22
)

// sealedSecrets returns the section that AddSecrets adds. Without a passphrase the section is
// skipped.
func sealedSecrets(passphrase string) backup.Section {
	s := backup.Section{Name: secretsSection, Folder: secretsFolder, Required: passphrase != ""}
	if passphrase == "" {
		s.Vacant = func() error { return nil }
		s.Load = func(_ string, r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			return err
		}
		s.Place = func(string) error { return nil }
		return s
	}
	s.Load = func(dir string, r io.Reader) error {
		by, err := age.NewScryptIdentity(passphrase)
		if err != nil {
			return err
		}
		by.SetMaxWorkFactor(maxWork)
		plain, err := age.Decrypt(r, by)
		if err != nil {
			var wrong *age.NoIdentityMatchError
			if errors.As(err, &wrong) {
				return errors.New("the passphrase is wrong")
			}
			return err
		}
		return backup.LoadFolder(dir, plain)
	}
	return s
}
