package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"io"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const repository = ".."

// dist returns the folder with the artifacts that "make release" has made. Without artifacts, dist
// skips the test.
func dist(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(repository, "dist"))
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "SHA256SUMS"))
	}
	if err != nil {
		t.Skip("there are no artifacts to test; run make release first")
	}
	return dir
}

// missing skips a test because this machine lacks something, or fails the test if NEED_PROGRAMS is
// set.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("NEED_PROGRAMS") != "" {
		t.Fatalf("%s is missing", what)
	}
	t.Skipf("%s is missing", what)
}

// one returns the path of the only artifact whose name matches a pattern.
func one(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dist(t), pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s matches the artifacts %q, want one; %v", pattern, found, err)
	}
	return found[0]
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// execute runs a command and returns its output.
func execute(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	// If make runs the tests, its variables must not affect a make that a test runs.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS") || strings.HasPrefix(v, "REPORT=")
	})
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// unpacked unpacks each archive, and returns the folders of the programs.
func unpacked(t *testing.T) (dirs []string) {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join(dist(t), "*.tar.gz"))
	if err != nil || len(archives) < 8 {
		t.Fatalf("the archives are %q, %v", archives, err)
	}
	to := t.TempDir()
	for _, path := range archives {
		execute(t, to, "tar", "-xzf", path)
		dirs = append(dirs, filepath.Join(to, strings.TrimSuffix(filepath.Base(path), ".tar.gz")))
	}
	return dirs
}

// program returns the path of the program in the folder of an archive. The name of the folder
// begins with the name of the program.
func program(dir string) string {
	name := filepath.Base(dir)
	for _, p := range []string{"atelier-bench", "atelier", "commerce"} {
		if strings.HasPrefix(name, p+"-") {
			return filepath.Join(dir, p)
		}
	}
	return ""
}

