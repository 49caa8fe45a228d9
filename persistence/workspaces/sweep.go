package workspaces

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// asideFolder holds workspaces that nobody knows. Why cannot be told: a crash
// may have come between making one and recording it, or the record was lost to
// a damaged disk. So they stay for a while, and come back when somebody knows
// them after all.
const asideFolder = ".aside"

// Sweep sets aside the workspaces that nobody knows, removes those that were
// set aside longer ago than grace, and brings back what is known. It is for
// the start, before anything else is done.
func (s *Store) Sweep(known func(id string) bool, grace time.Duration, now time.Time) error {
	if err := s.root.Mkdir(asideFolder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("sweep workspaces: %w", err)
	}
	aside, err := os.ReadDir(filepath.Join(s.dir, asideFolder))
	if err != nil {
		return fmt.Errorf("list workspaces: %w", err)
	}
	for _, e := range aside {
		path := filepath.Join(asideFolder, e.Name())
		info, err := e.Info()
		switch {
		case err != nil:
		case known(e.Name()):
			err = s.root.Rename(path, e.Name())
			s.log.Warn("a workspace that was set aside is known again", "workspace", e.Name())
		case info.ModTime().Before(now.Add(-grace)):
			err = s.root.RemoveAll(path)
		}
		if err != nil {
			return fmt.Errorf("sweep workspaces: %w", err)
		}
	}
	there, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("list workspaces: %w", err)
	}
	for _, e := range there {
		if !idForm.MatchString(e.Name()) || known(e.Name()) {
			continue
		}
		to := filepath.Join(asideFolder, e.Name())
		if err := errors.Join(s.root.Rename(e.Name(), to), s.root.Chtimes(to, now, now)); err != nil {
			return fmt.Errorf("set a workspace aside: %w", err)
		}
		s.log.Warn("a workspace that no codelab has is set aside", "workspace", e.Name(), "removed_after", grace)
	}
	return s.syncer.sync(s.dir)
}
