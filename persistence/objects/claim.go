package objects

import (
	"context"
	"errors"
	"fmt"
)

// OwnerKey holds whose records refer to the objects.
const OwnerKey = "owner"

// ErrOwned means that the records of another store refer to these objects. A sweep by one's
// own records would remove all of them.
var ErrOwned = errors.New("it holds what the records of another store refer to")

// Claim verifies that the objects belong to the records of owner. A store without an owner
// gets this one.
func Claim(ctx context.Context, s Store, owner string) error {
	err := Claimed(ctx, s, owner)
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	if err := Reclaim(ctx, s, owner); err != nil {
		return err
	}
	// Another may have come first, or last.
	return Claimed(ctx, s, owner)
}

// Claimed makes sure that the objects belong to the named records. It
// gives ErrNotFound for a store that nobody has claimed.
func Claimed(ctx context.Context, s Store, owner string) error {
	is, err := Owner(ctx, s)
	if err == nil && is != owner {
		err = ErrOwned
	}
	return err
}

// Owner returns whose records refer to the objects. It gives ErrNotFound for a store
// that nobody has claimed.
func Owner(ctx context.Context, s Store) (string, error) {
	is, err := GetBytes(ctx, s, OwnerKey, 0, -1, 1<<10)
	if err != nil {
		return "", fmt.Errorf("look whose the store is: %w", err)
	}
	return string(is), nil
}

// Reclaim gives the objects to a new owner, whose records are a continuation of the earlier
// owner's. The caller guarantees that.
func Reclaim(ctx context.Context, s Store, owner string) error {
	if err := PutBytes(ctx, s, OwnerKey, []byte(owner)); err != nil {
		return fmt.Errorf("claim the store: %w", err)
	}
	return nil
}
