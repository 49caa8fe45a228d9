package handler

import (
	"encoding/json"
	"slices"
	"testing"

	"atelier/actors/token/credential"
)

// The document describes each credential type that the handler inspects, in the order of
// credential.Types.
func TestTheDocumentDescribesEveryCredential(t *testing.T) {
	b := &base{Handler: &Handler{}}
	b.bases = [2]*base{b, b}
	var types []string
	for _, c := range b.specify("https://x.example").Credentials {
		types = append(types, c.Type)
	}
	if !slices.Equal(types, credential.Types) {
		t.Errorf("the document describes the types %v, want %v", types, credential.Types)
	}
}

// The table of errors contains the code of every refusal.
func TestEveryCodeIsExplained(t *testing.T) {
	for _, r := range refusals {
		if !slices.Contains(codes(), any(r.code)) {
			t.Errorf("the code %s is missing from the table", r.code)
		}
	}
}

// Data that is stored as sent has undescribed fields. A generated client drops them unless the
// document permits them.
func TestDataStoredAsSentIsDescribedAsOpen(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Open any `json:"additionalProperties"`
			}
		}
	}
	if err := json.Unmarshal(OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Credential", "JWK"} {
		if open := doc.Components.Schemas[name].Open; open != true {
			t.Errorf("additionalProperties of %s is %v, want true", name, open)
		}
	}
}
