package main

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/CycloneDX/cyclonedx-gomod/pkg/generate/bin"
	"github.com/rs/zerolog"
)

// bill writes the components of a program in the format CycloneDX. It reads the Go modules from the
// binary. For the server it adds the packages of the app. more contains other modules that are part
// of the artifact. The bill contains no serial number and no time, so that the same program always
// has the same bill.
func (r *release) bill(found *parts, platform, program, name string, more ...part) error {
	quiet := zerolog.Nop()
	generator, err := bin.NewGenerator(r.program(platform, program), bin.WithLogger(quiet), bin.WithIncludeStdlib(true),
		bin.WithLicenseDetector(newDetector()), bin.WithVersionOverride("v"+r.version))
	if err != nil {
		return err
	}
	bom, err := generator.Generate()
	if err != nil {
		return err
	}
	bom.Metadata.Component.Name = program
	ofPlatform(bom, platform)
	if program == "atelier" {
		for _, p := range found.packages {
			c, err := npmComponent(p)
			if err != nil {
				return err
			}
			*bom.Components = append(*bom.Components, c)
		}
	}
	for _, p := range more {
		c, err := component(p, "pkg:golang/"+p.name+"@"+p.version+"?type=module")
		if err != nil {
			return err
		}
		*bom.Components = append(*bom.Components, c)
	}
	return r.create(name, func(w io.Writer) error {
		return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	})
}

// ofPlatform corrects the platform in the package URLs of modules. The generator writes the
// platform of its own machine instead of the program's.
func ofPlatform(bom *cdx.BOM, platform string) {
	system, machine, _ := strings.Cut(platform, "/")
	correct := func(c *cdx.Component) {
		at, query, ok := strings.Cut(c.PackageURL, "?")
		if !ok {
			return
		}
		query, subpath, _ := strings.Cut(query, "#")
		parts := strings.Split(query, "&")
		for i, part := range parts {
			switch name, _, _ := strings.Cut(part, "="); name {
			case "goos":
				parts[i] = "goos=" + system
			case "goarch":
				parts[i] = "goarch=" + machine
			}
		}
		c.PackageURL = at + "?" + strings.Join(parts, "&")
		if subpath != "" {
			c.PackageURL += "#" + subpath
		}
	}
	correct(bom.Metadata.Component)
	for i := range *bom.Components {
		correct(&(*bom.Components)[i])
	}
}

// npmComponent returns the component for a package from npm.
func npmComponent(p part) (cdx.Component, error) {
	c, err := component(p, "pkg:npm/"+strings.Replace(p.name, "@", "%40", 1)+"@"+p.version)
	if group := path.Dir(p.name); group != "." {
		c.Group, c.Name = group, path.Base(p.name)
	}
	return c, err
}

// component returns the component for a part, with its licence.
func component(p part, purl string) (cdx.Component, error) {
	c := cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: purl, Name: p.name, Version: p.version, PackageURL: purl, Scope: cdx.ScopeRequired}
	// A few packages include the text of their licence without its name.
	if expression, err := named(p.dir); err == nil {
		c.Licenses = &cdx.Licenses{{Expression: expression}}
		return c, nil
	}
	found, err := newDetector().Detect(p.name, p.version, p.dir)
	if err == nil && len(found) == 0 {
		err = errors.New("its licence is unknown")
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w", p.name, err)
	}
	c.Licenses = &cdx.Licenses{{License: &found[0]}}
	return c, nil
}
