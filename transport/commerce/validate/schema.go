package validate

import (
	"context"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"atelier/transport/commerce/compose"
	"atelier/transport/commerce/document"
	"atelier/transport/commerce/library"
)

// Schema is a compiled schema. Immutable; safe for concurrent use.
type Schema struct{ compiled *jsonschema.Schema }

// Compile makes a target of the library ready to check values, as seen in a
// view. Everything it refers to must be at hand.
func Compile(lib *library.Library, target library.Target, view compose.View) (*Schema, error) {
	bundle, err := compose.Bundle(lib, target, view)
	if err != nil {
		return nil, err
	}
	return CompileBundle(bundle)
}

// bundleURL is where a bundle pretends to be; nothing is ever loaded from it.
const bundleURL = "urn:commerce:bundle"

// CompileBundle makes a schema ready that refers to nothing outside itself.
func CompileBundle(bundle map[string]any) (*Schema, error) {
	c := newCompiler()
	if err := c.AddResource(bundleURL, bundle); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	compiled, err := c.Compile(bundleURL)
	if err != nil {
		return nil, compileError(err, bundle)
	}
	return &Schema{compiled}, nil
}

func newCompiler() *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(closed{})
	return c
}

// closed refuses to load anything: bundles are whole.
type closed struct{}

func (closed) Load(url string) (any, error) {
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
// that the value can be held against it in reasonable time. bundle is what the
// schema was compiled from.
func (s *Schema) CheckStranger(bundle map[string]any, value any) ([]Problem, error) {
	lib := library.New(context.Background(), library.Options{})
	r := lib.Add(&document.Document{File: "schema", Value: bundle})
	if err := lib.CheckWork(library.Target{Resource: r, Value: bundle}, value); err != nil {
		return nil, err
	}
	return s.Check(value), nil
}

// Check lists what is wrong with a value; nothing when it fits. The value is
// a tree as package document makes them.
func (s *Schema) Check(value any) []Problem {
	err := s.compiled.Validate(value)
	if err == nil {
		return nil
	}
	if v := (*jsonschema.ValidationError)(nil); errors.As(err, &v) {
		return problems(v, value)
	}
	return []Problem{{Message: err.Error()}}
}
