// Command notice writes the licences of everything that is in the binaries: of
// the Go modules that they import, of the packages in the browser app, and of data.
//
//	go run atelier/cmd/internal/notice > NOTICE
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// app is where the browser app's packages are installed.
const app = "transport/web/app"

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "notice:", err)
		os.Exit(1)
	}
}

// part is one module or package.
type part struct{ name, version, dir string }

func write(w io.Writer) error {
	modules, err := goModules()
	if err != nil {
		return err
	}
	packages, err := npmPackages()
	if err != nil {
		return err
	}
	data := []part{{"Unicode security data", "15.0", "actors/naming/unicode"}}
	for _, p := range slices.Concat(modules, packages, data) {
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

// goModules are those that the commands import from.
func goModules() (out []part, err error) {
	b, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}",
		"./cmd/atelier", "./cmd/atelier-bench", "./cmd/commerce").Output()
	if err != nil {
		return nil, fmt.Errorf("list modules: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	slices.Sort(lines)
	for _, l := range slices.Compact(lines) {
		if f := strings.Split(l, "\t"); len(f) == 3 && f[1] != "" { // this module has no version
			out = append(out, part{f[0], f[1], f[2]})
		}
	}
	return out, nil
}

// npmPackages are those that the app depends on, as they are installed.
func npmPackages() (out []part, err error) {
	b, err := os.ReadFile(filepath.Join(app, "package-lock.json"))
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
		if name, ok := strings.CutPrefix(path, "node_modules/"); ok && !p.Dev && !p.Optional {
			out = append(out, part{name, p.Version, filepath.Join(app, path)})
		}
	}
	slices.SortFunc(out, func(a, b part) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// licence is the text of a folder's licences and notices.
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
	// Some packages name their licence and do not bring its text.
	b, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("it brings no licence")
	}
	var manifest struct{ License string }
	if err == nil {
		err = json.Unmarshal(b, &manifest)
	}
	if err == nil && manifest.License == "" {
		err = errors.New("it names no licence")
	}
	return "Licence: " + manifest.License, err
}
