package naming_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atelier/actors/participant"
	tokens "atelier/actors/token"
	"atelier/actors/token/credential"
	"atelier/transport/commerce/lint"
	"atelier/transport/commerce/negotiate"
	"atelier/transport/commerce/schema"
)

var update = flag.Bool("update", false, "complete the enumerations in documents")

// root is the folder of the module.
const root = "../.."

// published is the folder of the schemas, with one folder per date.
const published = "transport/commerce/schema/published"

// list is a closed list, or a meaningful part of one, such as the policies that have a life.
type list struct {
	members []string
	// plain means that the members are not English words, so enumerations of them count even
	// without quotes.
	plain bool
}

var lists = []list{
	{tokens.PolicyNames(nil), true}, {tokens.PolicyNames(tokens.Lives), true}, {tokens.PolicyNames(tokens.Repeats), true},
	{texts(tokens.States), false},
	{credential.Types, true}, {append(slices.Clone(credential.Types), "token"), true}, {credential.NumberTypes, true},
	{participant.Kinds, false}, {participant.Environments, false}, {participant.Scopes, false},
	{schema.Registries, false}, {append([]string{"version"}, schema.Registries...), false}, {agreement(), false}, {schema.CategoryNames(), false},
	{schema.TransportNames(), true}, {transports("endpoint", "schema"), true}, {transports("endpoint"), true}, {transports("schema"), true},
	{[]string{schema.PlatformVariant, schema.BusinessVariant, schema.ResponseVariant}, true},
	{[]string{schema.PlatformVariant, schema.BusinessVariant}, true},
	{texts([]lint.Side{lint.Platform, lint.Business}), false},
	{capabilities(), true}, {lint.Formats, false},
	{schema.Operations, false}, {schema.Visibilities, false}, {schema.CheckoutStates, false},
}

// agreement returns the fields of the result of a negotiation.
func agreement() (names []string) {
	for f := range reflect.TypeFor[negotiate.Result]().Fields() {
		names = append(names, f.Tag.Get("json"))
	}
	return names
}

