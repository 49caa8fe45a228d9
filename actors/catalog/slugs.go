package catalog

import (
	"errors"
	"fmt"
	"time"

	"atelier/actors/durable"
)

// slugTable says which codelab has a slug, the id: of the file that it was made of. A
// codelab writes its row in the commit in which it gets the slug; before that somebody
// claims it, so that of two files with one id that are imported at once only one gets
// it.
const slugTable = "slugs"

// slugClaim is how long a claim counts that nothing was made of.
const slugClaim = time.Minute

// SlugRow says that a codelab has a slug.
func SlugRow(slug, codelab string) durable.Row {
	return durable.Row{Table: slugTable, Key: []byte(slug), Value: []byte(codelab)}
}

// NoSlugRow says that no codelab has it any more.
func NoSlugRow(slug string) durable.Row {
	return durable.Row{Table: slugTable, Key: []byte(slug), Delete: true}
}

// BySlug returns the id of the codelab that has a slug, or will in a moment; "" for
// none.
func BySlug(journal durable.Journal, slug string) (codelab string, err error) {
	value, err := journal.Get(slugTable, []byte(slug))
	if errors.Is(err, durable.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read who has a slug: %w", err)
	}
	return string(value), nil
}

// ClaimSlug takes a slug for a codelab before the commit that gives it to it. It fails
// with a Conflict when another codelab has it.
func ClaimSlug(journal durable.Journal, slug, codelab string) error {
	for {
		has, err := BySlug(journal, slug)
		if err != nil || has == codelab {
			return err
		}
		if has != "" {
			return durable.Reject(durable.Conflict, "another codelab has the id %q", slug)
		}
		row := SlugRow(slug, codelab)
		row.TTL, row.Guard = slugClaim, durable.Absent()
		if err := durable.Commit(journal, []durable.Row{row}); !errors.Is(err, durable.ErrConflict) {
			return err
		}
	}
}
