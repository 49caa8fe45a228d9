package badger

import (
	"errors"
	"fmt"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
)

// commitEntries writes entries in one transaction. Before that, it writes the parts of large
// values. An entry without a value is a deletion, because every stored value has at least its seal.
// If the preconditions of a guarded append fail, its entries are omitted, and its item gets the
// error.
func (s *Store) commitEntries(entries []badgerdb.Entry, appends []guarded) error {
	if hook := s.hooks.beforeCommit; hook != nil {
		if err := hook(len(entries)); err != nil {
			return fmt.Errorf("badger: commit: %w", err)
		}
	}
	release, err := s.moveLarge(entries)
	defer release()
	if err != nil {
		return err
	}
	return s.commitTxn(entries, appends)
}

// commitTxn writes entries that have no large values.
func (s *Store) commitTxn(entries []badgerdb.Entry, appends []guarded) error {
	_, err := s.commitVersion(entries, appends)
	return err
}

// commitVersion does the same as commitTxn, and returns the lowest possible version of the
// transaction, or 0 if it had nothing to write.
func (s *Store) commitVersion(entries []badgerdb.Entry, appends []guarded) (version uint64, err error) {
	if err := s.broken(); err != nil {
		return 0, err
	}
	txn := s.db.NewTransaction(true)
	defer txn.Discard()
	writes, err := s.fill(txn, entries, appends)
	if err != nil {
		return 0, commitError(err)
	}
	if writes == 0 {
		return 0, nil
	}
	if err := txn.Commit(); err != nil {
		if !harmless(err) {
			s.breakDown(faultWrite, err)
			return 0, errors.Join(s.broken(), commitError(err))
		}
		return 0, commitError(err)
	}
	changed, err := s.names.settle()
	if err != nil {
		s.breakDown(faultSync, err)
	}
	// Badger may have failed meanwhile in a way that it only logs.
	if err := s.broken(); err != nil {
		return 0, err
	}
	s.reads.committed()
	// The transaction has the version ReadTs+1 or, if others were committed in between, a later
	// one. Each successful transaction takes one version, so s.commits is the store's version when
	// no transaction is in progress. If the mark cannot be written, the data on disk is not
	// affected, but the store stops writing.
	version = txn.ReadTs() + 1
	if err := s.mark.reached(max(version, s.commits.Add(1))); err != nil {
		s.breakDown(faultWrite, err)
	}
	if changed {
		if err := s.noteLogs(); err != nil {
			s.breakDown(faultWrite, err)
		}
	}
	return version, nil
}

// fill adds the entries to the transaction and counts them. It omits the entries of appends whose
// preconditions fail.
func (s *Store) fill(txn *badgerdb.Txn, entries []badgerdb.Entry, appends []guarded) (writes int, err error) {
	for i := 0; ; i++ {
		for len(appends) > 0 && appends[0].start == i {
			a := appends[0]
			appends = appends[1:]
			a.it.Err = s.health.read(func() error { return checkPreconditions(txn, a.it.Rows) })
			if a.it.Err != nil {
				i = a.end
			}
		}
		if i == len(entries) {
			return writes, nil
		}
		e := &entries[i]
		if e.Value == nil {
			err = txn.Delete(e.Key)
		} else {
			err = txn.SetEntry(e)
		}
		if err != nil {
			return writes, err
		}
		writes++
	}
}

func commitError(err error) error {
	if errors.Is(err, badgerdb.ErrTxnTooBig) {
		return fmt.Errorf("%w: %w", durable.ErrTooLarge, err)
	}
	return fmt.Errorf("badger: commit: %w", err)
}

// harmless reports whether a failed commit certainly left nothing on disk.
func harmless(err error) bool {
	return errors.Is(err, badgerdb.ErrTxnTooBig) || errors.Is(err, badgerdb.ErrBlockedWrites)
}

// view runs fn in a read-only transaction.
func (s *Store) view(fn func(txn *badgerdb.Txn) error) error {
	return s.health.read(func() error { return s.db.View(fn) })
}
