// Command release makes the artifacts of a release: archives of each program for each platform with
// a bill of materials, Debian packages, container images, licences, provenance and checksums. The
// same sources produce the same bytes, in any folder and at any time, with the same Go and Node.
//
//	go run . -version 1.2.3 -into ../dist
//
// The browser app must have been built. "make release" builds it first.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// programs lists the programs of a release. Each has a folder in cmd.
var programs = []string{"atelier", "atelier-bench", "commerce"}

// has reports whether a program is built for a platform. The load generator needs Linux.
func has(platform, program string) bool {
	return program != "atelier-bench" || strings.HasPrefix(platform, "linux/")
}

// release is a release in progress.
type release struct {
	root      string   // the repository
	into      string   // target folder of the artifacts
	work      string   // folder of the built programs, with a folder per platform
	platforms []string // such as linux/amd64
	version   string
	commit    string // commit of the sources, or "" without Git
	modified  bool   // whether the tree differs from the commit
	date      time.Time
	goVersion string
	goRoot    string
}

// versions matches the versions of semver.org that can also be part of file names, linker flags,
// image tags and versions of Debian packages.
var versions = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z][0-9A-Za-z.-]*)?(\+[0-9A-Za-z][0-9A-Za-z.-]*)?$`)

var platforms = regexp.MustCompile(`^[a-z0-9]+/[a-z0-9]+$`)

// artifacts lists the kinds of artifacts in the order in which they are made.
var artifacts = []string{"archive", "package", "image"}

// kinds lists the values of -only.
var kinds = slices.Concat(artifacts, []string{"dependencies"})

func main() {
	r := &release{}
	flag.StringVar(&r.root, "root", "..", "the repository")
	flag.StringVar(&r.into, "into", "../dist", "folder of the artifacts; its previous content is removed")
	flag.StringVar(&r.version, "version", "", "the version, like 1.2.3")
	systems := flag.String("platforms", "linux/amd64 linux/arm64 darwin/arm64", "platforms for which programs are built")
	only := flag.String("only", "", `make only this: "package", "image", "archive", or "dependencies" (the tables of DEPENDENCIES.md)`)
	flag.Parse()
	r.platforms = strings.Fields(*systems)
	err := r.prepare()
	if err == nil && *only != "" && !slices.Contains(kinds, *only) {
		err = fmt.Errorf("-only %q: want one of %q", *only, kinds)
	}
	if err == nil {
		err = r.make(*only)
	}
	if r.work != "" {
		_ = os.RemoveAll(r.work)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// prepare determines the sources and the tools of the release.
func (r *release) prepare() error {
	if !versions.MatchString(r.version) {
		return fmt.Errorf("version %q: want one like 1.2.3 for a release, or 1.2.4-dev+f00ba12 for a build before release 1.2.4, without the v of the tag", r.version)
	}
	for _, p := range r.platforms {
		if !platforms.MatchString(p) {
			return fmt.Errorf("platform %q: want one like linux/amd64", p)
		}
	}
	var err error
	if r.root, err = filepath.Abs(r.root); err != nil {
		return err
	}
	if r.into, err = filepath.Abs(r.into); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(r.root, "transport/web/built/index.html")); err != nil {
		return errors.New("the browser app is not built; run make app first")
	}
	if r.goVersion, err = output(r.root, "go", "env", "GOVERSION"); err != nil {
		return err
	}
	if r.goRoot, err = output(r.root, "go", "env", "GOROOT"); err != nil {
		return err
	}
	if err := r.committed(); err != nil {
		return err
	}
	r.work, err = os.MkdirTemp("", "release-")
	return err
}

// committed reads the commit and its time, which becomes the time of everything in the artifacts.
// Without Git, SOURCE_DATE_EPOCH is this time.
func (r *release) committed() error {
	text, err := output(r.root, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		text = " " + os.Getenv("SOURCE_DATE_EPOCH")
	} else if changes, err := output(r.root, "git", "status", "--porcelain"); err != nil || changes != "" {
		r.modified = true
	}
	commit, at, _ := strings.Cut(text, " ")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return errors.New("the time of the commit cannot be read from Git; set SOURCE_DATE_EPOCH")
	}
	r.commit, r.date = commit, time.Unix(seconds, 0).UTC()
	return nil
}

// output returns the output of a command.
func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

func (r *release) make(only string) error {
	if only == "dependencies" {
		return r.writeDependencies()
	}
	if err := os.RemoveAll(r.into); err != nil {
		return err
	}
	if err := os.MkdirAll(r.into, 0o755); err != nil {
		return err
	}
	found, err := r.findParts()
	if err != nil {
		return err
	}
	if err := r.build(); err != nil {
		return err
	}
	// The programs' archives, packages and images contain NOTICE, so NOTICE is made first.
	if err := r.writeNotice(found); err != nil {
		return err
	}
	steps := map[string]func() error{
		"package": r.packages,
		"image":   func() error { return r.images(found) },
		"archive": func() error { return r.archives(found) },
	}
	if only != "" {
		return steps[only]()
	}
	for _, name := range artifacts {
		if err := steps[name](); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := r.provenance(); err != nil {
		return err
	}
	return r.sums()
}

// flags and settings are used to build programs. Go's own record of the Git state is switched off,
// because a tag that exists in only one clone would make the binaries different. The version and the
// commit are set explicitly.
func (r *release) flags() []string {
	return []string{"-trimpath", "-buildvcs=false", "-ldflags", fmt.Sprintf(
		"-s -w -X atelier/cmd/internal/process.version=%s -X atelier/cmd/internal/process.revision=%.12s", r.version, r.commit)}
}

var settings = []string{"CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFLAGS=-mod=readonly"}

// goCommand returns a go command that runs in the repository and builds for a platform.
func (r *release) goCommand(platform string, args ...string) *exec.Cmd {
	system, machine, _ := strings.Cut(platform, "/")
	cmd := exec.Command("go", args...)
	cmd.Dir = r.root
	cmd.Stderr = os.Stderr
	cmd.Env = append(append(os.Environ(), settings...), "GOOS="+system, "GOARCH="+machine)
	return cmd
}

func (r *release) build() error {
	for _, platform := range r.platforms {
		for _, program := range programs {
			if !has(platform, program) {
				continue
			}
			args := append([]string{"build"}, r.flags()...)
			args = append(args, "-o", r.program(platform, program), "./cmd/"+program)
			if err := r.goCommand(platform, args...).Run(); err != nil {
				return fmt.Errorf("build %s for %s: %w", program, platform, err)
			}
		}
	}
	return nil
}

// program returns the path of a built program.
func (r *release) program(platform, name string) string {
	return filepath.Join(r.work, strings.ReplaceAll(platform, "/", "-"), name)
}

// machines returns the processors of the release's Linux platforms.
func (r *release) machines() (out []string) {
	for _, p := range r.platforms {
		if machine, ok := strings.CutPrefix(p, "linux/"); ok {
			out = append(out, machine)
		}
	}
	return out
}
