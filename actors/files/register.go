package files

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"atelier/actors/catalog"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/internal/held"
)

// Register is the committed register of files. Safe for concurrent use.
type Register struct {
	journal durable.Journal
	blobs   Blobs
	grace   time.Duration
	now     func() time.Time
	shared  bool // other nodes use it, see claims.go

	mu held.Lock // the holder can wait for the store
	// Guarded by mu. claims counts the claims of uploads on this node. leaving contains the uploads
	// that are being removed. A claimed upload is not removed. Unless other nodes use the register,
	// an upload that is being removed cannot be claimed.
	claims  map[string]int
	leaving map[string]bool
}

// NewRegister returns the register stored in journal, with objects in blobs. Sweep keeps an
// unreferenced upload until grace has passed since its creation.
func NewRegister(journal durable.Journal, blobs Blobs, grace time.Duration, now func() time.Time) *Register {
	return &Register{journal: journal, blobs: blobs, grace: grace, now: now, claims: map[string]int{}, leaving: map[string]bool{}}
}

// Blobs returns the store of the objects.
func (r *Register) Blobs() Blobs { return r.blobs }

// Add registers an upload whose object is stored, together with the rows of the records about it.
func (r *Register) Add(u *pb.Upload, rows ...durable.Row) error {
	if err := durable.Commit(r.journal, append(UploadRows(u), rows...)); err != nil {
		return fmt.Errorf("register upload: %w", err)
	}
	return nil
}

// Get returns an upload, or ErrMissing.
func (r *Register) Get(name string) (*pb.Upload, error) {
	b, err := r.journal.Get(uploadTable, []byte(name))
	if errors.Is(err, durable.ErrNotFound) {
		return nil, fmt.Errorf("%w: upload %s", ErrMissing, name)
	}
	if err != nil {
		return nil, fmt.Errorf("read upload: %w", err)
	}
	u := &pb.Upload{}
	if err := u.Decode(b); err != nil {
		return nil, fmt.Errorf("%w: upload %s: %w", durable.ErrCorrupt, name, err)
	}
	return u, nil
}

// Open opens an upload for reading.
func (r *Register) Open(u *pb.Upload) (Content, int64, error) {
	sum, _ := SumOf(u.Sum)
	return r.blobs.Open(sum)
}

// Claim prevents the removal of uploads until release is called. The caller must record its
// references to them before that. Claim fails with ErrMissing if one of the uploads does not
// exist.
func (r *Register) Claim(names ...string) (release func(), err error) {
	return r.claim(names, true)
}

// ClaimKnown is like Claim, but ignores the names of uploads that do not exist.
func (r *Register) ClaimKnown(names ...string) (release func(), err error) {
	return r.claim(names, false)
}

func (r *Register) claim(names []string, all bool) (release func(), err error) {
	claimed, err := r.claimHere(names, all)
	if err != nil {
		return nil, err
	}
	recorded := 0
	release = sync.OnceFunc(func() {
		for _, name := range claimed[:recorded] {
			_ = r.addClaims(name, -1) // if this fails, the claim expires
		}
		r.release(claimed)
	})
	for ; r.shared && recorded < len(claimed); recorded++ {
		switch err := r.addClaims(claimed[recorded], +1); {
		case errors.Is(err, durable.ErrNotFound) && all:
			release()
			return nil, fmt.Errorf("%w: upload %s", ErrMissing, claimed[recorded])
		case err != nil && !errors.Is(err, durable.ErrNotFound):
			release()
			return nil, fmt.Errorf("claim upload: %w", err)
		}
	}
	return release, nil
}

// claimHere claims uploads on this node, and returns those that exist. If all is set and one does
// not exist, it claims none.
func (r *Register) claimHere(names []string, all bool) (claimed []string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		// mu is held, so that the removal cannot begin between this check and the claim.
		_, err := r.journal.Get(uploadTable, []byte(name))
		if r.leaving[name] && !r.shared { // otherwise its row decides, see addClaims
			err = durable.ErrNotFound
		}
		switch {
		case errors.Is(err, durable.ErrNotFound) && all:
			return nil, fmt.Errorf("%w: upload %s", ErrMissing, name)
		case err == nil:
			claimed = append(claimed, name)
		case !errors.Is(err, durable.ErrNotFound):
			return nil, fmt.Errorf("claim upload: %w", err)
		}
	}
	for _, name := range claimed {
		r.claims[name]++
	}
	return claimed, nil
}

func (r *Register) release(claimed []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range claimed {
		if r.claims[name]--; r.claims[name] == 0 {
			delete(r.claims, name)
		}
	}
}

