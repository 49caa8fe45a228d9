package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"atelier/actors/catalog"
	"atelier/actors/code"
	"atelier/actors/codelab"
	"atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/cmd/atelier/config"
	"atelier/persistence/backup"
	"atelier/persistence/objects"
	"atelier/persistence/objects/contents"
	"atelier/persistence/objects/folder"
	"atelier/persistence/objects/s3"
	"atelier/persistence/objects/trees"
	"atelier/persistence/ondisk"
)

const (
	// These are folders in the data folder. objectFolder contains the object store, unless
	// files.store is elsewhere. contentFolder contains file contents. copiesFolder contains this
	// node's copies of objects.
	objectFolder  = "objects"
	contentFolder = "blobs"
	copiesFolder  = "copies"
	// codeFolder is in copiesFolder.
	codeFolder = "workspaces"
)

// closableObjects is an open object store.
type closableObjects interface {
	objects.Store
	io.Closer
}

// openObjects opens the store that nodes share; it returns nil if files are in the data folder.
func openObjects(cfg config.Config) (closableObjects, error) {
	at, err := cfg.Files.FileStore()
	if err != nil || !at.Shared() {
		return nil, err
	}
	if cfg.Storage.Backend == config.Memory {
		return nil, errors.New("files.store cannot be shared if storage.backend is memory: after a restart nothing would refer to the files")
	}
	if at.Folder != "" {
		s, err := folder.Open(folder.Options{Dir: at.Folder, MinFreeBytes: minFree(cfg)})
		if err != nil {
			return nil, fmt.Errorf("files.store: %w", err)
		}
		return s, nil
	}
	o := s3.Options{
		Endpoint: at.Endpoint, Insecure: at.Insecure, Region: at.Region, Bucket: at.Bucket, Prefix: at.Prefix,
		AccessKey: os.Getenv("AWS_ACCESS_KEY_ID"), SecretKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
	}
	if o.AccessKey == "" || o.SecretKey == "" {
		return nil, errors.New("files.store: the keys of the bucket must be in the environment, as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	s, err := s3.Open(o)
	if err != nil {
		return nil, fmt.Errorf("files.store: %w", err)
	}
	return s, nil
}

func minFree(cfg config.Config) uint64 { return uint64(max(cfg.Storage.MinFreeMiB, 1)) << 20 }

// openFiles opens the file contents, the register of files in the store, and the code.
func (c *Core) openFiles(cfg config.Config, hooks Hooks, log *slog.Logger) error {
	if hooks.Damaged == nil {
		hooks.Damaged = func() {}
	}
	shared, err := openObjects(cfg)
	if err != nil {
		return err
	}
	if shared == nil {
		err = c.openLocalFiles(cfg, hooks, log)
	} else {
		c.objects = shared
		err = c.openSharedFiles(cfg, shared, hooks, log)
	}
	if err == nil {
		c.files = files.NewRegister(c.store, c.blobs, cfg.Files.Grace.Std(), time.Now)
		if c.node != nil {
			c.files.Share()
		}
	}
	return err
}

func (c *Core) openLocalFiles(cfg config.Config, hooks Hooks, log *slog.Logger) error {
	local, err := contents.Open(contents.Options{
		Dir: filepath.Join(cfg.Server.Data, contentFolder), Grace: cfg.Files.Grace.Std(), MinFreeBytes: minFree(cfg), Damaged: hooks.Damaged, Logger: log,
	})
	if err != nil {
		return err
	}
	c.blobs = local
	dir := filepath.Join(cfg.Server.Data, objectFolder)
	if err := ondisk.MakeFolder(dir, 0o700); err != nil {
		return err
	}
	alone, err := folder.Open(folder.Options{Dir: dir, MinFreeBytes: minFree(cfg)})
	if err != nil {
		return err
	}
	c.objects = alone
	return c.openCode(cfg, trees.Options{Objects: alone, Alone: true, Damaged: hooks.Damaged, Logger: log})
}

// openCode opens the code, which is stored as objects.
func (c *Core) openCode(cfg config.Config, o trees.Options) (err error) {
	o.Dir = filepath.Join(cfg.Server.Data, copiesFolder, codeFolder)
	o.Grace, o.Gate = cfg.Files.Grace.Std(), c.writable
	c.code, err = trees.Open(o)
	return err
}

func (c *Core) openSharedFiles(cfg config.Config, shared objects.Store, hooks Hooks, log *slog.Logger) error {
	// Existing files in the data folder would become unreachable.
	for _, name := range []string{contentFolder, objectFolder} {
		if dir := filepath.Join(cfg.Server.Data, name); holdsFiles(dir) {
			return fmt.Errorf("files.store is shared, but files are in %s: make a backup without files.store, and restore it with files.store", dir)
		}
	}
	if err := c.claim(shared); err != nil {
		return fmt.Errorf("files.store: %w", err)
	}
	apart, err := contents.Open(contents.Options{
		Objects: shared, Dir: filepath.Join(cfg.Server.Data, copiesFolder, contentFolder), Grace: cfg.Files.Grace.Std(), MinFreeBytes: minFree(cfg), Damaged: hooks.Damaged, Logger: log,
	})
	if err != nil {
		return err
	}
	c.blobs = apart
	return c.openCode(cfg, trees.Options{Objects: shared, Damaged: hooks.Damaged, Logger: log})
}

// claimedFiles is the table of the store streams that have claimed the shared store.
const claimedFiles = "sharedfiles"

// claim verifies that the shared store belongs to the records. An empty store is accepted once. If
// the store is empty later, its folder is not mounted, or it is another store. Other nodes would
// not find new files in it.
func (c *Core) claim(shared objects.Store) error {
	ctx, stream := context.Background(), c.store.StreamID()
	_, err := c.store.Get(claimedFiles, []byte(stream))
	switch {
	case errors.Is(err, durable.ErrNotFound):
		err := objects.Claim(ctx, shared, stream)
		if errors.Is(err, objects.ErrOwned) {
			err = c.reclaim(ctx, shared, err)
		}
		if err != nil {
			return err
		}
		err = durable.Commit(c.store, []durable.Row{{Table: claimedFiles, Key: []byte(stream), Value: []byte{1}}})
		if errors.Is(err, durable.ErrReadOnly) {
			return nil // the next start records the claim
		}
		return err
	case err != nil:
		return err
	}
	err = objects.Claimed(ctx, shared, stream)
	if errors.Is(err, objects.ErrNotFound) {
		return fmt.Errorf("%s does not contain this server's files: is it mounted, and the same on all nodes? (If you moved the files, move all of them, including the object %q)", c.cfg.Files.Store, objects.OwnerKey)
	}
	return err
}

// reclaim takes over the shared store for a recovered store. The recovered store has a new stream,
// but still has the row of its earlier claim. Only an operator can distinguish a recovered store
// from a copy of it, so reclaiming needs the flag --recover-damaged, as the recovery did.
func (c *Core) reclaim(ctx context.Context, shared objects.Store, refusal error) error {
	owner, err := objects.Owner(ctx, shared)
	if err != nil {
		return err
	}
	_, err = c.store.Get(claimedFiles, []byte(owner))
	switch {
	case errors.Is(err, durable.ErrNotFound):
		return refusal
	case err != nil:
		return err
	case !c.recovering:
		return fmt.Errorf("%w; if the store here was recovered, start with --recover-damaged once more", refusal)
	}
	return objects.Reclaim(ctx, shared, c.store.StreamID())
}

// holdsFiles reports whether a folder or its subfolders contain a file.
func holdsFiles(dir string) bool {
	found := false
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			found = true
			return fs.SkipAll
		}
		return err // even if the folder does not exist
	})
	return found
}

