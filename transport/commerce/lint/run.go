package lint

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"atelier/transport/commerce/schema"
)

// maxFindings bounds the findings about one file.
const maxFindings = 200

// Options configures a run. With the zero Options, a run works offline and uses our published
// schemas.
type Options struct {
	// Published contains the schemas that references find by $id. nil means our schemas under their
	// default base.
	Published *schema.Set
	// Fetcher fetches schemas by address. nil means offline.
	Fetcher schema.Fetcher
	// Library contains further schemas, and can be nil. If it is set, its own sources replace
	// Fetcher and the schemas of Published. Only the base of Published still counts.
	Library *schema.Library
	// As is the side of a profile, or "" if it must be determined from the profile.
	As Side
}

// Side is the side whose declarations a document contains.
type Side string

// Sides. An answer refers to the negotiated capabilities.
const (
	Platform Side = "platform"
	Business Side = "business"
	answer   Side = "response"
)

// Files lints files, and all *.json files below folders.
func Files(ctx context.Context, paths []string, opts Options) (Report, error) {
	l, err := newLinter(ctx, opts)
	if err != nil {
		return Report{}, err
	}
	files, failed := expand(l.lib, paths)
	l.report.Findings = failed
	l.report.Unreadable = len(failed) > 0
	for _, f := range files {
		l.read(f)
	}
	return l.run(), nil
}

// Document lints one document, which need not come from a file.
func Document(ctx context.Context, doc *schema.Document, opts Options) (Report, error) {
	return Documents(ctx, []*schema.Document{doc}, opts)
}

// Documents is like Document, for several documents in one run.
func Documents(ctx context.Context, docs []*schema.Document, opts Options) (Report, error) {
	l, err := newLinter(ctx, opts)
	if err != nil {
		return Report{}, err
	}
	for _, doc := range docs {
		l.add(l.lib.Add(doc))
	}
	return l.run(), nil
}

// linter is the state of one run. It is not safe for concurrent use.
type linter struct {
	lib       *schema.Library
	published *schema.Set
	as        Side
	costs     *schema.Costs
	compiler  *schema.Compiler
	base      string
	subjects  []*subject
	// latest maps each name to the linted schema with the latest version.
	latest map[string]*schema.Resource
	report Report
}

// subject is one document being checked.
type subject struct {
	*linter
	res  *schema.Resource
	doc  *schema.Document
	root map[string]any
	kind kind
	// category is only set for schemas.
	category category
	found    []Finding
}

func newLinter(ctx context.Context, opts Options) (*linter, error) {
	if opts.Published == nil {
		var err error
		if opts.Published, err = schema.Published(""); err != nil {
			return nil, err
		}
	}
	lib := opts.Library
	if lib == nil {
		lib = schema.NewLibrary(ctx, schema.LibraryOptions{Published: opts.Published, Fetcher: opts.Fetcher})
	}
	return &linter{lib: lib, published: opts.Published, as: opts.As, latest: map[string]*schema.Resource{}, costs: lib.NewCosts(), compiler: schema.NewCompiler(lib), base: opts.Published.Base(), report: Report{Findings: []Finding{}}}, nil
}

func (l *linter) read(path string) {
	res, err := l.lib.AddFile(path)
	if syntax := (*schema.SyntaxError)(nil); errors.As(err, &syntax) {
		f := New("json-syntax", path, syntax.Reason)
		f.Line = max(syntax.Line, 1)
		l.report.Findings = append(l.report.Findings, f)
		l.report.Files++
		return
	}
	if err != nil {
		l.report.Findings = append(l.report.Findings, New("io", path, reason(err)))
		l.report.Unreadable = true
		return
	}
	l.add(res)
}

func (l *linter) add(res *schema.Resource) {
	s := &subject{linter: l, res: res, doc: res.Doc}
	s.root, _ = res.Doc.Value.(map[string]any)
	s.kind = kindOf(s.root)
	l.subjects = append(l.subjects, s)
	name := res.Name()
	if other := l.latest[name]; name != "" && (other == nil || res.Version() > other.Version()) {
		l.latest[name] = res
	}
}

func (l *linter) run() Report {
	l.duplicateIDs()
	for _, s := range l.subjects {
		s.lint()
		l.report.Files++
		if len(s.found) == 0 {
			continue
		}
		lines := s.doc.Lines()
		for i := range s.found {
			s.found[i].Line = lines.Of(s.found[i].Pointer)
		}
		l.report.Findings = append(l.report.Findings, s.found...)
	}
	l.report.sort()
	return l.report
}

func (s *subject) lint() {
	switch s.kind {
	case notObject:
		s.find("json-syntax", "", "want a JSON object: a schema, a profile or a service description")
	case profileKind:
		s.profile()
	case descriptionKind:
		s.anyReferences()
	case schemaKind:
		s.category = s.categorize(s.res)
		s.metadata()
		s.entity()
		s.variants()
		s.extension()
		s.conflicts()
		s.requires()
		s.references()
		s.visibility()
		s.openness()
		s.validity()
	}
}

// find adds a finding, unless the file already has maxFindings.
func (s *subject) find(code, pointer, message string) {
	if len(s.found) < maxFindings {
		s.found = append(s.found, Finding{Code: code, Severity: severities[code], File: s.doc.File, Pointer: schema.BriefMessage(pointer), Message: schema.BriefMessage(message)})
	}
}

// expand lists the files of paths. A folder means all *.json files below it, except in hidden
// folders and node_modules. expand also permits references to the files around the paths.
func expand(lib *schema.Library, paths []string) (files []string, failed []Finding) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			failed = append(failed, New("io", path, reason(err)))
			continue
		}
		if !info.IsDir() {
			lib.Open(schema.Around(path))
			files = append(files, path)
			continue
		}
		lib.Open(path)
		found, err := schema.Tree(path)
		if err != nil {
			failed = append(failed, New("io", path, reason(err)))
		}
		if err == nil && len(found) == 0 {
			failed = append(failed, New("io", path, "there is no *.json file in this folder"))
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	return slices.Compact(files), failed
}

// reason returns an error of the file system without the path, because the finding already contains
// the path.
func reason(err error) string {
	if e, ok := err.(*fs.PathError); ok {
		return e.Err.Error()
	}
	return err.Error()
}
