package validate

import (
	"context"
	"fmt"

	"atelier/transport/commerce/compose"
	"atelier/transport/commerce/library"
	"atelier/transport/commerce/schemas"
)

// Profiles checks profiles against the published schema. Safe for concurrent
// use.
type Profiles struct{ platform, business *Schema }

// NewProfiles compiles the schema of profiles.
func NewProfiles(published *schemas.Set) (*Profiles, error) {
	lib := library.New(context.Background(), library.Options{Published: published})
	meta, err := lib.ByID(published.Base() + "/" + schemas.Version + "/meta/profile.json")
	if err != nil {
		return nil, err
	}
	compile := func(kind string) (*Schema, error) {
		target, err := lib.Resolve(meta, "#/$defs/"+kind+"_schema")
		if err != nil {
			return nil, err
		}
		return Compile(lib, target, compose.View{})
	}
	var p Profiles
	if p.platform, err = compile("platform"); err != nil {
		return nil, fmt.Errorf("schema of platform profiles: %w", err)
	}
	if p.business, err = compile("business"); err != nil {
		return nil, fmt.Errorf("schema of business profiles: %w", err)
	}
	return &p, nil
}

// Platform lists what is wrong with the profile of a platform.
func (p *Profiles) Platform(value any) []Problem { return p.platform.Check(value) }

// Business lists what is wrong with the profile of a business.
func (p *Profiles) Business(value any) []Problem { return p.business.Check(value) }
