package badger

import (
	"errors"
	"fmt"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
)

// commitEntries writes entries in one transaction. An entry without a value
// is a deletion: everything that is stored has at least its seal. The entries
// of a guarded append whose guards do not hold are left out, and its item
// told.
func (s *Store) commitEntries(entries []badgerdb.Entry, appends []guarded) error {
	if err := s.broken(); err != nil {
		return err
	}
	if hook := s.hooks.beforeCommit; hook != nil {
		if err := hook(len(entries)); err != nil {
			return fmt.Errorf("badger: commit: %w", err)
		}
	}
	txn := s.db.NewTransaction(true)
	defer txn.Discard()
	for i := 0; ; i++ {
		for len(appends) > 0 && appends[0].start == i {
			a := appends[0]
			appends = appends[1:]
			if a.it.err = checkGuards(txn, a.it.rows); a.it.err != nil {
				i = a.end
			}
		}
		if i == len(entries) {
			break
		}
		e := &entries[i]
		var err error
		if e.Value == nil {
			err = txn.Delete(e.Key)
		} else {
			err = txn.SetEntry(e)
		}
		if err != nil {
			return commitError(err)
		}
	}
	err := txn.Commit()
	if err == nil && s.bridge.valueLogSyncFailed.Load() {
		err = errors.New("sync of the value log failed")
	}
	if err == nil {
		err = s.names.settle()
	}
	if err == nil {
		s.reads.committed()
		return nil
	}
	err = commitError(err)
	if !harmless(err) {
		s.breakDown(err)
	}
	return err
}

func commitError(err error) error {
	if errors.Is(err, badgerdb.ErrTxnTooBig) {
		return fmt.Errorf("%w: %w", durable.ErrTooLarge, err)
	}
	return fmt.Errorf("badger: commit: %w", err)
}

// harmless says that a failed commit certainly left nothing behind.
func harmless(err error) bool {
	return errors.Is(err, badgerdb.ErrTxnTooBig) || errors.Is(err, badgerdb.ErrBlockedWrites)
}

// breakDown ends writing for good. After a failed write or sync nobody knows
// what of the transaction is on disk: Badger may already show it to readers,
// the kernel may have dropped the dirty pages, and a later sync that succeeds
// proves nothing about them. Only a new start, which reads what really is
// there, gives a state to build on.
func (s *Store) breakDown(cause error) {
	err := fmt.Errorf("%w: the disk failed, restart to recover: %w", durable.ErrReadOnly, cause)
	if s.brokenBy.CompareAndSwap(nil, &err) {
		s.opts.Logger.Error("journal stopped writing until restart", "error", cause)
	}
}

// broken is the reason why the store ended writing, or nil.
func (s *Store) broken() error {
	if err := s.brokenBy.Load(); err != nil {
		return *err
	}
	return nil
}
