package main

import (
	"context"
	"errors"
	"fmt"

	"atelier/transport/commerce/lint"
	"atelier/transport/commerce/profile"
	"atelier/transport/commerce/schema"
)

type validateCmd struct {
	Payload         string `arg:"" help:"Payload file, or with --profile the profile."`
	Schema          string `help:"Schema to check against; the default is the schemas that the payload declares." placeholder:"FILE"`
	Profile         bool   `help:"The file is a profile."`
	AnnotateFormats bool   `help:"With --schema: treat the keyword format as an annotation, as draft 2020-12 does by default, instead of refusing values that do not have the format."`
	As              string `help:"Side of the profile: ${enum}." enum:"business,platform" default:"business"`
	viewFlags
	sourceFlags
	Format string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Run validates a payload. It reports faults of the payload as findings, and returns faults of the
// schemas as an error of composition.
func (c validateCmd) Run(ctx context.Context, s streams) error {
	if c.Profile && c.Schema != "" {
		return usage(errors.New("--profile and --schema exclude each other"))
	}
	view, err := c.view()
	if err != nil {
		return err
	}
	d, err := c.open(ctx)
	if err != nil {
		return err
	}
	doc, err := schema.Read(c.Payload)
	if syntax := (*schema.SyntaxError)(nil); errors.As(err, &syntax) {
		f := lint.New("json-syntax", c.Payload, syntax.Reason)
		f.Line = max(syntax.Line, 1)
		return c.answer(s, []lint.Finding{f})
	}
	if err != nil {
		return failure{exitIO, "io", c.Payload, err}
	}
	if c.Profile || c.Schema == "" && isProfile(doc.Value) {
		found, err := c.profile(ctx, d, doc)
		if err != nil {
			return err
		}
		return c.answer(s, found)
	}
	problems, err := c.check(d, doc, view)
	if err != nil {
		return err
	}
	return c.answer(s, asFindings(doc, problems))
}

func (c validateCmd) check(d *desk, doc *schema.Document, view schema.View) ([]schema.Problem, error) {
	if c.Schema != "" {
		target, err := d.schema(c.Schema)
		if err != nil {
			return nil, err
		}
		if target.Pointer == "" && target.Resource != nil && view.Direction == "" && schema.IsContainer(target.Resource) {
			return nil, composition(c.Schema, errors.New("it is a container and has a shape for each operation and direction: give --request or --response, and --op"))
		}
		bundle, err := schema.Bundle(d.lib, target, view)
		if err != nil {
			return nil, composition(c.Schema, err)
		}
		formats := schema.AssertFormats
		if c.AnnotateFormats {
			formats = schema.AnnotateFormats
		}
		validator, err := schema.CompileBundleWith(bundle, formats)
		if err != nil {
			return nil, composition(c.Schema, err)
		}
		return validator.Check(doc.Value), nil
	}
	set, err := profile.Follow(d.lib, doc.Value)
	if errors.Is(err, profile.ErrSilent) {
		return nil, usage(fmt.Errorf("%s: %w; give --schema", c.Payload, err))
	}
	if err != nil {
		return nil, composition(c.Payload, err)
	}
	if view.Direction == "" {
		view = schema.View{Direction: schema.Response}.DefaultOperation()
	}
	problems, err := set.Check(d.lib, doc.Value, view)
	if err != nil {
		return nil, composition(c.Payload, err)
	}
	return problems, nil
}

// profile checks the conventions first, and the schema only if they are met, so no fault is
// reported twice.
func (c validateCmd) profile(ctx context.Context, d *desk, doc *schema.Document) ([]lint.Finding, error) {
	report, err := lint.Document(ctx, doc, lint.Options{Published: d.published, Library: d.lib, As: lint.Side(c.As)})
	if err != nil {
		return nil, err
	}
	if report.Failed(false) {
		return report.Findings, nil
	}
	profiles, err := profile.NewChecker(d.published)
	if err != nil {
		return nil, err
	}
	check := profiles.Business
	if c.As == "platform" {
		check = profiles.Platform
	}
	return asFindings(doc, check(doc.Value)), nil
}

// isProfile distinguishes a profile from a response that has a ucp member among others.
func isProfile(value any) bool {
	object, _ := value.(map[string]any)
	ucp, _ := object["ucp"].(map[string]any)
	return len(object) == 1 && ucp["services"] != nil
}

func asFindings(doc *schema.Document, problems []schema.Problem) (found []lint.Finding) {
	if len(problems) == 0 {
		return nil
	}
	lines := doc.Lines()
	for _, p := range problems {
		f := lint.New("payload-invalid", doc.File, p.Message)
		f.Pointer, f.Line = p.Pointer, lines.Of(p.Pointer)
		found = append(found, f)
	}
	return found
}

func (c validateCmd) answer(s streams, found []lint.Finding) error {
	if err := (lint.Report{Findings: found, Files: 1}).Write(s.out, c.Format); err != nil {
		return err
	}
	if len(found) > 0 {
		return findings()
	}
	return nil
}
