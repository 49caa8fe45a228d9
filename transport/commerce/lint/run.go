package lint

import (
	"context"
	"errors"

	"atelier/transport/commerce/brief"
	"atelier/transport/commerce/compose"
	"atelier/transport/commerce/document"
	"atelier/transport/commerce/library"
	"atelier/transport/commerce/schemas"
	"atelier/transport/commerce/validate"
)

// maxFindings bounds what is said about one file.
const maxFindings = 200

// Options of a run. The zero Options work offline with our published schemas.
type Options struct {
	// Published are the schemas found by $id; nil is ours under their default
	// base.
	Published *schemas.Set
	// Fetcher gets schemas by address; nil is offline.
	Fetcher library.Fetcher
	// Library has schemas beside those that are linted; nil is none. With it,
	// Published and Fetcher are its own.
	Library *library.Library
	// As is the side a profile is of; "" when nobody said.
	As Side
}

// Side is whose declarations a document has.
type Side string

// The sides; an answer refers to what was negotiated.
const (
	Platform Side = "platform"
	Business Side = "business"
	answer   Side = "response"
)

// Files lints files and trees.
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

// Document lints one document that need not be in a file.
func Document(ctx context.Context, doc *document.Document, opts Options) (Report, error) {
	l, err := newLinter(ctx, opts)
	if err != nil {
		return Report{}, err
	}
	l.add(l.lib.Add(doc))
	return l.run(), nil
}

// linter is one run. Owned by its caller's goroutine.
type linter struct {
	lib       *library.Library
	published *schemas.Set
	as        Side
	costs     *library.Costs
	gauge     *library.Gauge
	compiler  *validate.Compiler
	base      string
	subjects  []*subject
	// latest has, by name, the latest of the schemas that are linted.
	latest map[string]*library.Resource
	report Report
}

// subject is one document under inspection.
type subject struct {
	*linter
	res  *library.Resource
	doc  *document.Document
	root map[string]any
	kind kind
	// category is only set for schemas.
	category category
	found    []Finding
}

func newLinter(ctx context.Context, opts Options) (*linter, error) {
	if opts.Published == nil {
		var err error
		if opts.Published, err = schemas.Published(""); err != nil {
			return nil, err
		}
	}
	lib := opts.Library
	if lib == nil {
		lib = library.New(ctx, library.Options{Published: opts.Published, Fetcher: opts.Fetcher})
	}
	return &linter{lib: lib, published: opts.Published, as: opts.As, latest: map[string]*library.Resource{}, costs: lib.NewCosts(), gauge: lib.NewGauge(), compiler: validate.NewCompiler(lib), base: opts.Published.Base(), report: Report{Findings: []Finding{}}}, nil
}

func (l *linter) read(path string) {
	res, err := l.lib.AddFile(path)
	if syntax := (*document.SyntaxError)(nil); errors.As(err, &syntax) {
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

func (l *linter) add(res *library.Resource) {
	s := &subject{linter: l, res: res, doc: res.Doc}
	s.root, _ = res.Doc.Value.(map[string]any)
	s.kind = kindOf(s.root)
	l.subjects = append(l.subjects, s)
	name := compose.Name(res)
	if other := l.latest[name]; name != "" && (other == nil || compose.Version(res) > compose.Version(other)) {
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

// find notes a finding, unless the file has too many already.
func (s *subject) find(code, pointer, message string) {
	if len(s.found) < maxFindings {
		s.found = append(s.found, Finding{Code: code, Severity: severities[code], File: s.doc.File, Pointer: brief.Message(pointer), Message: brief.Message(message)})
	}
}
