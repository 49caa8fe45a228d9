package catalog_test

import (
	"testing"

	"atelier/actors/catalog"
	"atelier/actors/durable"
	"atelier/persistence/memory"
)

// has verifies which codelab has the slug "tour", and whether the slug is only claimed.
func has(t *testing.T, j durable.Journal, codelab string, claimed bool) {
	t.Helper()
	if id, c, err := catalog.BySlug(j, "tour"); id != codelab || c != claimed || err != nil {
		t.Errorf("the slug belongs to %q, claimed %v: %v", id, c, err)
	}
}

func TestASlugIsClaimedOnce(t *testing.T) {
	j := memory.New()
	defer j.Close()
	claim := func(codelab string) (releaseSlug func()) {
		t.Helper()
		releaseSlug, err := catalog.ClaimSlug(j, "tour", codelab)
		if err != nil {
			t.Fatal(err)
		}
		return releaseSlug
	}
	refused := func() {
		t.Helper()
		if _, err := catalog.ClaimSlug(j, "tour", "another"); !durable.Refused(err) {
			t.Error("claiming the slug for another codelab returned", err)
		}
	}

	releaseSlug := claim("one")
	has(t, j, "one", true)
	refused()
	releaseSlug()
	has(t, j, "", false)

	// If the first of two commands to one codelab fails, the claim of the second stays.
	first := claim("one")
	second := claim("one")
	first()
	has(t, j, "one", true)
	refused()
	// A failed command does not remove the slug of a completed command either.
	if err := durable.Commit(j, []durable.Row{catalog.SlugRow("tour", "one")}); err != nil {
		t.Fatal(err)
	}
	second()
	has(t, j, "one", false)
	refused()
	claim("one")() // the codelab already has the slug
	has(t, j, "one", false)
}
