package schema

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// maxLoads bounds the files and fetched documents that are loaded through references.
	maxLoads = 512
	// maxTotal bounds the text of all files together, in bytes. Their trees take about ten times as
	// much memory.
	maxTotal = 64 << 20
)

// Fetcher fetches a document; *remote.Client implements it.
type Fetcher interface {
	Fetch(ctx context.Context, address string) ([]byte, error)
}

// LibraryOptions contains a library's sources in addition to added documents.
type LibraryOptions struct {
	// Published contains schemas that references find by their $id. It can be nil.
	Published *Set
	// Fetcher is used for addresses that no other source has. Nil means offline.
	Fetcher Fetcher
	// Folders lists the folders whose files relative references can reach. If it is empty,
	// references can reach only added files.
	Folders []string
}

// Library is a set of documents. It is not safe for concurrent use.
type Library struct {
	ctx    context.Context
	opts   LibraryOptions
	roots  []string // the opened folders, as given and with links resolved
	byFile map[string]*Resource
	// byName indexes byFile by name and version. It is empty until the first use.
	byName map[[2]string]*Resource
	byID   map[string]*Resource
	// resolved caches references, because each reference is followed several times.
	resolved map[link]Target
	// failed contains the errors of loads by address or file, so that each is tried once.
	failed map[string]RefError
	loads  int
	total  int
}

// NewLibrary returns an empty library; ctx bounds its fetches.
func NewLibrary(ctx context.Context, opts LibraryOptions) *Library {
	l := &Library{ctx: ctx, opts: opts, byFile: map[string]*Resource{}, byID: map[string]*Resource{}, resolved: map[link]Target{}, failed: map[string]RefError{}}
	l.Open(opts.Folders...)
	return l
}

// Resource is a schema with its own base: a document, or a part of one with its own $id.
type Resource struct {
	Doc *Document
	// ID is the absolute $id without fragment, or "".
	ID string
	// Pointer is the place of the resource in its document.
	Pointer string
	// Top is the resource of the whole document, which can be this resource.
	Top *Resource

	path    string // absolute file path; "" if not from a file
	nested  map[string]*Resource
	anchors map[string]string
	// dynamic contains the anchors that are a $dynamicAnchor.
	dynamic map[string]string
}

// Root returns the schema of the resource.
func (r *Resource) Root() any {
	v, _ := Lookup(r.Doc.Value, r.Pointer)
	return v
}

// Name returns the schema's name; "" if it has none.
func (r *Resource) Name() string { return r.text("name") }

// Version returns the schema's version.
func (r *Resource) Version() string { return r.text("version") }

func (r *Resource) text(member string) string {
	root, _ := r.Root().(map[string]any)
	s, _ := root[member].(string)
	return s
}

// Parents returns the names that an extension extends, sorted: the members of its $defs that are
// reverse-domain names.
func (r *Resource) Parents() []string {
	root, _ := r.Root().(map[string]any)
	defs, _ := root["$defs"].(map[string]any)
	var parents []string
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		if IsName(name) {
			parents = append(parents, name)
		}
	}
	return parents
}

// Add adds a document to the library. If two documents have the same $id, references lead to the
// first.
func (l *Library) Add(doc *Document) *Resource { return l.add(doc, "") }

// add does the same as Add. If the document was fetched from an address, references by $id lead to
// its parts only if their $id has the same origin. Otherwise a document could take the place of
// somebody else's.
func (l *Library) add(doc *Document, address string) *Resource {
	r := &Resource{Doc: doc, nested: map[string]*Resource{}}
	r.Top = r
	if root, ok := doc.Value.(map[string]any); ok {
		r.ID = absoluteID(root["$id"], "")
	}
	l.index(r, address)
	l.findNested(r, address)
	return r
}

// AddFile reads a file into the library, unless it has been read before. It returns the errors of
// Read, or an error if all files together are too large.
func (l *Library) AddFile(path string) (*Resource, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if r := l.byFile[abs]; r != nil {
		return r, nil
	}
	doc, err := Read(path)
	if err != nil {
		return nil, err
	}
	if l.total += doc.Size(); l.total > maxTotal {
		return nil, fmt.Errorf("the files are more than %d bytes together", maxTotal)
	}
	r := l.Add(doc)
	r.path = abs
	l.byFile[abs] = r
	clear(l.byName)
	return r, nil
}

// ByID returns a document, or a part of one, by its address without fragment. The error is a
// *RefError.
func (l *Library) ByID(id string) (*Resource, error) {
	if r := l.byID[id]; r != nil {
		return r, nil
	}
	if l.opts.Published != nil {
		if f, ok := l.opts.Published.ByID(id); ok {
			return l.load(id, f.Data, "")
		}
		if strings.HasPrefix(id, l.opts.Published.Base()+"/") {
			return nil, &RefError{Kind: RefMissing, Ref: id, Reason: "no such document is published"}
		}
	}
	if l.opts.Fetcher == nil {
		return nil, &RefError{Kind: RefUnknown, Ref: id, Reason: "no document with this address is available"}
	}
	if e, ok := l.failed[id]; ok {
		return nil, &e
	}
	if err := l.mayLoad(id); err != nil {
		return nil, err
	}
	data, err := l.opts.Fetcher.Fetch(l.ctx, id)
	if err != nil {
		return nil, l.fail(id, RefError{Kind: RefUnreachable, Ref: id, Reason: err.Error()})
	}
	return l.load(id, data, id)
}