// The test makes all artifacts again in another folder, and compares them.
func TestTheSameSourcesGiveTheSameBytes(t *testing.T) {
	if os.Getenv("LONG_TESTS") == "" {
		t.Skip("only in long runs, because the test makes a whole release")
	}
	first, copied := dist(t), filepath.Join(t.TempDir(), "elsewhere")
	execute(t, repository, "git", "clone", "--quiet", "--no-hardlinks", ".", copied)
	// The copy includes uncommitted changes, so that the test can be run before a commit.
	changed := strings.Fields(execute(t, repository, "git", "ls-files", "-mo", "--exclude-standard", "--full-name", ":/"))
	for _, name := range changed {
		from, to := filepath.Join(repository, name), filepath.Join(copied, name)
		if _, err := os.Stat(from); err != nil {
			_ = os.Remove(to)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		execute(t, ".", "cp", "-p", from, to)
	}
	execute(t, repository, "cp", "-a", app+"/node_modules", filepath.Join(copied, app)+"/")
	execute(t, copied, "make", "release")
	second := filepath.Join(copied, "dist")
	entries, err := os.ReadDir(first)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		a, err := hash(filepath.Join(first, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := hash(filepath.Join(second, e.Name())); err != nil || a != b {
			t.Errorf("%s is not the same in another folder: %v", e.Name(), err)
		}
	}
	if again, err := os.ReadDir(second); err != nil || len(again) != len(entries) {
		t.Errorf("there are %d artifacts, and %d in another folder: %v", len(entries), len(again), err)
	}
}

// The test verifies the checksums with sha256sum.
func TestEveryArtifactHasAChecksum(t *testing.T) {
	dir := dist(t)
	checked := execute(t, dir, "sha256sum", "--check", "--strict", "SHA256SUMS")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "SHA256SUMS" && !strings.Contains(checked, e.Name()+": OK\n") {
			t.Errorf("%s has no checksum", e.Name())
		}
	}
}

// All files in an archive belong to root and have the same time. Only their owner can write them.
// Nothing reveals who made the archive, or when.
func TestArchivesDoNotRevealTheirMaker(t *testing.T) {
	archives, err := filepath.Glob(filepath.Join(dist(t), "*.tar.gz"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("the archives are %q: %v", archives, err)
	}
	for _, path := range archives {
		z := unzipped(t, read(t, path))
		if !z.ModTime.IsZero() || z.Name != "" {
			t.Errorf("%s was compressed at %s as %q", path, z.ModTime, z.Name)
		}
		dates := map[int64]bool{}
		for h := range entriesOf(t, z) {
			dates[h.ModTime.UnixNano()] = true
			if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Mode&0o022 != 0 {
				t.Errorf("%s: %s belongs to %d %q, mode %o", path, h.Name, h.Uid, h.Uname, h.Mode)
			}
		}
		if len(dates) != 1 {
			t.Errorf("%s: the files have %d different times, want one", path, len(dates))
		}
	}
}

// The programs for this machine's platform run, and print their version and commit. No program
// contains the path of the folder in which it was built.
func TestProgramsPrintTheirVersion(t *testing.T) {
	var made provenance
	if err := json.Unmarshal(read(t, filepath.Join(dist(t), "provenance.json")), &made); err != nil {
		t.Fatal(err)
	}
	if len(made.Commit) != 40 || made.Go == "" || made.Node == "" || len(made.Inputs) != len(inputs) {
		t.Errorf("the provenance is %+v", made)
	}
	for _, in := range made.Inputs {
		if sum, err := hash(filepath.Join(repository, in.Path)); err != nil || sum != in.SHA256 {
			t.Errorf("the hash of %s differs from the provenance: %v", in.Path, err)
		}
	}
	root, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, dir := range unpacked(t) {
		path := program(dir)
		if bytes.Contains(read(t, path), []byte(root)) {
			t.Errorf("the program in %s contains the path %s", dir, root)
		}
		if !strings.HasSuffix(dir, "-"+runtime.GOOS+"-"+runtime.GOARCH) {
			continue
		}
		ran++
		args := []string{"version"}
		if filepath.Base(path) == "commerce" {
			args = []string{"--help"} // commerce has no command version
		}
		if said := execute(t, dir, path, args...); args[0] == "version" && (!strings.Contains(said, made.Version) || !strings.Contains(said, made.Commit[:12])) {
			t.Errorf("%s printed the version %q", path, said)
		}
		if runtime.GOOS == "linux" {
			f, err := elf.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if libs, err := f.ImportedLibraries(); err != nil || len(libs) > 0 {
				t.Errorf("%s needs the libraries %q, %v", path, libs, err)
			}
			_ = f.Close()
		}
	}
	if ran == 0 {
		t.Errorf("no program is for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
}

// NOTICE has a section for each module and package in the programs. The test reads the modules from
// the binaries, and the packages from the source maps of the app.
func TestNoLicenceIsMissing(t *testing.T) {
	sections := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^-{78}\n(.+)\n\n`).FindAllSubmatch(read(t, filepath.Join(dist(t), "NOTICE")), -1) {
		sections[string(m[1])] = true
	}
	for _, dir := range unpacked(t) {
		info, err := buildinfo.ReadFile(program(dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range info.Deps {
			if !sections[m.Path+" "+m.Version] {
				t.Errorf("%s %s is in %s, but not in NOTICE", m.Path, m.Version, filepath.Base(dir))
			}
		}
		if !sections["Go "+info.GoVersion] {
			t.Errorf("NOTICE lacks the licence of %s", info.GoVersion)
		}
	}
	for name, version := range bundled(t) {
		if !sections[name+" "+version] {
			t.Errorf("%s %s is in the app, but not in NOTICE", name, version)
		}
	}
}

// The root certificates come from a module that no program imports. TestNoLicenceIsMissing
// therefore does not find this module in the binaries.
func TestNoticeHasTheLicenceOfTheRootCertificates(t *testing.T) {
	r := &release{root: repository, into: t.TempDir(), goVersion: "go1", goRoot: strings.TrimSpace(execute(t, repository, "go", "env", "GOROOT"))}
	found, err := r.findParts()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.writeNotice(found); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^golang\.org/x/crypto/x509roots/fallback v\S+\n\nCopyright`).Match(read(t, r.artifact("NOTICE"))) {
		t.Error("the root certificates of the image have no licence in NOTICE")
	}
}

// bundled returns the versions of the packages whose code is in the app, by name. It reads the
// names from the app's source maps.
func bundled(t *testing.T) map[string]string {
	t.Helper()
	if _, err := exec.LookPath("npx"); err != nil {
		missing(t, "Node")
	}
	source, out := filepath.Join(repository, app), t.TempDir()
	execute(t, source, "npx", "vite", "build", "--sourcemap", "--logLevel", "error", "--outDir", out, "--emptyOutDir")
	execute(t, source, "npx", "vite", "build", "--config", "vite.diagram.config.ts", "--sourcemap", "--logLevel", "error", "--outDir", out)
	found := map[string]string{}
	inPackage := regexp.MustCompile(`^.*node_modules/((?:@[^/]+/)?[^/]+)/`)
	err := filepath.WalkDir(out, func(path string, _ fs.DirEntry, err error) error {
		if strings.Contains(path, "rolldown-runtime") {
			found["rolldown"] = packageVersion(t, filepath.Join(source, "node_modules/rolldown"))
		}
		if err != nil || !strings.HasSuffix(path, ".map") {
			return err
		}
		var maps struct{ Sources []string }
		if err := json.Unmarshal(read(t, path), &maps); err != nil {
			return err
		}
		for _, s := range maps.Sources {
			if m := inPackage.FindStringSubmatch(filepath.ToSlash(s)); m != nil && found[m[1]] == "" {
				found[m[1]] = packageVersion(t, filepath.Join(source, m[0][strings.Index(m[0], "node_modules"):]))
			}
		}
		return nil
	})
	if err != nil || len(found) < 30 {
		t.Fatalf("%d packages are in the app, %v", len(found), err)
	}
	return found
}

func packageVersion(t *testing.T, dir string) string {
	t.Helper()
	var manifest struct{ Version string }
	if err := json.Unmarshal(read(t, filepath.Join(dir, "package.json")), &manifest); err != nil {
		t.Fatal(err)
	}
	return manifest.Version
}

// A bill of materials lists every module in its binary. It contains no time and no serial number,
// because these would differ each time.
func TestBillsListTheModulesOfTheBinaries(t *testing.T) {
	for _, dir := range unpacked(t) {
		var bill struct {
			BOMFormat, SerialNumber string
			Metadata                struct{ Timestamp string }
			Components              []struct {
				PURL     string
				Licenses []any
				Evidence struct{ Licenses []any }
			}
		}
		name := filepath.Base(dir)
		if err := json.Unmarshal(read(t, filepath.Join(dist(t), name+".cdx.json")), &bill); err != nil {
			t.Fatal(err)
		}
		if bill.BOMFormat != "CycloneDX" || bill.SerialNumber != "" || bill.Metadata.Timestamp != "" {
			t.Errorf("%s: format %q, serial number %q, time %q", name, bill.BOMFormat, bill.SerialNumber, bill.Metadata.Timestamp)
		}
		named, packages := map[string]bool{}, 0
		for _, c := range bill.Components {
			purl, _, _ := strings.Cut(c.PURL, "?")
			named[purl] = true
			if strings.HasPrefix(purl, "pkg:npm/") {
				if packages++; len(c.Licenses) == 0 {
					t.Errorf("%s: %s has no licence", name, purl)
				}
			}
		}
		info, err := buildinfo.ReadFile(program(dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range info.Deps {
			if purl := "pkg:golang/" + m.Path + "@" + m.Version; !named[purl] {
				t.Errorf("the bill of %s does not list %s", name, purl)
			}
		}
		if server := strings.HasPrefix(name, "atelier-") && !strings.HasPrefix(name, "atelier-bench"); (packages > 0) != server {
			t.Errorf("the bill of %s lists %d packages of npm", name, packages)
		}
	}
}

// Users of a package or an archive start from the samples, so a release contains every sample. The
// exceptions are the Dockerfile, which needs the sources, and pages, which are in the program's
// handbook.
func TestEverySampleIsInARelease(t *testing.T) {
	listed := map[string]bool{"Dockerfile": true}
	for _, name := range slices.Concat(samples, units) {
		listed[name] = true
	}
	r := &release{root: repository}
	err := filepath.WalkDir(r.deploy("."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(r.deploy("."), path)
		page := filepath.Ext(name) == ".md" && !strings.Contains(name, "/")
		if !listed[name] && !page && !strings.HasSuffix(name, ".go") {
			t.Errorf("no package or archive contains the sample %s", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A link to a file that is only in the repository becomes text.
func TestPagesInAReleaseHaveNoDeadLinks(t *testing.T) {
	page := "[a](a.md#x), [b c](../b.md) and [self](#x), [away](https://example.org/), `[code](b.md)`\n```\n[code](b.md)\n```\n"
	want := strings.Replace(page, "[b c](../b.md)", "b c", 1)
	if got := string(withLinks([]byte(page), func(to string) bool { return to == "a.md" })); got != want {
		t.Errorf("the page is\n%s\nwant\n%s", got, want)
	}
	entries := []entry{
		{name: "README.md", file: filepath.Join(repository, "cmd/commerce/README.md")},
		{name: "CHANGELOG.md", file: filepath.Join(repository, "CHANGELOG.md")},
	}
	for _, sample := range samples {
		entries = append(entries, entry{name: "deploy/" + sample, file: filepath.Join(repository, "cmd/atelier/deploy", sample)})
	}
	if err := unlink(entries); err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, e := range entries {
		there[e.name] = true
	}
	kept := 0
	for _, e := range entries {
		for _, m := range linkOrCode.FindAllSubmatch(e.text, -1) {
			if to := string(m[2]); to != "" && !strings.Contains(to, ":") && !strings.HasPrefix(to, "#") {
				if kept++; !there[filepath.Join(filepath.Dir(e.name), to)] {
					t.Errorf("%s leads to %s, which is not in the archive", e.name, to)
				}
			}
		}
	}
	if kept < 3 {
		t.Errorf("only %d links were kept", kept)
	}
}

// The modules in a bill have the platform of the program, rather than the platform of the machine
// that made the bill.
func TestABillHasThePlatformOfItsProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "commerce")
	cmd := (&release{root: repository}).goCommand("darwin/arm64", "build", "-o", path, "./cmd/commerce")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	r := &release{work: t.TempDir(), into: t.TempDir(), version: "1.2.3"}
	if err := os.MkdirAll(filepath.Join(r.work, "darwin-arm64"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, r.program("darwin/arm64", "commerce")); err != nil {
		t.Fatal(err)
	}
	if err := r.bill(&parts{}, "darwin/arm64", "commerce", "bill.json"); err != nil {
		t.Fatal(err)
	}
	bill := bytes.ReplaceAll(read(t, r.artifact("bill.json")), []byte(`\u0026`), []byte("&"))
	purls := regexp.MustCompile(`"purl": "(pkg:golang/[^"]+)"`).FindAllSubmatch(bill, -1)
	if len(purls) < 5 {
		t.Fatalf("the bill lists only %d modules", len(purls))
	}
	for _, m := range purls {
		if purl := string(m[1]); !strings.Contains(purl, "goarch=arm64&goos=darwin&type=module") {
			t.Errorf("the bill of a program for darwin/arm64 lists %s", purl)
		}
	}
	if !bytes.Contains(bill, []byte("@v1.2.3?goarch=arm64&goos=darwin&type=module#cmd/commerce")) {
		t.Errorf("the bill does not list the program itself:\n%.600s", bill)
	}
}

// An invalid version, kind of artifact or platform is refused before the artifacts of the previous
// release are removed.
func TestInvalidArgumentsDoNotRemoveThePreviousRelease(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "release")
	execute(t, ".", "go", "build", "-o", tool, ".")
	into := t.TempDir()
	kept := filepath.Join(into, "kept")
	if err := os.WriteFile(kept, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "transport/web/built"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "transport/web/built/index.html"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused := func(want string, args ...string) {
		t.Helper()
		cmd := exec.Command(tool, append([]string{"-root", root, "-into", into}, args...)...)
		cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1800000000")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("with the arguments %q, the command returned %v\n%s", args, err, out)
		}
		if _, err := os.Stat(kept); err != nil {
			t.Fatalf("with the arguments %q, a file of the previous release was removed: %v", args, err)
		}
	}
	for _, version := range []string{"", "1.0", "v1.0.0", "01.0.0", "1.0.0; rm", "1.0.0 -X a=b", "../1.0.0", "1.0.0/2", "1.0.0-", "1.0.0-dev+a+b", "Unreleased"} {
		refused("want one like 1.2.3", "-version", version)
	}
	refused(`-only "packages": want one of`, "-version", "1.0.0", "-only", "packages")
	refused("want one like linux/amd64", "-version", "1.0.0", "-platforms", "linux/../amd64")
	for _, version := range []string{"1.0.0", "1.0.1-dev+f00ba12", "1.0.1-dev+f00ba12-dirty", "1.0.0-rc.1", "10.20.30-dev+unknown"} {
		if !versions.MatchString(version) {
			t.Errorf("the valid version %s is refused", version)
		}
	}
}

// The test compares the versions with dpkg.
func TestDevelopmentVersionsSortBeforeTheirRelease(t *testing.T) {
	for version, want := range map[string]string{"1.2.3": "1.2.3", "1.2.3-dev+f00ba12": "1.2.3~dev+f00ba12", "1.2.3-dev+f00ba12-dirty": "1.2.3~dev+f00ba12.dirty"} {
		if got := debianVersion(version); got != want {
			t.Errorf("%s is %s, want %s", version, got, want)
		}
	}
	if _, err := exec.LookPath("dpkg"); err != nil {
		missing(t, "dpkg")
	}
	execute(t, ".", "dpkg", "--compare-versions", debianVersion("1.2.3-dev+f00ba12"), "lt", debianVersion("1.2.3"))
}

// The licences of direct modules are written by hand in DEPENDENCIES.md. The test compares them
// with the licence texts of the modules.
func TestThePageOfDependenciesHasTheRightLicences(t *testing.T) {
	page := string(read(t, filepath.Join(repository, dependenciesPage)))
	modules, err := (&release{root: repository}).requirements()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, m := range modules {
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(m.path) + ` \|(?:[^|]*\|)? ([\w.-]+) \|`).FindStringSubmatch(page)
		if !m.direct || row == nil || m.dir == "" { // another test verifies that each module has a row
			continue
		}
		compared++
		if licence, err := licenceOf(m); err != nil || licence != row[1] {
			t.Errorf("%s has the licence %s, but the page has %s: %v", m.path, licence, row[1], err)
		}
	}
	if compared < 30 {
		t.Errorf("only %d modules were compared", compared)
	}
}

// unzipped returns a reader for content that is compressed with gzip.
func unzipped(t *testing.T, b []byte) *gzip.Reader {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// entriesOf returns the entries of a tar file with their contents.
func entriesOf(t *testing.T, r io.Reader) iter.Seq2[*tar.Header, []byte] {
	return func(yield func(*tar.Header, []byte) bool) {
		t.Helper()
		for in := tar.NewReader(r); ; {
			h, err := in.Next()
			if err == io.EOF {
				return
			}
			var content []byte
			if err == nil {
				content, err = io.ReadAll(in)
			}
			if err != nil {
				t.Fatal(err)
			}
			if !yield(h, content) {
				return
			}
		}
	}
}
