package schema

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	// suiteFolder is the environment variable with the folder of a checkout of
	// JSON-Schema-Test-Suite.
	suiteFolder = "JSON_SCHEMA_TEST_SUITE"
	// suiteSource is a package whose sources contain the suite in their folder json. The suite's
	// own npm package contains only references to it.
	suiteSource = "jsonschema==4.23.0"
)

// suiteRemotes is the address at which the suite expects its folder remotes.
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

// The test runs the required cases of draft 2020-12, and the cases that assert formats, as
// commerce does.
func TestJSONSchemaTestSuite(t *testing.T) {
	folder := suiteCheckout(t)
	t.Run("required", func(t *testing.T) { runSuite(t, folder, "*.json", AnnotateFormats) })
	t.Run("formats", func(t *testing.T) { runSuite(t, folder, filepath.Join("optional", "format", "*.json"), AssertFormats) })
}

// suiteCheckout returns the folder of the suite: a checkout, or in long runs the download by pip.
func suiteCheckout(t *testing.T) string {
	if folder := os.Getenv(suiteFolder); folder != "" {
		return folder
	}
	if os.Getenv("ATELIER_GENERATORS") == "" {
		t.Skip("to run it, use make generators, or set " + suiteFolder + " to a checkout of JSON-Schema-Test-Suite")
	}
	dir := t.TempDir()
	for _, command := range [][]string{
		{"python3", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:", suiteSource},
		{"sh", "-c", "tar xzf *.tar.gz --strip-components 1"},
	} {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", command, err, out)
		}
	}
	return filepath.Join(dir, "json")
}

// runSuite reports each case whose result differs from the suite's without a known reason.
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
				t.Errorf("another result than the suite: %s", d)
			}
		}
	}
	t.Logf("%d of %d cases agree", agreed, cases)
}

// runSuiteFile runs one file and lists the cases with a different result.
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
		validator, failed := suiteSchema(folder, g.Schema, formats)
		for _, c := range g.Tests {
			cases++
			answer := failed
			if answer == nil {
				answer = suiteAnswer(validator, c.Data, c.Valid)
			}
			if answer != nil {
				different = append(different, fmt.Sprintf("%s/%s/%s: %v", name, g.Description, c.Description, answer))
			}
		}
	}
	return cases, different
}

// suiteSchema compiles a schema as "commerce validate" does.
func suiteSchema(folder string, text []byte, formats Formats) (*Validator, error) {
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
	return CompileBundleWith(bundle, formats)
}

func suiteAnswer(validator *Validator, data []byte, valid bool) error {
	doc, err := Parse("value.json", bytes.Clone(data))
	if err != nil {
		return err
	}
	if problems := validator.Check(doc.Value); valid != (len(problems) == 0) {
		return fmt.Errorf("want valid %v, got %v", valid, problems)
	}
	return nil
}

// suiteDifference is a case, or all cases with this prefix, and the reason why the result differs
// from the suite's.
type suiteDifference struct{ prefix, reason string }

var knownDifferences = []suiteDifference{
	{"vocabulary/schema that uses custom metaschema with with no validation vocabulary/no validation: invalid number",
		"a dialect without the validation vocabulary: every schema is read in the vocabularies of draft 2020-12"},
}
