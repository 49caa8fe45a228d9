package schema

import (
	"embed"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
)

// DefaultBase is the schema base in the embedded files.
const DefaultBase = "https://atelier.example/schemas"

// Release is the protocol release for new profiles.
const Release = "2026-01-23"

// Releases lists all published versions, oldest first. A version is never removed, because clients
// refer to it.
var Releases = []string{"2026-01-23"}

//go:embed published
var embedded embed.FS

// PublishedFile is a served document. It is immutable.
type PublishedFile struct {
	// Path is relative to the base, for example 2026-01-23/types/buyer.json.
	Path string
	// ID is the address of the document: base, slash, path.
	ID   string
	Data []byte
	// ETag is strong and quoted, as in the header.
	ETag string
}

// Set contains the schemas that are published under one base. It is immutable after Published and
// WithFolder, and safe for concurrent use.
type Set struct {
	base   string
	byPath map[string]*PublishedFile
	// own maps the operator's entities, by name and version, to their paths.
	own   map[[2]string]string
	paths []string
}

// Published returns the schemas under base, an absolute URL without a trailing slash; "" is
// DefaultBase.
func Published(base string) (*Set, error) {
	if base == "" {
		base = DefaultBase
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") ||
		u.RawQuery != "" || u.Fragment != "" || u.User != nil || strings.HasSuffix(base, "/") || strings.ContainsAny(base, "\"\\<>") {
		return nil, fmt.Errorf("schema base %q: want an absolute http(s) URL without query, fragment and slash at the end", base)
	}
	s := &Set{base: base, byPath: map[string]*PublishedFile{}}
	released, err := fs.Sub(embedded, "published")
	if err != nil {
		return nil, fmt.Errorf("published schemas: %w", err)
	}
	err = fs.WalkDir(released, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(released, path)
		if err != nil {
			return err
		}
		s.publish(path, rebase(data, base))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("published schemas: %w", err)
	}
	slices.Sort(s.paths)
	return s, nil
}

// Base returns the schema base of the set.
func (s *Set) Base() string { return s.base }

// Lookup returns a document by its path below the base, as in a request for /schemas/<path>.
func (s *Set) Lookup(path string) (*PublishedFile, bool) {
	f, ok := s.byPath[path]
	return f, ok
}

// ByID returns a document by its address, without a fragment.
func (s *Set) ByID(id string) (*PublishedFile, bool) {
	path, ok := strings.CutPrefix(id, s.base+"/")
	if !ok {
		return nil, false
	}
	return s.Lookup(path)
}

// All returns the documents in the order of their paths.
func (s *Set) All() []*PublishedFile {
	all := make([]*PublishedFile, len(s.paths))
	for i, p := range s.paths {
		all[i] = s.byPath[p]
	}
	return all
}

// entities maps the published entities to their paths below a version's folder.
var entities = map[string]string{
	"dev.commerce.shopping":             "shopping/service.json",
	"dev.commerce.shopping.checkout":    "shopping/checkout.json",
	"dev.commerce.shopping.fulfillment": "shopping/fulfillment.json",
	"dev.commerce.shopping.discount":    "shopping/discount.json",
	"dev.commerce.shopping.order":       "shopping/order.json",
	"com.atelier.tokenization":          "handlers/tokenization.json",
}

// Entity returns the schema of a published entity by name and version.
func (s *Set) Entity(name, version string) (*PublishedFile, bool) {
	if path, ok := s.own[[2]string{name, version}]; ok {
		return s.Lookup(path)
	}
	path, ok := entities[name]
	if !ok {
		return nil, false
	}
	return s.Lookup(version + "/" + path)
}

// IsEntity reports whether we publish an entity with this name, in any version.
func IsEntity(name string) bool {
	_, ok := entities[name]
	return ok
}