// fail records that a load failed, and returns the error.
func (l *Library) fail(place string, e RefError) error {
	l.failed[place] = e
	return &e
}

// load adds a document requested under id, regardless of its own $id. For address see add.
func (l *Library) load(id string, data []byte, address string) (*Resource, error) {
	doc, err := Parse(id, data)
	if err != nil {
		return nil, l.fail(id, RefError{Kind: RefBroken, Ref: id, Reason: err.Error()})
	}
	r := l.add(doc, address)
	if r.ID == "" {
		r.ID = id
	}
	l.byID[id] = r
	return r, nil
}

func (l *Library) mayLoad(ref string) error {
	if l.loads++; l.loads > maxLoads {
		return &RefError{Kind: RefUnreachable, Ref: ref, Reason: fmt.Sprintf("more than %d documents are referred to", maxLoads)}
	}
	return nil
}

func (l *Library) index(r *Resource, address string) {
	if r.ID != "" && l.byID[r.ID] == nil && (address == "" || sameOrigin(r.ID, address)) {
		l.byID[r.ID] = r
	}
}

func sameOrigin(a, b string) bool {
	x, err1 := url.Parse(a)
	y, err2 := url.Parse(b)
	return err1 == nil && err2 == nil && x.Scheme == y.Scheme && x.Host == y.Host
}

// findNested indexes the parts of a document that have their own $id.
func (l *Library) findNested(top *Resource, address string) {
	Walk(top.Doc.Value, func(pointer string, node map[string]any) {
		if pointer == "" || node["$id"] == nil {
			return
		}
		// Walk visits the enclosing resource first.
		id := absoluteID(node["$id"], top.At(pointer).ID)
		if id == "" {
			return
		}
		r := &Resource{Doc: top.Doc, ID: id, Pointer: pointer, Top: top}
		top.nested[pointer] = r
		l.index(r, address)
	})
}

// At returns the resource to which a place in the document belongs.
func (r *Resource) At(pointer string) *Resource {
	top := r.Top
	if len(top.nested) == 0 {
		return top
	}
	for p := pointer; p != ""; p = p[:strings.LastIndexByte(p, '/')] {
		if n := top.nested[p]; n != nil {
			return n
		}
	}
	return top
}

// absoluteID resolves an $id against the enclosing one and drops the fragment; "" if the result is
// not an absolute URL.
func absoluteID(id any, base string) string {
	s, ok := id.(string)
	if !ok || s == "" {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	if !u.IsAbs() {
		b, err := url.Parse(base)
		if base == "" || err != nil {
			return ""
		}
		u = b.ResolveReference(u)
	}
	u.Fragment, u.RawFragment = "", ""
	return u.String()
}

// Entity finds the schema that an entry declares. If the entry states no address, or the library
// neither has nor fetches the schema at this address, Entity searches for the declared name and
// version. It searches the library's files and the published schemas. The error is a *RefError.
func (l *Library) Entity(name, version, address string) (*Resource, error) {
	var stated error
	if address != "" {
		r, err := l.Declared(name, address)
		if e := (*RefError)(nil); err == nil || !errors.As(err, &e) || e.Kind != RefUnknown {
			return r, err
		}
		stated = err
	}
	if r := l.named(name, version); r != nil {
		return r, nil
	}
	if l.opts.Published != nil {
		if f, ok := l.opts.Published.Entity(name, version); ok {
			return l.ByID(f.ID)
		}
	}
	if stated != nil {
		return nil, stated
	}
	return nil, &RefError{Kind: RefUnknown, Ref: name, Reason: "it is not published here, and the entry states no address"}
}

// named finds a file by its name and version. Of several files, it returns the one with the first
// path.
func (l *Library) named(name, version string) *Resource {
	if len(l.byName) == 0 {
		l.byName = map[[2]string]*Resource{}
		for _, path := range slices.Sorted(maps.Keys(l.byFile)) {
			r := l.byFile[path]
			root, _ := r.Root().(map[string]any)
			name, _ := root["name"].(string)
			version, _ := root["version"].(string)
			if key := [2]string{name, version}; name != "" && l.byName[key] == nil {
				l.byName[key] = r
			}
		}
	}
	return l.byName[[2]string{name, version}]
}

// Declared finds the schema at the address that an entry declares. If the schema must be fetched,
// its host must have authority over the entry's name.
func (l *Library) Declared(name, address string) (*Resource, error) {
	if l.opts.Fetcher == nil {
		return l.ByID(address)
	}
	offline := *l
	offline.opts.Fetcher = nil
	r, err := offline.ByID(address)
	if e := (*RefError)(nil); err == nil || !errors.As(err, &e) || e.Kind != RefUnknown {
		return r, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, &RefError{Kind: RefMalformed, Ref: address, Reason: "not a URL"}
	}
	if err := CheckAuthority(name, u.Hostname()); err != nil {
		return nil, &RefError{Kind: RefUnreachable, Ref: address, Reason: err.Error()}
	}
	return l.ByID(address)
}