// capabilities returns the published capabilities of the shopping service, without the prefix of
// the service.
func capabilities() (names []string) {
	set, err := schema.Published("")
	if err != nil {
		panic(err)
	}
	for _, f := range set.All() {
		var stated struct{ Name string }
		if json.Unmarshal(f.Data, &stated) == nil {
			if name, ok := strings.CutPrefix(stated.Name, schema.Reserved+"shopping."); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// transports returns the transports whose entries need all these fields.
func transports(needs ...string) (names []string) {
	for _, t := range schema.Transports {
		if intersect(needs, t.Needs) == len(needs) {
			names = append(names, t.Name)
		}
	}
	return names
}

func texts[S ~string](list []S) (plain []string) {
	for _, s := range list {
		plain = append(plain, string(s))
	}
	return plain
}

// TestNoEnumerationIsStale checks every enumeration in documents, comments and literals. An
// enumeration that shares at least two members with a closed list must be that list or a listed
// part of it. For example, the test finds a policy that was added to the code but not to README.
func TestNoEnumerationIsStale(t *testing.T) {
	if testing.Short() {
		t.Skip("this test reads all sources")
	}
	known := 0
	for _, path := range written(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		isSource := filepath.Ext(path) == ".go"
		if isSource {
			text = words(data)
		}
		fresh := enumeration.ReplaceAllStringFunc(text, func(found string) string {
			rest := article.FindString(found)
			found = strings.TrimSuffix(found, rest)
			is, should := judge(found)
			if is || should != nil {
				known++
			}
			if should == nil {
				return found + rest
			}
			// Schemas of a published date must not change.
			if *update && !isSource && !strings.Contains(path, published) {
				return complete(found, should) + rest
			}
			at := 1 + strings.Count(text[:strings.Index(text, found)], "\n")
			t.Errorf("%s:%d: %q is a part of %q", strings.TrimPrefix(path, root+"/"), at, found, should)
			return found + rest
		})
		if fresh != text {
			if err := os.WriteFile(path, []byte(fresh), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if known < 30 {
		t.Errorf("only %d enumerations were recognised, so the search is broken", known)
	}
}

// policies matches the table that explains the policies on the page about tokens.
var policies = regexp.MustCompile(`(?m)^\| Policy \| A token is \|\n\|---\|---\|\n((?:\|.*\n)*)`)

func TestThePoliciesAreExplained(t *testing.T) {
	path := filepath.Join(root, "transport/handler/TOKENS.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for _, p := range tokens.Policies() {
		fmt.Fprintf(&rows, "| `%s` | %s |\n", p.Name, strings.ToLower(p.About[:1])+p.About[1:])
	}
	at := policies.FindSubmatchIndex(text)
	if at == nil {
		t.Fatal("TOKENS.md has no table of policies")
	}
	if string(text[at[2]:at[3]]) == rows.String() {
		return
	}
	if !*update {
		t.Fatalf("TOKENS.md explains other policies; make generate writes\n%s", rows.String())
	}
	if err := os.WriteFile(path, slices.Concat(text[:at[2]], []byte(rows.String()), text[at[3]:]), 0o600); err != nil {
		t.Fatal(err)
	}
}

const (
	word  = "[a-z][a-z0-9_]*"
	entry = `"` + word + `"|` + "`" + word + "`|" + word
	comma = `,\s*`
	last  = `,?\s+(?:or|and)\s+|,\s*`
)

var (
	// enumeration matches "a, b or c" of quoted strings, `code` or plain words, on one line or
	// several.
	enumeration = regexp.MustCompile(listOf(`"`) + "|" + listOf("`") + "|" + listOf(""))
	separator   = regexp.MustCompile("^(?:" + last + ")")
	begins      = regexp.MustCompile("^(?:" + entry + ")")
	// article matches the beginning of an entry that is not a member: "a, b, or another one".
	article = regexp.MustCompile("(?:" + last + ")(?:a|an|another|the)$")
)

func listOf(quote string) string {
	one := quote + word + quote
	return one + "(?:" + comma + one + ")*(?:" + last + ")" + one
}

// split returns the entries of an enumeration, with their quotes, and the text between
// them.
func split(found string) (entries, between []string) {
	for {
		e := begins.FindString(found)
		entries, found = append(entries, e), found[len(e):]
		sep := separator.FindString(found)
		if sep == "" {
			return entries, between
		}
		between, found = append(between, sep), found[len(sep):]
	}
}

// judge reports whether an enumeration is a closed list. If the enumeration is only a part of one,
// judge returns the list that it should be. Of the lists with the most common members, this is the
// shortest.
func judge(found string) (is bool, should []string) {
	entries, _ := split(found)
	plain := !strings.ContainsAny(found, "\"`")
	var members []string
	for _, e := range entries {
		if e = strings.Trim(e, "\"`"); !slices.Contains(members, e) {
			members = append(members, e)
		}
	}
	covered := 0
	for _, l := range lists {
		common := intersect(members, l.members)
		if common < 2 || plain && !l.plain {
			continue
		}
		if common == len(members) && common == len(l.members) {
			return true, nil
		}
		if common > covered || common == covered && len(l.members) < len(should) {
			covered, should = common, l.members
		}
	}
	return false, should
}

func intersect(a, b []string) (n int) {
	for _, x := range a {
		if slices.Contains(b, x) {
			n++
		}
	}
	return n
}

// complete rewrites an enumeration in its style with all members.
func complete(found string, members []string) string {
	entries, between := split(found)
	quote := ""
	if strings.ContainsAny(entries[0][:1], "\"`") {
		quote = entries[0][:1]
	}
	sep, end := between[0], between[len(between)-1]
	if len(between) == 1 && !strings.HasPrefix(sep, ",") {
		sep = ", "
	}
	var b strings.Builder
	for i, m := range members {
		switch i {
		case 0:
		case len(members) - 1:
			b.WriteString(end)
		default:
			b.WriteString(sep)
		}
		b.WriteString(quote + m + quote)
	}
	return b.String()
}

// written lists the sources, documents and schemas that people write, without tests, generated
// files and the browser app.
func written(t *testing.T) (files []string) {
	t.Helper()
	newest := ""
	dates, err := os.ReadDir(filepath.Join(root, published))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dates {
		newest = max(newest, d.Name())
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || slices.Contains([]string{"bin", "data", "testdata", "web", "node_modules"}, name)) {
				return fs.SkipDir
			}
			if filepath.Dir(path) == filepath.Join(root, published) && name != newest {
				return fs.SkipDir // an earlier date keeps its lists
			}
			return nil
		}
		switch {
		case strings.HasSuffix(name, "_test.go"), strings.HasSuffix(name, ".pb.go"), name == "CHANGELOG.md":
		case slices.Contains([]string{".go", ".md", ".json", ".proto", ".html", ".toml"}, filepath.Ext(name)):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// words returns the comments, string literals, commas and white space of a source at their
// positions. All other bytes are semicolons.
func words(source []byte) string {
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(source))
	s.Init(file, source, nil, scanner.ScanComments)
	out := bytes.Repeat([]byte{';'}, len(source))
	for i, c := range source {
		if c == '\n' || c == '\t' || c == ' ' {
			out[i] = c
		}
	}
	for {
		pos, tok, lit := s.Scan()
		at := file.Offset(pos)
		switch tok {
		case token.EOF:
			return string(out)
		case token.STRING:
			copy(out[at:], lit)
		case token.COMMENT:
			copy(out[at:], strings.ReplaceAll(lit, "\n// ", "\n   "))
		case token.COMMA:
			out[at] = ','
		}
	}
}
