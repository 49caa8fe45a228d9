package archive

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
)

// folder is where an archive holds the files that it brings.
const folder = "files/"

// material is an element of materials.json.
type material struct {
	Title        string `json:"title"`
	MaterialType string `json:"material_type"`
	LinkURL      string `json:"link_url,omitempty"`
	// File is the path of the file in the archive.
	File string `json:"file,omitempty"`
}

// entry is an element of files.json: what a file was called when it was sent.
type entry struct {
	File string `json:"file"`
	Name string `json:"file_name"`
}

// Keep puts a file of an archive of a kind of the files package and gives its
// record. The name is the one it had when it was first sent.
type Keep func(kind, name string, content io.Reader) (*pb.Upload, error)

// uploads adds the files that the text and the materials use, and what they are
// called.
func (p *Pack) uploads(v *codelab.View, uploads *files.Register) error {
	names := v.TextUploads()
	for _, m := range v.Materials.All() {
		if m.Upload != "" {
			names = append(names, m.Upload)
		}
	}
	slices.Sort(names)
	return p.Uploads(slices.Compact(names), uploads)
}

// Uploads adds the files of uploads, and what they were called when they were sent. A
// link in a text to a file that is gone stays a link.
func (p *Pack) Uploads(names []string, uploads *files.Register) error {
	var index []entry
	for _, name := range names {
		u, err := uploads.Get(name)
		if errors.Is(err, files.ErrMissing) {
			continue
		}
		if err != nil {
			return err
		}
		if err := p.upload(u, uploads); err != nil {
			return err
		}
		if u.OriginalName != "" {
			index = append(index, entry{folder + name, u.OriginalName})
		}
	}
	if len(index) == 0 {
		return nil
	}
	return p.JSON("files.json", index)
}

func (p *Pack) upload(u *pb.Upload, uploads *files.Register) error {
	f, _, err := uploads.Open(u)
	if err != nil {
		return fmt.Errorf("export %s: %w", u.Name, err)
	}
	defer f.Close()
	return p.store(folder+u.Name, u.CreatedAt, f)
}

// keeper brings the files of an archive in, each once.
type keeper struct {
	t     *tree
	keep  Keep
	names map[string]string     // what files.json says
	kept  map[string]*pb.Upload // by path in the archive
	all   []*pb.Upload          // in the order they were kept
	steps int                   // bytes of links that were looked at, for tests
}

func (t *tree) keeper(keep Keep) (*keeper, error) {
	k := &keeper{t: t, keep: keep, names: map[string]string{}, kept: map[string]*pb.Upload{}}
	if t.files["files.json"] == nil {
		return k, nil
	}
	var index []entry
	if err := t.json("files.json", &index); err != nil {
		return nil, err
	}
	for _, e := range index {
		k.names[e.File] = e.Name
	}
	return k, nil
}

// bring keeps the file at a path of the archive, which exists.
func (k *keeper) bring(kind, file string) (*pb.Upload, error) {
	id := kind + "\x00" + file
	if u := k.kept[id]; u != nil {
		return u, nil
	}
	if err := k.t.still(); err != nil {
		return nil, err
	}
	k.t.used[file] = true
	r, err := k.t.files[file].Open()
	if err != nil {
		return nil, invalid("%s cannot be unpacked", file)
	}
	defer r.Close()
	name := k.names[file]
	if name == "" {
		name = path.Base(file)
	}
	u, err := k.keep(kind, name, &counted{r, &k.t.room, k.t.still})
	if err != nil {
		return nil, explainFile(file, err)
	}
	k.kept[id] = u
	k.all = append(k.all, u)
	return u, nil
}

// explainFile says which file of an archive was refused, and why.
func explainFile(file string, err error) error {
	var rejected *durable.Rejection
	switch {
	case errors.As(err, &rejected):
		return invalid("%s: %s", file, rejected.Text)
	case errors.Is(err, files.ErrTooLarge):
		return invalid("%s is too large", file)
	case errors.Is(err, files.ErrSource):
		return invalid("%s cannot be unpacked", file)
	}
	return fmt.Errorf("keep %s: %w", file, err)
}

