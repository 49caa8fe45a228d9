package lint_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"atelier/transport/commerce/lint"
	"atelier/transport/commerce/schema"
)

// checkouts writes n schemas of the size of the checkout and returns their folder. Each schema has
// an example and references the same types.
func checkouts(t testing.TB, n int) string {
	t.Helper()
	set, err := schema.Published("")
	if err != nil {
		t.Fatal(err)
	}
	checkout, _ := set.Entity("dev.commerce.shopping.checkout", schema.Release)
	text := bytes.ReplaceAll(checkout.Data, []byte(`"../`), []byte(`"`+set.Base()+"/"+schema.Release+"/"))
	folder := t.TempDir()
	for i := range n {
		one := bytes.Replace(text, []byte(checkout.ID), fmt.Appendf(nil, "https://vendor.com/%d.json", i), 1)
		one = bytes.Replace(one, []byte(`"name": "dev.commerce.shopping.checkout"`), fmt.Appendf(nil, `"name": "com.vendor.c%d"`, i), 1)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.json", i)), one, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func lintFolder(t testing.TB, folder string, n int) {
	t.Helper()
	r, err := lint.Files(t.Context(), []string{folder}, lint.Options{})
	if err != nil || len(r.Findings) > 0 || r.Files != n {
		t.Fatalf("linting: %d files, %v, findings %v", r.Files, err, r.Findings)
	}
}

// Types and meta schemas that many schemas share are compiled once. Compiling them with each schema
// would take many times as long.
func TestSharedPartsOfSchemasAreReadOnce(t *testing.T) {
	memory := func(n int) uint64 {
		folder := checkouts(t, n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		lintFolder(t, folder, n)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := memory(10), memory(60)
	if each := (many - few) / 50; each > 1_000_000 {
		t.Errorf("linting allocates %d bytes per schema", each)
	}
}

// BenchmarkLint lints a hundred schemas:
//
//	go test -run - -bench Lint ./transport/commerce/lint
//	BenchmarkLint-2   12   85599256 ns/op   43351398 B/op   793517 allocs/op
func BenchmarkLint(b *testing.B) {
	folder := checkouts(b, 100)
	b.ReportAllocs()
	for b.Loop() {
		lintFolder(b, folder, 100)
	}
}
