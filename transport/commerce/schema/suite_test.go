package schema

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// suiteFolder names the variable with a checkout of JSON-Schema-Test-Suite.
const suiteFolder = "JSON_SCHEMA_TEST_SUITE"

// suiteRemotes is where the suite expects its folder remotes to be served.
const suiteRemotes = "http://localhost:1234/"

// suiteFiles serves the folder remotes of the suite without a network.
type suiteFiles string

func (f suiteFiles) Fetch(_ context.Context, address string) ([]byte, error) {
	path, ok := strings.CutPrefix(address, suiteRemotes)
	if !ok {
		return nil, errors.New("not part of the suite")
	}
	return os.ReadFile(filepath.Join(string(f), "remotes", filepath.FromSlash(path)))
}

// suiteGroup is a schema of the suite with its cases.
type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// TestRequiredCasesOfTheJSONSchemaTestSuite runs the required cases of draft
// 2020-12. CONTRIBUTING says where to get the suite.
func TestRequiredCasesOfTheJSONSchemaTestSuite(t *testing.T) {
	runSuite(t, suiteCheckout(t), "*.json", AnnotateFormats)
}

// TestFormatCasesOfTheJSONSchemaTestSuite runs the cases that ask for formats to
// be asserted, which is what commerce does.
func TestFormatCasesOfTheJSONSchemaTestSuite(t *testing.T) {
	runSuite(t, suiteCheckout(t), filepath.Join("optional", "format", "*.json"), AssertFormats)
}

// suiteCheckout is the folder of the suite; the test is skipped without one.
func suiteCheckout(t *testing.T) string {
	folder := os.Getenv(suiteFolder)
	if folder == "" {
		t.Skip("set " + suiteFolder + " to a checkout of JSON-Schema-Test-Suite")
	}
	return folder
}

// runSuite fails for each case whose answer differs for no known reason.
func runSuite(t *testing.T, folder, pattern string, formats Formats) {
	files, err := filepath.Glob(filepath.Join(folder, "tests", "draft2020-12", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s=%s has no tests/draft2020-12/%s (%v)", suiteFolder, folder, pattern, err)
	}
	cases, agreed := 0, 0
	for _, file := range files {
		total, different := runSuiteFile(t, folder, file, formats)
		cases, agreed = cases+total, agreed+total-len(different)
		for _, d := range different {
			if !slices.ContainsFunc(knownDifferences, func(k suiteDifference) bool { return strings.HasPrefix(d, k.prefix) }) {
				t.Errorf("differs: %s", d)
			}
		}
	}
	t.Logf("%d of %d cases agree", agreed, cases)
}

// runSuiteFile runs one file and lists the cases with a different answer.
func runSuiteFile(t *testing.T, folder, file string, formats Formats) (cases int, different []string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var groups []suiteGroup
	if err := json.Unmarshal(data, &groups); err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSuffix(filepath.Base(file), ".json")
	for _, g := range groups {
		check, failed := suiteSchema(folder, g.Schema, formats)
		for _, c := range g.Tests {
			cases++
			answer := failed
			if answer == nil {
				answer = suiteAnswer(check, c.Data, c.Valid)
			}
			if answer != nil {
				different = append(different, fmt.Sprintf("%s/%s/%s: %v", name, g.Description, c.Description, answer))
			}
		}
	}
	return cases, different
}

// suiteSchema makes a schema ready as "commerce validate" does.
func suiteSchema(folder string, text []byte, formats Formats) (func(any) ([]Problem, error), error) {
	doc, err := Parse("schema.json", bytes.Clone(text))
	if err != nil {
		return nil, err
	}
	lib := NewLibrary(context.Background(), LibraryOptions{Fetcher: suiteFiles(folder)})
	r := lib.Add(doc)
	bundle, err := Bundle(lib, Target{Resource: r, Value: doc.Value}, View{})
	if err != nil {
		return nil, err
	}
	validator, err := CompileBundleWith(bundle, formats)
	if err != nil {
		return nil, err
	}
	return func(value any) ([]Problem, error) { return validator.CheckStranger(bundle, value) }, nil
}

func suiteAnswer(check func(any) ([]Problem, error), data []byte, valid bool) error {
	doc, err := Parse("value.json", bytes.Clone(data))
	if err != nil {
		return err
	}
	problems, err := check(doc.Value)
	if err != nil {
		return err
	}
	if valid != (len(problems) == 0) {
		return fmt.Errorf("want valid %v, got %v", valid, problems)
	}
	return nil
}

// suiteDifference is a case, or all cases that begin so, with the reason why
// the answer is not the suite's.
type suiteDifference struct{ prefix, reason string }

var knownDifferences = []suiteDifference{
	{"vocabulary/schema that uses custom metaschema with with no validation vocabulary/no validation: invalid number",
		"a dialect without the validation vocabulary: every schema is read in the vocabularies of draft 2020-12"},
}