// Drop removes each named upload that has neither references nor claims, and the upload's
// object if nothing else refers to the object. It ignores unknown names.
func (r *Register) Drop(names ...string) error {
	var errs []error
	for _, name := range names {
		if err := r.drop(name); err != nil && !errors.Is(err, ErrMissing) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (r *Register) drop(name string) error {
	u, err := r.Get(name)
	if err != nil {
		return err
	}
	var claims []byte
	if r.shared {
		var count uint32
		if claims, count, err = r.claimed(name); err != nil || count > 0 {
			return err
		}
	}
	leaves, err := r.leave(name)
	if err != nil || !leaves {
		return err
	}
	rows := removalRows(u)
	if r.shared {
		rows = append(rows, durable.Row{Table: claimTable, Key: []byte(name), Precondition: asClaimed(claims), CheckOnly: true})
	}
	err = durable.Commit(r.journal, durable.MakeUrgent(rows))
	r.mu.Lock()
	delete(r.leaving, name)
	r.mu.Unlock()
	if errors.Is(err, durable.ErrConflict) {
		return nil // it was claimed meanwhile
	}
	if err != nil {
		return fmt.Errorf("remove upload: %w", err)
	}
	return r.Discard(u.Sum)
}

// leave marks an upload as leaving, unless it is claimed, in use, or already leaving. It reports
// whether it did.
func (r *Register) leave(name string) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.claims[name] > 0 || r.leaving[name] {
		return false, nil
	}
	used, err := r.used(name)
	if err != nil || used {
		return false, err
	}
	r.leaving[name] = true
	return true, nil
}

// Discard removes unreferenced objects.
func (r *Register) Discard(sums ...[]byte) error {
	list := make([]Sum, 0, len(sums))
	for _, b := range sums {
		if sum, ok := SumOf(b); ok {
			list = append(list, sum)
		}
	}
	if err := r.blobs.Discard(r.InUse, list...); err != nil {
		return fmt.Errorf("discard contents: %w", err)
	}
	return nil
}

// used reports whether an existing codelab refers to an upload.
func (r *Register) used(name string) (used bool, err error) {
	prefix := append([]byte(name), 0)
	var failed error
	err = r.journal.Scan(durable.Scan{Table: uploadUseTable, Prefix: prefix}, func(k, _ []byte) bool {
		codelab, _, _ := bytes.Cut(k[len(prefix):], []byte{0})
		used, failed = r.listed(string(codelab))
		return !used && failed == nil
	})
	return used, errors.Join(err, failed)
}

// InUse reports whether an upload, or a submission of an existing codelab, refers to a stored
// object.
func (r *Register) InUse(sum Sum) (used bool, err error) {
	prefix := append([]byte(sum.String()), 0)
	var failed error
	err = r.journal.Scan(durable.Scan{Table: blobUseTable, Prefix: prefix}, func(k, _ []byte) bool {
		owner := strings.Split(string(k[len(prefix):]), "\x00")
		if used = true; owner[0] == "s" && len(owner) > 1 {
			used, failed = r.listed(owner[1])
		}
		return !used && failed == nil
	})
	return used, errors.Join(err, failed)
}

// Missing calls fn with each object that is in use but missing.
func (r *Register) Missing(fn func(Sum)) error {
	var sums []Sum
	err := r.journal.Scan(durable.Scan{Table: blobUseTable}, func(k, _ []byte) bool {
		name, _, _ := bytes.Cut(k, []byte{0})
		var b Sum
		if n, err := hex.Decode(b[:], name[:min(len(name), hex.EncodedLen(len(b)))]); err == nil && n == len(b) && (len(sums) == 0 || sums[len(sums)-1] != b) {
			sums = append(sums, b)
		}
		return true
	})
	if err != nil {
		return fmt.Errorf("list contents in use: %w", err)
	}
	for _, sum := range sums {
		f, _, err := r.blobs.Open(sum)
		if err == nil {
			if err = f.Close(); err != nil {
				return err
			}
			continue
		}
		if !errors.Is(err, ErrMissing) {
			continue // a scrub reports damaged objects
		}
		used, err := r.InUse(sum)
		if err != nil {
			return err
		}
		if used {
			fn(sum)
		}
	}
	return nil
}

// listed reports whether a codelab exists. It reads the store, because the list in memory lags
// slightly behind commits.
func (r *Register) listed(codelab string) (bool, error) {
	_, err := r.journal.Get(catalog.ListTable, []byte(codelab))
	if errors.Is(err, durable.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