// counted counts what is unpacked; what an entry says of its size is not
// believed.
type counted struct {
	r     io.Reader
	room  *int64
	still func() error
}

var errUnpacked = errors.New("more than an archive may unpack to")

func (c *counted) Read(p []byte) (int, error) {
	if err := c.still(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	if *c.room -= int64(n); *c.room < 0 {
		return 0, errUnpacked
	}
	return n, err
}

// relink lets a text refer to the files that the archive brings: links to
// uploads that it holds, and images beside the text. dir is the text's folder.
func (k *keeper) relink(field *string, dir string) error {
	text := *field
	var out strings.Builder
	done := 0
	for at := 0; at < len(text); {
		from, to, file, kind := k.nextLink(text, at, dir)
		if from < 0 {
			break
		}
		at = to
		u, err := k.bring(kind, file)
		if err != nil {
			return err
		}
		out.WriteString(text[done:from])
		out.WriteString(files.Folder + u.Name)
		done = to
	}
	out.WriteString(text[done:])
	*field = out.String()
	return nil
}

// nextLink finds the first link at or behind a place that leads to a file of
// the archive; from is -1 when there is none. It looks at each byte once.
func (k *keeper) nextLink(text string, at int, dir string) (from, to int, file, kind string) {
	for ; at < len(text); at++ {
		rest, skip := text[at:], 0
		switch {
		case rest[0] == '/' && strings.HasPrefix(rest, files.Folder):
			name := files.NameAt(rest[len(files.Folder):])
			if name != "" && k.t.files[folder+name] != nil {
				kind, _, _ = strings.Cut(name, "/")
				return at, at + len(files.Folder) + len(name), folder + name, kind
			}
		case strings.HasPrefix(rest, "]("):
			skip = len("](")
		case strings.HasPrefix(rest, `src="`):
			skip = len(`src="`)
		}
		if skip == 0 {
			continue
		}
		link := rest[skip:min(len(rest), skip+maxLink)]
		k.steps++
		// A bracket ends it too: without that, a text of nothing but beginnings
		// of links would be read over and over.
		n := strings.IndexAny(link, ")]\" \t\r\n")
		if k.steps += n; n < 0 {
			k.steps += len(link)
		}
		if n > 0 && link[n] != ']' {
			if file := k.imageAt(link[:n], dir); file != "" {
				return at + skip, at + skip + n, file, files.Images
			}
		}
	}
	return -1, 0, "", ""
}

// maxLink bounds a relative link.
const maxLink = 1024

// imageAt is the image of the archive to which a relative link leads, if any.
func (k *keeper) imageAt(link, dir string) string {
	if strings.HasPrefix(link, "/") || strings.Contains(link, ":") {
		return ""
	}
	plain, err := url.PathUnescape(link)
	if err != nil {
		return ""
	}
	file := path.Join(dir, plain)
	if !isImage(file) {
		return ""
	}
	if !safeName(file) || k.t.files[file] == nil {
		if utf8.ValidString(file) {
			k.t.left.add(file, "the text shows it, and it was not sent along")
		}
		return ""
	}
	return file
}

// materials reads materials.json.
func (k *keeper) materials() (out []*pb.Material, err error) {
	if k.t.files["materials.json"] == nil {
		return nil, nil
	}
	var list []material
	if err := k.t.json("materials.json", &list); err != nil {
		return nil, err
	}
	out = []*pb.Material{} // it says that there are none
	for _, m := range list {
		to := &pb.Material{Title: m.Title, MaterialType: m.MaterialType, LinkUrl: m.LinkURL}
		if m.File != "" {
			file := path.Clean(m.File)
			if !safeName(m.File) || k.t.files[file] == nil {
				return nil, invalid("materials.json: %q is not in the archive", m.File)
			}
			u, err := k.bring(files.Materials, file)
			if err != nil {
				return nil, err
			}
			to.Upload = u.Name
		}
		out = append(out, to)
	}
	return out, nil
}
