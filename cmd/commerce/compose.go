package main

import (
	"context"
	"errors"
	"fmt"

	"atelier/transport/commerce/profile"
	"atelier/transport/commerce/schema"
)

// composeFlags are the common flags of compose and resolve.
type composeFlags struct {
	Base       string   `arg:"" help:"Base schema, or a payload that declares its schemas."`
	Extensions []string `arg:"" optional:"" name:"extension" help:"Schemas that extend the base."`
	viewFlags
	sourceFlags
	Bundle   bool   `help:"Include all referenced schemas, so that the result is self-contained."`
	Protocol string `help:"Protocol version to check requirements against." placeholder:"VERSION"`
	Name     string `help:"Base schema to use if a payload follows several." placeholder:"NAME"`
	Format   string `help:"Error format: ${enum}." enum:"text,json" default:"text"`
}

type composeCmd struct{ composeFlags }

// Run composes schemas. It keeps the annotations unless a direction is given.
func (c composeCmd) Run(ctx context.Context, s streams) error {
	view, err := c.view()
	if err != nil {
		return err
	}
	return c.write(ctx, s, view)
}

type resolveCmd struct{ composeFlags }

// Run composes schemas and applies the annotations.
func (c resolveCmd) Run(ctx context.Context, s streams) error {
	view, err := c.view()
	if err != nil {
		return err
	}
	if view.Direction == "" {
		return usage(errors.New("a direction is missing: --request or --response"))
	}
	return c.write(ctx, s, view)
}

func (c composeFlags) write(ctx context.Context, s streams, view schema.View) error {
	d, err := c.open(ctx)
	if err != nil {
		return err
	}
	base, extensions, protocol, err := c.gather(d)
	if err != nil {
		return err
	}
	composed, err := schema.Compose(d.lib, base, extensions, schema.ComposeOptions{View: view, Bundle: c.Bundle, Protocol: protocol})
	if err != nil {
		return composition(c.Base, err)
	}
	return writeJSON(s.out, composed)
}

// gather returns the base, its extensions, and the protocol version to check requirements against.
// For a payload, the payload declares all three. Otherwise the command line contains them.
func (c composeFlags) gather(d *desk) (*schema.Resource, []*schema.Resource, string, error) {
	target, err := d.schema(c.Base)
	if err != nil {
		return nil, nil, "", err
	}
	base := target.Resource
	if isPayload(base) {
		if len(c.Extensions) > 0 {
			return nil, nil, "", usage(errors.New("a payload declares its extensions itself: omit the arguments after the payload"))
		}
		if c.Protocol != "" {
			return nil, nil, "", usage(errors.New("a payload declares its protocol version itself: omit --protocol"))
		}
		return c.followed(d, base)
	}
	if c.Name != "" {
		return nil, nil, "", usage(errors.New("--name selects a base schema of a payload, and this is a schema: omit it"))
	}
	var extensions []*schema.Resource
	for _, place := range c.Extensions {
		target, err := d.schema(place)
		if err != nil {
			return nil, nil, "", err
		}
		extensions = append(extensions, target.Resource)
	}
	return base, extensions, c.Protocol, nil
}

func (c composeFlags) followed(d *desk, payload *schema.Resource) (*schema.Resource, []*schema.Resource, string, error) {
	set, err := profile.Follow(d.lib, payload.Root())
	if err != nil {
		return nil, nil, "", composition(c.Base, err)
	}
	var names []string
	for _, base := range set.Bases {
		names = append(names, base.Name())
		if c.Name == base.Name() || c.Name == "" && len(set.Bases) == 1 {
			return base, set.Over(base), set.Protocol, nil
		}
	}
	return nil, nil, "", composition(c.Base, fmt.Errorf("the payload follows the base schemas %v: select one with --name", names))
}

func isPayload(r *schema.Resource) bool {
	root, _ := r.Root().(map[string]any)
	_, follows := root["ucp"].(map[string]any)
	return follows && root["$schema"] == nil && root["$id"] == nil
}
