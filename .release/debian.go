package main

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

//go:embed debian
var debian embed.FS

const description = `server for live workshops
 Codelabs in Markdown that a room works through together in the browser: chat,
 a help queue, polls, quizzes, certificates. One program with its own
 store; a load generator is included.`

// packages makes one package for Debian and Ubuntu per processor architecture: the server as a
// service, and the load generator.
func (r *release) packages() error {
	for _, machine := range r.machines() {
		if err := r.debianPackage(machine); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) debianPackage(machine string) error {
	contents, err := r.packaged(machine)
	if err != nil {
		return err
	}
	scripts := map[string]string{}
	for _, name := range []string{"postinst", "prerm", "postrm"} {
		b, err := debian.ReadFile("debian/" + name)
		if err == nil {
			scripts[name], err = r.scratch(machine+"-"+name, b)
		}
		if err != nil {
			return err
		}
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "atelier", Arch: machine, Platform: "linux", Version: debianVersion(r.version), VersionSchema: "none",
		Section: "web", Priority: "optional", Maintainer: "The Atelier authors <atelier@localhost>", Description: description,
		License: "MIT", MTime: r.date, DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Contents:   contents,
			Depends:    []string{"passwd", "init-system-helpers"},
			Recommends: []string{"ca-certificates"},
			Suggests:   []string{"caddy"},
			Scripts:    nfpm.Scripts{PostInstall: scripts["postinst"], PreRemove: scripts["prerm"], PostRemove: scripts["postrm"]},
			Deb:        nfpm.Deb{Compression: "gzip:9"},
		},
	})
	if err := nfpm.PrepareForPackager(info, "deb"); err != nil {
		return err
	}
	// The file name contains the plain version, because some forges replace the ~ of Debian
	// versions.
	return r.create(fmt.Sprintf("atelier_%s_%s.deb", r.version, machine), func(w io.Writer) error {
		return deb.Default.Package(info, w)
	})
}

// debianVersion writes a pre-release with a ~, so that it sorts before the release.
func debianVersion(version string) string {
	base, dev, ok := strings.Cut(version, "-")
	if !ok {
		return version
	}
	return base + "~" + strings.ReplaceAll(dev, "-", ".")
}

// packaged returns the files of the package.
func (r *release) packaged(machine string) (files.Contents, error) {
	var all files.Contents
	add := func(kind, from, to string, mode os.FileMode) {
		all = append(all, &files.Content{Type: kind, Source: from, Destination: to,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.date}})
	}
	made := func(kind, to string, mode os.FileMode, text []byte) error {
		from, err := r.scratch(machine+strings.ReplaceAll(to, "/", "-"), text)
		add(kind, from, to, mode)
		return err
	}
	platform := "linux/" + machine
	add(files.TypeFile, r.program(platform, "atelier"), "/usr/bin/atelier", 0o755)
	add(files.TypeFile, r.program(platform, "atelier-bench"), "/usr/bin/atelier-bench", 0o755)
	add(files.TypeDir, "", "/etc/atelier", 0o750)
	config, err := debian.ReadFile("debian/config.toml")
	if err != nil {
		return nil, err
	}
	if err := made(files.TypeConfig, "/etc/atelier/config.toml", 0o640, config); err != nil {
		return nil, err
	}
	for _, unit := range units {
		text, err := os.ReadFile(r.deploy(unit))
		if err != nil {
			return nil, err
		}
		if err := made(files.TypeFile, "/usr/lib/systemd/system/"+unit, 0o644, packagedUnit(text)); err != nil {
			return nil, err
		}
	}
	// Minimal systems do not install /usr/share/doc, so files that people need go into
	// /usr/share/atelier.
	const doc, share = "/usr/share/doc/atelier/", "/usr/share/atelier/"
	add(files.TypeFile, filepath.Join(r.root, "LICENSE"), doc+"copyright", 0o644)
	add(files.TypeFile, filepath.Join(r.root, "config.toml"), share+"config.toml", 0o644)
	entries := make([]entry, len(samples))
	for i, sample := range samples {
		entries[i] = entry{name: sample, file: r.deploy(sample)}
	}
	if err := unlink(entries); err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.file != "" {
			add(files.TypeFile, e.file, share+e.name, 0o644)
		} else if err := made(files.TypeFile, share+e.name, 0o644, e.text); err != nil {
			return nil, err
		}
	}
	for _, f := range [][2]string{{"NOTICE.gz", r.artifact("NOTICE")}, {"changelog.gz", filepath.Join(r.root, "CHANGELOG.md")}} {
		text, err := os.ReadFile(f[1])
		if err != nil {
			return nil, err
		}
		if filepath.Ext(f[1]) == ".md" {
			text = withLinks(text, func(string) bool { return false })
		}
		var small bytes.Buffer
		err = zipped(&small, func(w io.Writer) error { _, err := w.Write(text); return err })
		if err == nil {
			err = made(files.TypeFile, doc+f[0], 0o644, small.Bytes())
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// packagedUnit returns a unit for the package's program, without the instructions above the first
// section.
func packagedUnit(text []byte) []byte {
	if at := bytes.Index(text, []byte("[Unit]")); at > 0 {
		text = text[at:]
	}
	return bytes.ReplaceAll(text, []byte("/usr/local/bin/"), []byte("/usr/bin/"))
}

// scratch writes a text to a file next to the built programs.
func (r *release) scratch(name string, text []byte) (string, error) {
	path := filepath.Join(r.work, name)
	return path, os.WriteFile(path, text, 0o644)
}
