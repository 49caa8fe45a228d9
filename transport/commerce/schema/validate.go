package schema

import (
	"errors"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Validator is a compiled schema. It is immutable and safe for concurrent use.
type Validator struct{ compiled *jsonschema.Schema }

// Compile returns a validator for a target of the library, as seen in a view. The library must
// have, or be able to fetch, all documents to which the target refers. Errors are as in Bundle, or
// state why the schema is invalid.
func Compile(lib *Library, target Target, view View) (*Validator, error) {
	bundle, err := Bundle(lib, target, view)
	if err != nil {
		return nil, err
	}
	return CompileBundle(bundle)
}

// bundleURL is the address under which a bundle is compiled. Nothing is loaded from this address.
const bundleURL = "urn:commerce:bundle"

// Formats is the treatment of the keyword "format".
type Formats int

const (
	// AssertFormats refuses values that do not match their format.
	AssertFormats Formats = iota
	// AnnotateFormats treats "format" as a description, the default of draft 2020-12.
	AnnotateFormats
)

// CompileBundle compiles a self-contained schema with AssertFormats. An error means that the schema
// is not a valid JSON Schema.
func CompileBundle(bundle map[string]any) (*Validator, error) {
	return CompileBundleWith(bundle, AssertFormats)
}

// CompileBundleWith does the same as CompileBundle, with the given treatment of formats.
func CompileBundleWith(bundle map[string]any, formats Formats) (*Validator, error) {
	c := newCompiler(formats)
	if err := c.AddResource(bundleURL, ownFormats(bundle)); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	compiled, err := c.Compile(bundleURL)
	if err != nil {
		return nil, compileError(err, bundle)
	}
	return &Validator{compiled}, nil
}

func newCompiler(formats Formats) *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if formats == AssertFormats {
		c.AssertFormat()
	}
	c.UseLoader(whole{})
	c.UseRegexpEngine(func(source string) (jsonschema.Regexp, error) { return compilePattern(source) })
	for name, check := range formatChecks {
		c.RegisterFormat(&jsonschema.Format{Name: ownFormat + name, Validate: check})
	}
	return c
}

// whole is a loader that loads nothing, because bundles are self-contained.
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

// Check returns the problems of a value, or nil if the value is valid. The value is a tree as
// returned by Parse. A schema can make Check take any time and memory (see the package's section
// "Time").
func (s *Validator) Check(value any) []Problem {
	failed := s.compiled.Validate(value)
	if failed == nil {
		return nil
	}
	if v := (*jsonschema.ValidationError)(nil); errors.As(failed, &v) {
		return problems(v, value)
	}
	return []Problem{{Message: failed.Error()}}
}

// Compiler compiles many targets of one library, and compiles common parts once. The command
// commerce lint checks a hundred schemas of the size of the checkout in 0.11 s with a Compiler, and
// in 0.66 s with Compile. A Compiler is not safe for concurrent use, but its Validators are.
type Compiler struct {
	// scoped is set by the first $dynamicRef. The meaning of a $dynamicRef depends on the target,
	// so each later target gets its own bundle.
	scoped   bool
	linker   *linker
	compiler *jsonschema.Compiler
}

// NewCompiler returns a compiler for a library.
func NewCompiler(lib *Library) *Compiler {
	return &Compiler{linker: newLinker(lib), compiler: newCompiler(AssertFormats)}
}

// Compile compiles a target, ignoring annotations.
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
	return &Validator{compiled}, nil
}

func (c *Compiler) compileWhole(target Target) (*Validator, error) {
	bundle, err := Bundle(c.linker.b.lib, target, View{})
	if err != nil {
		return nil, err
	}
	return CompileBundle(bundle)
}

var draft2020 = sync.OnceValue(func() *Validator {
	return &Validator{jsonschema.NewCompiler().MustCompile(Draft)}
})

// Draft2020 returns the reasons why a value is not a schema of draft 2020-12, or else its invalid
// regular expressions.
func Draft2020(value any) []Problem {
	if list := draft2020().Check(value); len(list) > 0 {
		return list
	}
	return patterns(value)
}
