package profile

import (
	"context"
	"fmt"

	"atelier/transport/commerce/schema"
)

// Checker validates profiles with the published schema. It is safe for concurrent use.
type Checker struct{ platform, business *schema.Validator }

// NewChecker compiles the schema of profiles.
func NewChecker(published *schema.Set) (*Checker, error) {
	lib := schema.NewLibrary(context.Background(), schema.LibraryOptions{Published: published})
	meta, err := lib.ByID(published.Base() + "/" + schema.Release + "/meta/profile.json")
	if err != nil {
		return nil, err
	}
	compile := func(kind string) (*schema.Validator, error) {
		target, err := lib.Resolve(meta, "#/$defs/"+kind+"_schema")
		if err != nil {
			return nil, err
		}
		return schema.Compile(lib, target, schema.View{})
	}
	var p Checker
	if p.platform, err = compile("platform"); err != nil {
		return nil, fmt.Errorf("schema of platform profiles: %w", err)
	}
	if p.business, err = compile("business"); err != nil {
		return nil, fmt.Errorf("schema of business profiles: %w", err)
	}
	return &p, nil
}

// Platform returns the problems of a platform's profile.
func (p *Checker) Platform(value any) []schema.Problem { return p.platform.Check(value) }

// Business returns the problems of a business's profile.
func (p *Checker) Business(value any) []schema.Problem { return p.business.Check(value) }
