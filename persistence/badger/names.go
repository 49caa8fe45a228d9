package badger

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// names ensures that the names of the store's files survive a power failure. Badger creates
// write-ahead logs and value log files without syncing the folder. Until a compaction syncs the
// folder, a synced write can therefore be in a file whose name is not on disk. For this reason,
// whenever the folder's listing has changed, the folder is synced before anything is acknowledged.
type names struct {
	dir  string
	sync func(dir string) error // replaced by tests; nil syncs the folder
	// folder stays open as long as the store, so that a process without free descriptors can still
	// sync it.
	folder *os.File

	mu   sync.Mutex // held during a sync, which serves all waiting callers
	seen time.Time  // guarded by mu; modification time of the synced listing
}

// clockTick is longer than the granularity of a folder's modification time. If two changes occur
// within this time, the second can leave the modification time unchanged.
const clockTick = 25 * time.Millisecond

// settle returns when every name in the folder is on disk. It reads the folder's modification time,
// which takes 1 us. It syncs only if that time has changed, or was too recent at the last sync.
// moved reports whether it has synced.
func (n *names) settle() (moved bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	info, err := os.Stat(n.dir)
	if err != nil {
		return false, fmt.Errorf("look at the store's folder: %w", err)
	}
	changed := info.ModTime()
	if changed.Equal(n.seen) {
		return false, nil
	}
	settled := time.Since(changed) > clockTick
	sync := func(string) error { return n.folder.Sync() }
	if n.sync != nil {
		sync = n.sync
	}
	if err := sync(n.dir); err != nil {
		return true, fmt.Errorf("sync the store's folder: %w", err)
	}
	if settled {
		n.seen = changed
	}
	return true, nil
}

func (n *names) close() error {
	if n.folder == nil {
		return nil
	}
	return n.folder.Close()
}
