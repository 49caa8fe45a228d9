package files

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"atelier/actors/durable"
)

// If several nodes use the register, a claim on an upload is recorded in a row. The row contains
// the number of claims, and a random number that is new in each version of the row. An upload is
// removed only if the row is the same as before the upload's references were read. A claim is
// therefore noticed even if it has ended meanwhile and left a reference.
const claimTable = "claims"

// claimFor is the lifetime of the row after its last change. It ends the claims of a node that has
// died.
const claimFor = 10 * time.Minute

// Share lets other nodes use the register, too. It must be called before the first use.
func (r *Register) Share() { r.shared = true }

// claimed returns the row with an upload's claims, or nil if there are none, and their number.
func (r *Register) claimed(name string) (row []byte, count uint32, err error) {
	row, err = r.journal.Get(claimTable, []byte(name))
	switch {
	case errors.Is(err, durable.ErrNotFound):
		return nil, 0, nil
	case err != nil:
		return nil, 0, fmt.Errorf("read claims: %w", err)
	case len(row) != 12:
		return nil, 0, fmt.Errorf("%w: claims of %s", durable.ErrCorrupt, name)
	}
	return row, binary.BigEndian.Uint32(row), nil
}

// asClaimed returns the precondition that the claims of an upload have not changed.
func asClaimed(row []byte) durable.Precondition {
	if row == nil {
		return durable.Absent()
	}
	return durable.Unchanged(row)
}

// addClaims adds by to the recorded number of claims. If by is positive and the upload does not
// exist, it fails with durable.ErrNotFound.
func (r *Register) addClaims(name string, by int) error {
	for {
		row, count, err := r.claimed(name)
		if err != nil {
			return err
		}
		value := make([]byte, 12)
		binary.BigEndian.PutUint32(value, uint32(max(int(count)+by, 0)))
		_, _ = rand.Read(value[4:]) // never fails
		rows := []durable.Row{{Table: claimTable, Key: []byte(name), Value: value, TTL: claimFor, Precondition: asClaimed(row)}}
		if by > 0 {
			// The upload must still exist.
			upload, err := r.journal.Get(uploadTable, []byte(name))
			if err != nil {
				return err
			}
			rows = append(rows, durable.Row{Table: uploadTable, Key: []byte(name), Precondition: durable.Unchanged(upload), CheckOnly: true})
		}
		if err = durable.Commit(r.journal, rows); !errors.Is(err, durable.ErrConflict) {
			return err
		}
	}
}
