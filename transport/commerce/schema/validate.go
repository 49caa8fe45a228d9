package schema

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxTold is how many places of a value may be told of, were all of them wrong:
// each takes some hundred bytes until the list is read.
const maxTold = 200_000

// Validator is a compiled schema. Immutable; safe for concurrent use.
type Validator struct {
	compiled *jsonschema.Schema
	// denied is its negation: a validator that has nothing to explain keeps
	// nothing of what fails on the way.
	denied *jsonschema.Schema
	budget *budget
	// whole is the bundle that was compiled, when it alone tells what a check
	// costs: it has plain references where its sources have $dynamicRef.
	whole map[string]any
}

func newValidator(compiled *jsonschema.Schema, b *budget) *Validator {
	return &Validator{compiled: compiled, denied: &jsonschema.Schema{DraftVersion: 2020, Location: compiled.Location, Not: compiled}, budget: b}
}

// Compile makes a target of the library ready to check values, as seen in a
// view. Everything it refers to must be at hand. Errors are those of Bundle, or
// say why the schema is none.
func Compile(lib *Library, target Target, view View) (*Validator, error) {
	bundle, err := Bundle(lib, target, view)
	if err != nil {
		return nil, err
	}
	return CompileBundle(bundle)
}

// bundleURL is where a bundle pretends to be; nothing is ever loaded from it.
const bundleURL = "urn:commerce:bundle"

// Formats says what the keyword "format" does.
type Formats int

const (
	// AssertFormats refuses values that are not of their format.
	AssertFormats Formats = iota
	// AnnotateFormats lets "format" describe only, which is what draft 2020-12
	// does unless a dialect says otherwise.
	AnnotateFormats
)

// CompileBundle makes a schema ready that refers to nothing outside itself, and
// asserts formats. The error says why it is no JSON Schema.
func CompileBundle(bundle map[string]any) (*Validator, error) {
	return CompileBundleWith(bundle, AssertFormats)
}

// CompileBundleWith is CompileBundle with a choice of what formats do.
func CompileBundleWith(bundle map[string]any, formats Formats) (*Validator, error) {
	c, b := newCompiler(formats)
	if err := c.AddResource(bundleURL, ownFormats(bundle)); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	compiled, err := c.Compile(bundleURL)
	if err != nil {
		return nil, compileError(err, bundle)
	}
	return newValidator(compiled, b), nil
}

func newCompiler(formats Formats) (*jsonschema.Compiler, *budget) {
	b := &budget{}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if formats == AssertFormats {
		c.AssertFormat()
	}
	c.UseLoader(whole{})
	c.UseRegexpEngine(b.compile)
	for name, check := range formatChecks {
		c.RegisterFormat(&jsonschema.Format{Name: ownFormat + name, Validate: check})
	}
	return c, b
}

// whole refuses to load anything: bundles are whole.
type whole struct{}

func (whole) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is not part of the schema", url)
}

func compileError(err error, schema any) error {
	if e := (*jsonschema.SchemaValidationError)(nil); errors.As(err, &e) {
		if v := (*jsonschema.ValidationError)(nil); errors.As(e.Err, &v) {
			p := problems(v, schema)[0]
			return fmt.Errorf("not a valid JSON Schema: %s", p)
		}
	}
	return fmt.Errorf("not a valid JSON Schema: %w", err)
}

// CheckStranger is Check for a schema nobody vouches for: it first makes sure
// that the value can be held against it in reasonable time and memory. bundle
// is what the schema was compiled from.
func (s *Validator) CheckStranger(bundle map[string]any, value any) ([]Problem, error) {
	g, target := gaugeOf(bundle)
	return s.CheckMeasured(g, target, value)
}

// gaugeOf makes a gauge for a schema that refers to nothing outside itself.
func gaugeOf(bundle map[string]any) (*Gauge, Target) {
	lib := NewLibrary(context.Background(), LibraryOptions{})
	return lib.NewGauge(), Target{Resource: lib.Add(&Document{File: "schema", Value: bundle}), Value: bundle}
}

