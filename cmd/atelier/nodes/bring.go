package nodes

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"atelier/actors/durable"
	"atelier/persistence/ondisk"
)

// SharedFile is a file of the secrets folder that is the same on all nodes. The file is a copy of a
// secret in the database.
type SharedFile struct {
	// Name is the secret's name in the keyring. Path is the path of the file.
	Name, Path string
	// Load checks the file, and creates it if it is missing.
	Load func() (made bool, err error)
	// Lasting means that stored data could not be read with another secret.
	Lasting bool
	// WayOut is the end of the error that refuses a start without the secret. It can be "".
	WayOut string
	// Lacks returns an error if content lacks secrets that were used with the database. The file of
	// a server that ran alone for a while can contain such secrets. Lacks is nil for a file that
	// does not grow.
	Lacks func(content []byte) error
}

// Bring copies a secret from the database into its file, or from the file into the database. If
// neither has the secret, Bring creates it. It refuses to create a Lasting secret on which data can
// depend, as reported by used or by an earlier agreement of the nodes. made reports whether the
// secret was created by this call.
func (k *Keyring) Bring(f SharedFile, used bool, log *slog.Logger) (made bool, err error) {
	shared, err := k.Share(f.Name, func() ([]byte, error) {
		if _, err := os.Stat(f.Path); f.Lasting && errors.Is(err, fs.ErrNotExist) {
			agreed, err := k.Agreed("secrets/" + f.Name)
			if err != nil {
				return nil, err
			}
			if agreed || used {
				return nil, fmt.Errorf("%s is missing, and the database, which has data that needs it, has no copy yet. Start the node that has the file first, or restore the file%s", f.Path, f.WayOut)
			}
		}
		m, err := f.Load()
		if err != nil {
			return nil, err
		}
		made = made || m
		return os.ReadFile(f.Path)
	})
	if err == nil && f.Lacks != nil {
		shared, err = k.bringNewer(f, shared)
	}
	if err != nil {
		return false, err
	}
	before, err := os.ReadFile(f.Path)
	if err == nil && bytes.Equal(before, shared.Content) {
		return made, nil
	}
	// The old file can contain the only copy of a lasting secret if a backup was restored and the
	// restored node did not start first. A growing file is not kept, because it changes while a
	// node is down, and removed secrets must stay removed.
	if err == nil && !made && f.Lasting && f.Lacks == nil {
		aside := f.Path + ".before"
		if err := os.Rename(f.Path, aside); err != nil {
			return false, err
		}
		log.Warn("a secret file differed from the secret of the other nodes, and was replaced", "file", f.Path, "kept_as", aside)
	}
	return false, ondisk.Replace(f.Path, shared.Content)
}

// bringNewer returns the content that the nodes share. If this content lacks secrets that were used
// with the database, a server that ran alone for a while has created them. If this server's file
// has them, bringNewer publishes the file in the database. Otherwise it fails, so that no file is
// overwritten.
func (k *Keyring) bringNewer(f SharedFile, shared Secret) (Secret, error) {
	for {
		missing := f.Lacks(shared.Content)
		if missing == nil {
			return shared, nil
		}
		own, err := os.ReadFile(f.Path)
		if err == nil && f.Lacks(own) == nil {
			brought, err := k.Put(f.Name, shared, own)
			if !errors.Is(err, durable.ErrConflict) {
				return brought, err
			}
		}
		now, err := k.Get(f.Name)
		if err != nil || now.Version == shared.Version {
			return shared, errors.Join(err, fmt.Errorf("%w: first start the node that served alone meanwhile, or restore the right file at %s", missing, f.Path))
		}
		shared = now // another node has changed the content
	}
}
