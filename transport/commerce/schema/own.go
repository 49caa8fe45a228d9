package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Limits of an operator's schema folder.
const (
	maxOwnFiles = 1_000
	// maxOwnBytes bounds all files together, in bytes.
	maxOwnBytes = 16 << 20
)

// ownPath matches the paths that are served. No segment is hidden or leads to a parent folder.
var ownPath = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$`)

// WithFolder adds the *.json files below a folder to the published schemas, at their paths in the
// folder. The first segment of a path is a version, as in our own schemas. In addresses, the base
// of the set replaces DefaultBase. WithFolder returns the added documents in the order of their
// paths.
//
// Hidden files and folders, and other files, are ignored. A file must be small enough, inside the
// folder, and at a permitted path. Its path and its name must not be used by one of our schemas.
// Otherwise the error names the file.
func (s *Set) WithFolder(folder string) (*Set, []*Document, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, nil, fmt.Errorf("folder of schemas: %w", err)
	}
	defer root.Close()
	more := &Set{base: s.base, byPath: maps.Clone(s.byPath), own: map[[2]string]string{}, paths: slices.Clone(s.paths)}
	paths, err := ownPaths(root)
	if err != nil {
		return nil, nil, err
	}
	var docs []*Document
	left := int64(maxOwnBytes)
	for _, path := range paths {
		data, err := readOwn(root, path, left)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		left -= int64(len(data))
		doc, err := more.add(path, rebase(data, s.base))
		if err != nil {
			return nil, nil, err
		}
		docs = append(docs, doc)
	}
	slices.Sort(more.paths)
	return more, docs, nil
}

// ownPaths lists the *.json files below root.
func ownPaths(root *os.Root) (paths []string, err error) {
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("folder of schemas: %w", err)
		case path != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.Type()&fs.ModeSymlink != 0 && leadsToFolder(root, path):
			return fmt.Errorf("%s: links to folders are not followed", path)
		case d.IsDir() || !strings.HasSuffix(path, ".json"):
			return nil
		case !ownPath.MatchString(path):
			return fmt.Errorf("%s: want <version>/<name>.json of letters, digits, dots, hyphens and underscores", Brief(path))
		}
		if version, _, _ := strings.Cut(path, "/"); !IsVersion(version) {
			return fmt.Errorf("%s: its folder %q is not a version YYYY-MM-DD", path, version)
		}
		if paths = append(paths, path); len(paths) > maxOwnFiles {
			return fmt.Errorf("the folder has more than %d schemas", maxOwnFiles)
		}
		return nil
	})
	return paths, err
}

// leadsToFolder reports whether a link leads to a folder in root.
func leadsToFolder(root *os.Root, path string) bool {
	info, err := root.Stat(path)
	return err == nil && info.IsDir()
}

// readOwn reads a file. It returns an error for a symbolic link that leads out of root.
func readOwn(root *os.Root, path string, left int64) ([]byte, error) {
	info, err := root.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := root.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, min(left, maxBytes)+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > left {
		return nil, fmt.Errorf("the schemas are more than %d bytes together", maxOwnBytes)
	}
	return data, nil
}

// add publishes an operator's document.
func (s *Set) add(path string, data []byte) (*Document, error) {
	if s.byPath[path] != nil {
		return nil, fmt.Errorf("%s: the server publishes its own schema there", path)
	}
	doc, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	root, _ := doc.Value.(map[string]any)
	if root["openapi"] == nil && root["openrpc"] == nil {
		if err := s.identify(path, root); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	s.publish(path, data)
	return doc, nil
}

// identify checks a schema's metadata against its served address.
func (s *Set) identify(file string, root map[string]any) error {
	if want := s.base + "/" + file; root["$id"] != want {
		id, _ := root["$id"].(string)
		return fmt.Errorf("/$id is %q, but the schema is served at %s", Brief(id), want)
	}
	name, _ := root["name"].(string)
	if name == "" {
		return nil
	}
	if strings.HasPrefix(name, Reserved) || IsEntity(name) {
		return fmt.Errorf("/name: %q is a name of the server or the protocol", Brief(name))
	}
	version, _ := root["version"].(string)
	if folder, _, _ := strings.Cut(file, "/"); version != folder {
		return fmt.Errorf("/version is %q, but the folder is %q", Brief(version), folder)
	}
	key := [2]string{name, version}
	if other, twice := s.own[key]; twice {
		return fmt.Errorf("/name: %s already has the name %q in this version", other, Brief(name))
	}
	s.own[key] = file
	return nil
}

// rebase replaces DefaultBase in addresses with another base.
func rebase(data []byte, base string) []byte {
	return bytes.ReplaceAll(data, []byte(`"`+DefaultBase+`/`), []byte(`"`+base+`/`))
}

// publish adds a document's text as a served file.
func (s *Set) publish(at string, data []byte) {
	sum := sha256.Sum256(data)
	s.byPath[at] = &PublishedFile{Path: at, ID: s.base + "/" + at, Data: data,
		ETag: `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`}
	s.paths = append(s.paths, at)
}
