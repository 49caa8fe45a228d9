package catalog

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"atelier/actors/durable"
)

// slugTable maps each slug to its codelab. A slug is the id in the file from which a codelab was
// created. A codelab writes its row in the commit that assigns the slug. Before the commit the slug
// is claimed, so that only one of two concurrently imported files with the same id gets the slug.
const slugTable = "slugs"

// slugClaim is the lifetime of a claim that no commit follows.
const slugClaim = time.Minute

// SlugRow returns the row that records the slug of a codelab.
func SlugRow(slug, codelab string) durable.Row {
	return durable.Row{Table: slugTable, Key: []byte(slug), Value: []byte(codelab)}
}

// NoSlugRow returns the row that removes a slug.
func NoSlugRow(slug string) durable.Row {
	return durable.Row{Table: slugTable, Key: []byte(slug), Delete: true}
}

// BySlug returns the id of the codelab with a slug, or "". claimed means that the slug is only
// claimed: its assignment is in progress or has failed.
func BySlug(journal durable.Journal, slug string) (codelab string, claimed bool, err error) {
	value, err := journal.Get(slugTable, []byte(slug))
	if errors.Is(err, durable.ErrNotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read the codelab of a slug: %w", err)
	}
	codelab, _, claimed = strings.Cut(string(value), claimMark)
	return codelab, claimed, nil
}

// claimMark separates the codelab of a claimed slug from the name of the claim.
const claimMark = "\x00"

// ClaimSlug reserves a slug for a codelab before the commit that assigns it. It fails with a
// Conflict if another codelab has or claims the slug. If the assignment is rejected, the caller
// calls releaseSlug, which affects neither later claims nor a commit that assigned the slug.
func ClaimSlug(journal durable.Journal, slug, codelab string) (releaseSlug func(), err error) {
	claim := SlugRow(slug, codelab+claimMark+rand.Text())
	claim.TTL = slugClaim
	for {
		value, err := journal.Get(slugTable, claim.Key)
		has, _, claimed := strings.Cut(string(value), claimMark)
		switch {
		case errors.Is(err, durable.ErrNotFound):
			claim.Precondition = durable.Absent()
		case err != nil:
			return nil, fmt.Errorf("read the codelab of a slug: %w", err)
		case has != codelab:
			return nil, durable.Reject(durable.Conflict, "another codelab has the id %q", slug)
		case !claimed:
			return func() {}, nil
		default: // another command to the same codelab, which can still fail
			claim.Precondition = durable.Unchanged(value)
		}
		if err := durable.Commit(journal, []durable.Row{claim}); err == nil {
			break
		} else if !errors.Is(err, durable.ErrConflict) {
			return nil, err
		}
	}
	return func() {
		row := NoSlugRow(slug)
		row.Precondition = durable.Unchanged(claim.Value)
		_ = durable.Commit(journal, []durable.Row{row}) // if this fails, the claim expires
	}, nil
}
