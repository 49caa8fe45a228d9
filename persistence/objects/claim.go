package objects

import (
	"context"
	"errors"
	"fmt"
)

// OwnerKey is the key of the object that contains the id of the store whose records refer to the
// objects.
const OwnerKey = "owner"

// ErrOwned means that the records of another store refer to these objects. A sweep based on this
// store's records would remove all of them.
var ErrOwned = errors.New("the records of another store refer to these objects")

// Claim verifies that the objects belong to the records of owner. If the objects have no owner yet,
// Claim assigns them to this owner.
func Claim(ctx context.Context, s Store, owner string) error {
	err := Claimed(ctx, s, owner)
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	if err := Reclaim(ctx, s, owner); err != nil {
		return err
	}
	// Read the owner again, because another node may have claimed the objects at the same time.
	return Claimed(ctx, s, owner)
}

// Claimed verifies that the objects belong to the records of owner. It returns ErrNotFound for an
// unclaimed store, and ErrOwned for a store with another owner.
func Claimed(ctx context.Context, s Store, owner string) error {
	is, err := Owner(ctx, s)
	if err == nil && is != owner {
		err = ErrOwned
	}
	return err
}

// Owner returns the id of the store whose records refer to the objects. It returns ErrNotFound for
// an unclaimed store.
func Owner(ctx context.Context, s Store) (string, error) {
	is, err := GetBytes(ctx, s, OwnerKey, 0, -1, 1<<10)
	if err != nil {
		return "", fmt.Errorf("read the owner of the objects: %w", err)
	}
	return string(is), nil
}

// Reclaim assigns the objects to a new owner. The caller must ensure that the new owner's records
// continue those of the earlier owner.
func Reclaim(ctx context.Context, s Store, owner string) error {
	if err := PutBytes(ctx, s, OwnerKey, []byte(owner)); err != nil {
		return fmt.Errorf("claim the store: %w", err)
	}
	return nil
}
