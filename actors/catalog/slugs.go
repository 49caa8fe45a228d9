package catalog

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"atelier/actors/durable"
)

// slugTable has the codelab of each slug, which is the id in the file that the codelab was
// made from. A codelab writes its row in the commit in which it gets the slug. Before that
// the slug is claimed, so that of two files with one id that are imported at once only one
// gets it.
const slugTable = "slugs"

// slugClaim is the lifetime of a claim without a codelab.
const slugClaim = time.Minute

// SlugRow records the slug of a codelab.
func SlugRow(slug, codelab string) durable.Row {
	return durable.Row{Table: slugTable, Key: []byte(slug), Value: []byte(codelab)}
}

// NoSlugRow records that no codelab has the slug any more.
func NoSlugRow(slug string) durable.Row {
	return durable.Row{Table: slugTable, Key: []byte(slug), Delete: true}
}

// BySlug returns the id of the codelab that has a slug, "" for none. claimed means that an
// import has claimed it and has not finished.
func BySlug(journal durable.Journal, slug string) (codelab string, claimed bool, err error) {
	value, err := journal.Get(slugTable, []byte(slug))
	if errors.Is(err, durable.ErrNotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read who has a slug: %w", err)
	}
	codelab, _, claimed = strings.Cut(string(value), claimMark)
	return codelab, claimed, nil
}

// claimMark separates the codelab of a claimed slug from the name of the claim.
const claimMark = "\x00"

// ClaimSlug reserves a slug for a codelab before the commit that assigns it. It fails with
// a Conflict if another codelab has it. If that commit fails, the caller calls letGo, which
// does not affect later claims or commits of others.
func ClaimSlug(journal durable.Journal, slug, codelab string) (letGo func(), err error) {
	claim := SlugRow(slug, codelab+claimMark+rand.Text())
	claim.TTL = slugClaim
	for {
		value, err := journal.Get(slugTable, claim.Key)
		has, _, claimed := strings.Cut(string(value), claimMark)
		switch {
		case errors.Is(err, durable.ErrNotFound):
			claim.Precondition = durable.Absent()
		case err != nil:
			return nil, fmt.Errorf("read who has a slug: %w", err)
		case has != codelab:
			return nil, durable.Reject(durable.Conflict, "another codelab has the id %q", slug)
		case !claimed:
			return func() {}, nil
		default: // of another command to the same codelab, which can still fail
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
		_ = durable.Commit(journal, []durable.Row{row}) // else it ends by itself
	}, nil
}
