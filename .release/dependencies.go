package main

import (
	"bytes"
	"cmp"
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/CycloneDX/cyclonedx-gomod/pkg/licensedetect"
	"github.com/CycloneDX/cyclonedx-gomod/pkg/licensedetect/local"
	"github.com/rs/zerolog"
)

// dependenciesPage has the reason for each module. Two of its tables are generated, each between
// the lines madeBegins and madeEnds.
const (
	dependenciesPage = "DEPENDENCIES.md"
	madeBegins       = "<!-- made by make dependencies: %s -->\n"
	madeEnds         = "<!-- end -->\n"
)

// required is a module of go.mod.
type required struct {
	path, version, dir string
	direct             bool
}

// requirements returns the modules of go.mod, sorted by path.
func (r *release) requirements() (out []required, err error) {
	text, err := output(r.root, "go", "list", "-m", "-f", "{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{.Indirect}}{{end}}", "all")
	if err != nil {
		return nil, err
	}
	listed, err := os.ReadFile(filepath.Join(r.root, "go.mod"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		// The graph of all modules also contains modules from which no package is compiled.
		if len(f) == 4 && bytes.Contains(listed, []byte("\t"+f[0]+" "+f[1])) {
			out = append(out, required{f[0], f[1], f[2], f[3] != "true"})
		}
	}
	return out, nil
}

// detector identifies the licence of a module by its text.
type detector struct{ licensedetect.Detector }

func newDetector() detector { return detector{local.NewDetector(zerolog.Nop())} }

// Detect corrects the licence of Go's own modules: the library reports a rare variant of it.
func (d detector) Detect(path, version, dir string) ([]cdx.License, error) {
	found, err := d.Detector.Detect(path, version, dir)
	for i := range found {
		if found[i].ID == "BSD-Source-Code" {
			found[i].ID = "BSD-3-Clause"
		}
	}
	return found, err
}

// licenceOf returns the SPDX identifier of a module's licence.
func licenceOf(m required) (string, error) {
	if m.dir == "" {
		return "", fmt.Errorf("the module %s was not downloaded", m.path)
	}
	found, err := newDetector().Detect(m.path, m.version, m.dir)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0].ID, nil
}

// writeDependencies rewrites the tables of the page.
func (r *release) writeDependencies() error {
	path := filepath.Join(r.root, dependenciesPage)
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	indirect, err := r.indirect()
	if err != nil {
		return err
	}
	sizes, err := r.sizes()
	if err != nil {
		return err
	}
	for name, table := range map[string]string{"indirect": indirect, "sizes": sizes} {
		begin := fmt.Sprintf(madeBegins, name)
		before, rest, ok := bytes.Cut(page, []byte(begin))
		_, after, ok2 := bytes.Cut(rest, []byte(madeEnds))
		if !ok || !ok2 {
			return fmt.Errorf("%s does not contain the lines around the table %q", dependenciesPage, name)
		}
		page = slices.Concat(before, []byte(begin+"\n"+table+"\n"+madeEnds), after)
	}
	return os.WriteFile(path, page, 0o644)
}

// indirect returns the table of indirect modules: their licence, and the programs that contain
// parts of them.
func (r *release) indirect() (string, error) {
	modules, err := r.requirements()
	if err != nil {
		return "", err
	}
	in := map[string][]string{}
	for _, program := range programs {
		out, err := r.goCommand("linux/amd64", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./cmd/"+program).Output()
		if err != nil {
			return "", err
		}
		lines := strings.Fields(string(out))
		slices.Sort(lines)
		for _, m := range slices.Compact(lines) {
			in[m] = append(in[m], program)
		}
	}
	var b strings.Builder
	var rest []string
	b.WriteString("| Module | Licence | In |\n|---|---|---|\n")
	for _, m := range modules {
		switch {
		case m.direct:
		case in[m.path] == nil:
			rest = append(rest, "`"+m.path+"`")
		default:
			licence, err := licenceOf(m)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", m.path, cmp.Or(licence, "see NOTICE"), strings.Join(in[m.path], ", "))
		}
	}
	fmt.Fprintf(&b, "\nFor tests and tools alone: %s.\n", strings.Join(rest, ", "))
	return b.String(), nil
}

// least is the minimum size, in bytes, of a part with a separate row in the table of sizes.
const least = 200_000

// sizes returns the table with the sizes of the server's parts. The size of a part is the sum of
// its code, its constants, and a share of the data without names (tables of the runtime, types and
// strings). The name of a symbol shows the part to which it belongs.
func (r *release) sizes() (string, error) {
	with := filepath.Join(r.work, "with-symbols")
	if err := r.goCommand("linux/amd64", "build", "-trimpath", "-buildvcs=false", "-o", with, "./cmd/atelier").Run(); err != nil {
		return "", err
	}
	f, err := elf.Open(with)
	if err != nil {
		return "", err
	}
	defer f.Close()
	total := uint64(0) // size of a stripped binary
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS && s.Flags&elf.SHF_ALLOC != 0 {
			total += s.Size
		}
	}
	app, err := folderSize(filepath.Join(r.root, "transport/web/built"))
	if err != nil {
		return "", err
	}
	modules, err := r.requirements()
	if err != nil {
		return "", err
	}
	symbols, err := f.Symbols()
	if err != nil {
		return "", err
	}
	code, constants := map[string]uint64{}, map[string]uint64{}
	sum := app
	for _, s := range symbols {
		if int(s.Section) >= len(f.Sections) || s.Name == "runtime.pclntab" {
			continue
		}
		section := f.Sections[s.Section]
		keeper := keeperOf(s.Name, modules)
		switch {
		case section.Name == ".text":
			code[keeper] += s.Size
		case section.Type != elf.SHT_NOBITS && keeper != standard:
			constants[keeper] += s.Size
		default:
			continue
		}
		sum += s.Size
	}
	all := uint64(0)
	for _, n := range code {
		all += n
	}
	rest := float64(total - sum)
	type row struct {
		name string
		size uint64
	}
	rows := []row{{"the browser app, compressed", app}}
	little := row{"everything else", 0}
	for keeper, n := range code {
		size := n + constants[keeper] + uint64(rest*float64(n)/float64(all))
		if size < least {
			little.size += size
			continue
		}
		rows = append(rows, row{keeper, size})
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(b.size, a.size), strings.Compare(a.name, b.name)) })
	var b strings.Builder
	b.WriteString("| Part | MB |\n|---|---|\n")
	for _, x := range append(rows, little, row{"**all**", total}) {
		fmt.Fprintf(&b, "| %s | %.1f |\n", x.name, float64(x.size)/1e6)
	}
	return b.String(), nil
}

const standard = "Go's runtime and library"

// keeperOf returns the part to which a symbol belongs: the project's own code, the host and owner
// of a module, or Go's own code.
func keeperOf(symbol string, modules []required) string {
	symbol = strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(symbol, "type:.eq."), "go:itab."), "*")
	if strings.HasPrefix(symbol, "atelier/") {
		return "Atelier's own code"
	}
	for _, m := range modules {
		if rest, ok := strings.CutPrefix(symbol, m.path); ok && rest != "" && (rest[0] == '.' || rest[0] == '/') {
			f := strings.SplitN(m.path, "/", 3)
			return strings.Join(f[:min(2, len(f))], "/")
		}
	}
	return standard
}

func folderSize(dir string) (size uint64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += uint64(info.Size())
		}
		return err
	})
	return size, err
}
