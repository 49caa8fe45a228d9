package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"atelier/transport/commerce/negotiate"
	"atelier/transport/commerce/profile"
	"atelier/transport/commerce/schema"
)

type negotiateCmd struct {
	Platform string   `arg:"" help:"Profile of the platform."`
	Business string   `arg:"" help:"Profile of the business."`
	Want     []string `placeholder:"NAME=VERSION" sep:"none" help:"Version that the platform requests. Repeatable."`
	Format   string   `help:"Output format: ${enum}." enum:"text,json" default:"text"`
	sourceFlags
}

// Run negotiates. It prints the result or the refusal on stdout.
func (c negotiateCmd) Run(ctx context.Context, s streams) error {
	want, err := parseWant(c.Want)
	if err != nil {
		return usage(err)
	}
	result, err := c.agree(ctx, want)
	if e := (*negotiate.Error)(nil); errors.As(err, &e) {
		if err := writeRefusal(s.out, c.Format, e); err != nil {
			return err
		}
		return findings()
	}
	if err != nil {
		return err
	}
	return writeResult(s.out, c.Format, result)
}

func (c negotiateCmd) agree(ctx context.Context, want map[string]string) (*negotiate.Result, error) {
	platform, err := c.profile(ctx, c.Platform)
	if err != nil {
		return nil, err
	}
	business, err := c.profile(ctx, c.Business)
	if err != nil {
		return nil, err
	}
	b, err := profile.Parse(business)
	if err != nil {
		return nil, &negotiate.Error{Code: negotiate.ProfileMalformed, Content: "business profile: " + err.Error()}
	}
	d, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	for _, place := range []string{c.Platform, c.Business} {
		if strings.Contains(place, "://") {
			continue
		}
		// The schemas of a profile are often in the same folder.
		if err := d.lib.AddFolder(filepath.Dir(place)); err != nil {
			return nil, failure{exitIO, "io", filepath.Dir(place), err}
		}
	}
	return negotiate.Agree(ctx, platform, b, want, negotiate.Options{Library: d.lib, Fetcher: fetcher(c.Remote)})
}

func (c negotiateCmd) profile(ctx context.Context, place string) (any, error) {
	if c.Remote && strings.Contains(place, "://") {
		return negotiate.Fetch(ctx, place, fetcher(true))
	}
	doc, err := read(ctx, place, c.Remote)
	if syntax := (*schema.SyntaxError)(nil); errors.As(err, &syntax) {
		return nil, &negotiate.Error{Code: negotiate.ProfileMalformed, Content: err.Error()}
	}
	if err != nil {
		return nil, err
	}
	return doc.Value, nil
}

func parseWant(list []string) (map[string]string, error) {
	want := map[string]string{}
	for _, item := range list {
		name, version, ok := strings.Cut(item, "=")
		if !ok {
			return nil, fmt.Errorf("--want %s: want NAME=VERSION", item)
		}
		if err := negotiate.CheckWant(name, version); err != nil {
			return nil, fmt.Errorf("--want %s: %w", item, err)
		}
		if other, twice := want[name]; twice && other != version {
			return nil, fmt.Errorf("--want: %s is requested in two versions", name)
		}
		want[name] = version
	}
	return want, nil
}

func writeRefusal(w io.Writer, format string, e *negotiate.Error) error {
	if format == "json" {
		return writeJSON(w, e)
	}
	_, err := fmt.Fprintf(w, "no agreement: %s\n", e)
	return err
}

func writeResult(w io.Writer, format string, r *negotiate.Result) error {
	if format == "json" {
		return writeJSON(w, r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "protocol %s\n", r.Version)
	for _, part := range []struct {
		title  string
		chosen map[string][]negotiate.Chosen
	}{{"capability", r.Capabilities}, {"service", r.Services}, {"payment handler", r.PaymentHandlers}} {
		for _, name := range slices.Sorted(maps.Keys(part.chosen)) {
			for _, e := range part.chosen[name] {
				line := strings.Join([]string{part.title, name, e.Version, e.Transport, e.ID, e.Endpoint}, " ")
				fmt.Fprintln(&b, strings.Join(strings.Fields(line), " "))
			}
		}
	}
	for _, d := range r.Dropped {
		fmt.Fprintf(&b, "dropped %s: %s\n", d.Name, d.Reason)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeJSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(v)
}
