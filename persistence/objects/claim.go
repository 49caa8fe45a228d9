package objects

import (
	"context"
	"errors"
	"fmt"
)

// OwnerKey holds whose records refer to the objects.
const OwnerKey = "owner"

// ErrOwned says that the records of others refer to what a store holds: to
// sweep it by one's own would remove all of it.
var ErrOwned = errors.New("it holds what the records of another store refer to")

// Claim makes sure that the objects are those which the records refer to that
// are named, and that of a store that holds nothing yet.
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

// Claimed makes sure that the objects are those of the records that are named. It
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

// Reclaim passes the objects on to the records that their owner's have become. The
// caller vouches for that.
func Reclaim(ctx context.Context, s Store, owner string) error {
	if err := PutBytes(ctx, s, OwnerKey, []byte(owner)); err != nil {
		return fmt.Errorf("claim the store: %w", err)
	}
	return nil
}