// deleteDue deletes a codelab and its code when the codelab is due for deletion.
func (c *Core) deleteDue(id string) error {
	lab, err := c.codelabs.Get(id)
	if err != nil {
		return err
	}
	return lab.RemoveWithCode(c.code, c.codelabs.DeleteDue)
}

// keepCodeSwept sweeps the code now and at intervals until ctx ends. Several nodes can sweep
// concurrently.
func (c *Core) keepCodeSwept(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		_, err := c.code.Sweep(ctx, c.codeHeads)
		if err != nil && ctx.Err() == nil && !errors.Is(err, durable.ErrReadOnly) && !errors.Is(err, durable.ErrClosed) {
			c.log.Warn("removing unreferenced code failed; the next sweep tries again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// knownCode returns the recorded workspaces of all codelabs.
func (c *Core) knownCode() (map[string]code.Recorded, error) {
	known := map[string]code.Recorded{}
	err := catalog.Workspaces(c.store, func(_ string, w *codelabpb.Workspace) {
		r := code.Recorded{Kind: code.Plain, Heads: make([]code.Head, len(w.Heads))}
		if w.StructureType == codelab.BranchWorkspace {
			r.Kind = code.Git
		}
		for i, h := range w.Heads {
			r.Heads[i] = code.Head{Name: h.Name, Tree: h.Tree}
		}
		known[w.Id] = r
	})
	return known, err
}

// codeHeads returns the heads of the recorded workspaces.
func (c *Core) codeHeads() (map[string][]code.Head, error) {
	known, err := c.knownCode()
	heads := map[string][]code.Head{}
	for id, r := range known {
		heads[id] = r.Heads
	}
	return heads, err
}

// fileSections returns the backup sections that restore file contents and code.
func fileSections(to objects.Store) []backup.Section {
	content := backup.Section{Name: "blobs", Folder: contentFolder, Load: contents.Load}
	object := backup.Section{Name: "objects", Folder: objectFolder, Load: backup.LoadFolder}
	if to != nil {
		ctx := context.Background()
		vacant := func() error {
			vacant, err := objects.Vacant(ctx, to)
			if err == nil && !vacant {
				err = errors.New("files.store is not empty: restore into an empty one")
			}
			return err
		}
		content.Vacant, object.Vacant = vacant, vacant
		content.Place = func(dir string) error { return contents.Place(ctx, to, dir) }
		object.Place = func(dir string) error { return objects.Place(ctx, to, dir) }
	}
	return []backup.Section{content, object}
}