// CheckMeasured does the same with a gauge that may know the schema already;
// target is what the schema was compiled from.
func (s *Validator) CheckMeasured(g *Gauge, target Target, value any) ([]Problem, error) {
	if s.whole != nil {
		return s.checkWhole(value)
	}
	work, err := g.Measure(target, value)
	if err != nil {
		return nil, err
	}
	return s.check(value, work.Places <= maxTold)
}

func (s *Validator) checkWhole(value any) ([]Problem, error) {
	g, target := gaugeOf(s.whole)
	work, err := g.Measure(target, value)
	if err != nil {
		return nil, err
	}
	return s.check(value, work.Places <= maxTold)
}

// Check lists what is wrong with a value; nothing when it fits. The value is
// a tree as Parse makes them.
func (s *Validator) Check(value any) []Problem {
	list, err := s.check(value, true)
	if err != nil {
		return []Problem{{Message: "cannot be checked: " + err.Error()}}
	}
	return list
}

// check looks at a value, and says where it is wrong if that may be told.
func (s *Validator) check(value any, told bool) (list []Problem, err error) {
	end := s.budget.begin()
	defer func() { err = end(recover(), err) }()
	if !told {
		if s.denied.Validate(value) == nil {
			return []Problem{{Message: "does not fit, and is too large for this schema to say where"}}, nil
		}
		return nil, nil
	}
	failed := s.compiled.Validate(value)
	if failed == nil {
		return nil, nil
	}
	if v := (*jsonschema.ValidationError)(nil); errors.As(failed, &v) {
		return problems(v, value), nil
	}
	return []Problem{{Message: failed.Error()}}, nil
}

// Compiler compiles many targets of one library; what they share is compiled
// once: commerce lint goes through a hundred schemas the size of the checkout
// in 0.11 s, and took 0.66 s with Compile. Owned by one goroutine; its
// Validators are not.
type Compiler struct {
	// scoped is set by the first $dynamicRef: what it means depends on the
	// target, so from then on each target gets a bundle of its own.
	scoped   bool
	linker   *linker
	compiler *jsonschema.Compiler
	budget   *budget
}

// NewCompiler makes a compiler for a library.
func NewCompiler(lib *Library) *Compiler {
	c, b := newCompiler(AssertFormats)
	return &Compiler{linker: newLinker(lib), compiler: c, budget: b}
}

// Compile makes a target ready, annotations unheeded.
func (c *Compiler) Compile(target Target) (*Validator, error) {
	if c.scoped {
		return c.compileWhole(target)
	}
	address, added, failed := c.linker.Link(target)
	if errors.Is(failed, errScope) {
		c.scoped = true
		return c.compileWhole(target)
	}
	for at, doc := range added {
		if err := c.compiler.AddResource(at, ownFormats(doc)); err != nil {
			return nil, err
		}
	}
	if failed != nil {
		return nil, failed
	}
	compiled, err := c.compiler.Compile(address)
	if err != nil {
		return nil, compileError(err, target.Value)
	}
	return newValidator(compiled, c.budget), nil
}

func (c *Compiler) compileWhole(target Target) (*Validator, error) {
	bundle, err := Bundle(c.linker.b.lib, target, View{})
	if err != nil {
		return nil, err
	}
	validator, err := CompileBundle(bundle)
	if err != nil {
		return nil, err
	}
	validator.whole = bundle
	return validator, nil
}

var draft2020 = sync.OnceValue(func() *Validator {
	return newValidator(jsonschema.NewCompiler().MustCompile(Draft), &budget{})
})

// Draft2020 lists what keeps a value from being a schema of draft 2020-12.
func Draft2020(value any) []Problem {
	if list := draft2020().Check(value); len(list) > 0 {
		return list
	}
	return patterns(value)
}
