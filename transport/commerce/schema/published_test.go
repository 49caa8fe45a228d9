package schema_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"atelier/transport/commerce/lint"
	"atelier/transport/commerce/schema"
)

// promised are the documents of every published version. For a new version, add a list. Documents
// are never removed, because clients refer to them.
var promised = map[string][]string{
	"2026-01-23": {
		"handlers/tokenization.json",
		"meta/capability.json", "meta/entity.json", "meta/payment_handler.json", "meta/profile.json", "meta/service.json", "meta/ucp.json",
		"shopping/checkout.json", "shopping/discount.json", "shopping/fulfillment.json", "shopping/order.json", "shopping/service.json",
		"shopping/embedded.openrpc.json", "shopping/mcp.openrpc.json", "shopping/rest.openapi.json",
		"types/binding.json", "types/buyer.json", "types/card.json", "types/card_instrument.json", "types/item.json", "types/line_item.json",
		"types/link.json", "types/links.json", "types/network_token.json", "types/pan.json", "types/payment_credential.json",
		"types/payment_identity.json", "types/postal_address.json", "types/refusal.json", "types/token_credential.json", "types/total.json", "types/totals.json",
	},
}

func TestEveryVersionStaysResolvable(t *testing.T) {
	set, err := schema.Published("https://shop.example/schemas")
	if err != nil {
		t.Fatal(err)
	}
	if len(promised) != len(schema.Releases) {
		t.Errorf("the versions are %v, but the test lists the documents of %d versions", schema.Releases, len(promised))
	}
	for _, version := range schema.Releases {
		for _, path := range promised[version] {
			f, ok := set.ByID("https://shop.example/schemas/" + version + "/" + path)
			if !ok {
				t.Errorf("%s/%s is missing", version, path)
				continue
			}
			var doc map[string]any
			if err := json.Unmarshal(f.Data, &doc); err != nil {
				t.Errorf("%s is not valid JSON: %v", f.Path, err)
			}
			if id, ok := doc["$id"]; ok && id != f.ID {
				t.Errorf("%s has $id %v, want %s", f.Path, id, f.ID)
			}
			if strings.Contains(string(f.Data), "atelier.example/schemas") {
				t.Errorf("%s contains the default base", f.Path)
			}
		}
	}
}

// The published schemas and their examples have no findings of any severity.
func TestPublishedSchemasKeepTheConventions(t *testing.T) {
	report, err := lint.Files(t.Context(), []string{"published"}, lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Errorf("%s %s: %s [%s]", f.File, f.Pointer, f.Message, f.Code)
	}
	if want := len(promised["2026-01-23"]); report.Files != want {
		t.Errorf("%d files were linted, want %d", report.Files, want)
	}
}

// Each published document contains examples, except services and descriptions in OpenAPI and
// OpenRPC.
func TestEverySchemaHasAnExample(t *testing.T) {
	set, err := schema.Published("")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range set.All() {
		if strings.Contains(f.Path, ".open") || strings.Contains(f.Path, "service.json") {
			continue
		}
		if !strings.Contains(string(f.Data), `"examples"`) {
			t.Errorf("%s has no example", f.Path)
		}
	}
}

// The entities are the published documents with a name.
func TestEntitiesAreFoundByName(t *testing.T) {
	set, err := schema.Published("")
	if err != nil {
		t.Fatal(err)
	}
	entities := 0
	for _, f := range set.All() {
		var stated struct{ Name, Version string }
		if err := json.Unmarshal(f.Data, &stated); err != nil {
			t.Fatal(err)
		}
		if stated.Name == "" {
			continue
		}
		entities++
		if found, ok := set.Entity(stated.Name, stated.Version); !ok || found != f || !schema.IsEntity(stated.Name) {
			t.Errorf("%s %s is not found", stated.Name, stated.Version)
		}
	}
	if entities != 6 {
		t.Errorf("%d entities are published, want 6", entities)
	}
	if _, ok := set.Entity("dev.commerce.shopping.checkout", "2020-01-01"); ok {
		t.Error("an entity is found in a version that never existed")
	}
}

// Each category has a meta schema with exactly its variants.
func TestEachCategoryHasItsMetaSchema(t *testing.T) {
	set, err := schema.Published("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range schema.Categories {
		f, ok := set.Lookup(schema.Release + "/meta/" + c.Name + ".json")
		if !ok {
			t.Errorf("%s has no meta schema", c.Name)
			continue
		}
		var meta struct {
			Defs map[string]any `json:"$defs"`
		}
		if err := json.Unmarshal(f.Data, &meta); err != nil {
			t.Fatal(err)
		}
		for name := range meta.Defs {
			if strings.HasSuffix(name, "_schema") && !slices.Contains(c.Variants, name) {
				t.Errorf("the meta schema of a %s has the additional %s", c.Name, name)
			}
		}
		for _, v := range c.Variants {
			if meta.Defs[v] == nil {
				t.Errorf("the meta schema of a %s lacks %s", c.Name, v)
			}
		}
	}
}

func TestInvalidBasesAreRefused(t *testing.T) {
	for _, base := range []string{"schemas", "https://x.example/schemas/", "ftp://x.example", "https://x.example/a?b", "https://u@x.example/a", "https://"} {
		if _, err := schema.Published(base); err == nil {
			t.Errorf("the base %q is accepted", base)
		}
	}
}

func TestFilesOnDiskAreEmbedded(t *testing.T) {
	set, _ := schema.Published("")
	for _, f := range set.All() {
		data, err := os.ReadFile("published/" + f.Path)
		if err != nil || string(data) != string(f.Data) {
			t.Errorf("%s differs from its file: %v", f.Path, err)
		}
	}
}
