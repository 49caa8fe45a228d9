package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// app is the folder of the repository where the browser app's packages are installed.
const app = "transport/web/app"

// part is a module or package, with the folder that contains its licence.
type part struct{ name, version, dir string }

// parts contains everything in the artifacts besides the project's own code.
type parts struct {
	modules  []part // Go modules in a program for any of the platforms
	packages []part // npm packages in the browser app
	others   []part // Go itself, and data
	roots    part   // the certificates of the images, also in others
}

// findParts asks Go for the imports of the programs on each platform, and reads the dependencies of
// the installed app.
func (r *release) findParts() (*parts, error) {
	p := &parts{}
	for _, platform := range r.platforms {
		args := []string{"list", "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}"}
		for _, c := range programs {
			args = append(args, "./cmd/"+c)
		}
		out, err := r.goCommand(platform, args...).Output()
		if err != nil {
			return nil, fmt.Errorf("list modules: %w", err)
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Split(strings.TrimSpace(line), "\t")
			if len(f) == 3 && f[1] != "" { // the project's own module has no version
				p.modules = append(p.modules, part{f[0], f[1], f[2]})
			}
		}
	}
	slices.SortFunc(p.modules, byName)
	p.modules = slices.Compact(p.modules)
	var err error
	if p.packages, err = npmPackages(r.root); err != nil {
		return nil, err
	}
	// The images contain the root certificates, but no program imports them.
	roots, err := output(filepath.Join(r.root, ".release"), "go", "list", "-m", "-f", "{{.Version}}\t{{.Dir}}", rootsModule)
	if err != nil {
		return nil, err
	}
	version, dir, _ := strings.Cut(roots, "\t")
	p.roots = part{rootsModule, version, dir}
	p.others = []part{
		{"Go", r.goVersion, r.goRoot},
		p.roots,
		{"Unicode security data", "15.0", filepath.Join(r.root, "actors/naming/unicode")},
	}
	return p, nil
}

func byName(a, b part) int {
	return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.version, b.version), strings.Compare(a.dir, b.dir))
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// rootsModule is the module with the root certificates of the images.
const rootsModule = "golang.org/x/crypto/x509roots/fallback"

// leavesCode is the package that builds the app. It is not a dependency of the app, but adds some
// of its own code to the app.
const leavesCode = "rolldown"

// npmPackages returns the packages with code in the app: its direct and indirect dependencies, and
// leavesCode.
func npmPackages(root string) (out []part, err error) {
	b, err := os.ReadFile(filepath.Join(root, app, "package-lock.json"))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version  string
			Dev      bool
			Optional bool
		}
	}
	if err := json.Unmarshal(b, &lock); err != nil {
		return nil, fmt.Errorf("read the lock file: %w", err)
	}
	for path, p := range lock.Packages {
		// A package can be nested in another that needs its own version.
		_, name, ok := cutLast(path, "node_modules/")
		if ok && !p.Optional && (!p.Dev || name == leavesCode) {
			out = append(out, part{name, p.Version, filepath.Join(root, app, path)})
		}
	}
	slices.SortFunc(out, byName)
	return out, nil
}

// writeNotice makes NOTICE, with the licences of everything in the binaries.
func (r *release) writeNotice(found *parts) error {
	return r.create("NOTICE", func(w io.Writer) error {
		return notice(w, slices.Concat(found.others, found.modules, found.packages)...)
	})
}

// notice writes the licences of parts.
func notice(w io.Writer, all ...part) error {
	for _, p := range all {
		text, err := licence(p.dir)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if _, err := fmt.Fprintf(w, "%s\n%s %s\n\n%s\n\n", strings.Repeat("-", 78), p.name, p.version, strings.TrimSpace(text)); err != nil {
			return err
		}
	}
	return nil
}

// licence returns the text of the licences and notices in a folder.
func licence(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") && !strings.HasPrefix(name, "NOTICE") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%s\n\n", bytes.TrimSpace(b))
	}
	if out.Len() > 0 {
		return out.String(), nil
	}
	// Some packages name their licence without its text.
	name, err := named(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("its folder contains no licence")
	}
	return "Licence: " + name, err
}

// named returns the licence that an npm package states, as an SPDX expression.
func named(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return "", err
	}
	var manifest struct{ License string }
	if err := json.Unmarshal(b, &manifest); err != nil {
		return "", err
	}
	if manifest.License == "" {
		return "", errors.New("its package.json states no licence")
	}
	return manifest.License, nil
}
