package web

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

// index is the app's page for all its addresses.
const index = "index.html"

// assets is the folder of files with a content hash in their names.
const assets = "/assets/"

// diagramPage is the frame that draws diagrams. diagramParts is the folder of its scripts. Because
// the frame has no origin, loading them is cross-origin.
const (
	diagramPage  = "/diagram.html"
	diagramParts = assets + "diagram/"
)

// hashed matches names that change with the contents.
var hashed = regexp.MustCompile(`^/assets/(?:.*/)?[^/]+-[A-Za-z0-9_-]{8,}\.[A-Za-z0-9.]+$`)

// relative matches addresses in the app's page: in the build they are relative to the page, which
// is served at many addresses.
var relative = regexp.MustCompile(`((?:src|href)=")\./`)

// firstTexts matches the files with the texts that every page shows, one per language.
var firstTexts = regexp.MustCompile(`^/assets/first-([a-z]{2}(?:-[A-Z][A-Za-z]+)?)-[A-Za-z0-9_-]{8}\.js$`)

// packed is the suffix of files that the build has only in Brotli.
const packed = ".br"

// load reads a build: its page, and its files by path, with their policy. app is false if there is
// no build. Names that begin with a dot are ignored.
func load(build fs.FS, policy string, prefix httpapi.Prefix) (page shell, files map[string]*entity, app bool, err error) {
	b, err := fs.ReadFile(build, index)
	if errors.Is(err, fs.ErrNotExist) {
		return shell{}, nil, false, nil
	}
	if err != nil {
		return shell{}, nil, false, fmt.Errorf("read the app's page: %w", err)
	}
	if page, err = cut(relative.ReplaceAllString(string(b), "$1"+prefix.At("/"))); err != nil {
		return shell{}, nil, false, fmt.Errorf("the app's %s: %w", index, err)
	}
	page.texts = map[string]string{}
	files = map[string]*entity{}
	contents := map[string][]byte{}
	err = fs.WalkDir(build, ".", func(name string, d fs.DirEntry, err error) error {
		hidden := name != "." && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil:
			return err
		case d.IsDir() && hidden:
			return fs.SkipDir
		case d.IsDir() || hidden:
			return nil
		}
		contents[name], err = fs.ReadFile(build, name)
		return err
	})
	if err != nil {
		return shell{}, nil, false, fmt.Errorf("read the app: %w", err)
	}
	for name, body := range contents {
		if name == index {
			continue
		}
		name, coded := strings.CutSuffix(name, packed)
		if _, plain := contents[name]; coded && plain {
			continue // left by an older build
		}
		e := &entity{kind: kindOf(name), cache: ask, policy: policy}
		if hashed.MatchString("/" + name) {
			e.cache = forever
		}
		e.shared = strings.HasPrefix("/"+name, diagramParts)
		if "/"+name == diagramPage {
			e.policy, e.frames = ofDiagram, ownFrame
		}
		if coded {
			e.pack(body)
		} else {
			e.set(wire.Identity, body)
		}
		files["/"+name] = e
		if m := firstTexts.FindStringSubmatch("/" + name); m != nil {
			page.texts[m[1]] = prefix.At("/" + name)
		}
	}
	return page, files, true, nil
}
