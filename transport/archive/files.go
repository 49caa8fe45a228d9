package archive

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/transport/intake"
)

// folder is the folder of files in an archive.
const folder = "files/"

// material is an element of materials.json.
type material struct {
	Title        string `json:"title"`
	MaterialType string `json:"material_type"`
	LinkURL      string `json:"link_url,omitempty"`
	// File is the path of the file in the archive.
	File string `json:"file,omitempty"`
}

// entry is an element of files.json: a file's original name.
type entry struct {
	File string `json:"file"`
	Name string `json:"file_name"`
}

// Keep stores a file of an archive and returns its record. kind is files.Images or files.Materials,
// name the file's original name.
type Keep func(kind, name string, content io.Reader) (*pb.Upload, error)

// uploads adds the files that the text and the materials use, with their original names.
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

// Uploads adds the named files, and files.json with their original names. It skips names without a
// registered upload, because a text can contain broken links.
func (p *Pack) Uploads(names []string, uploads *files.Register) error {
	var index []entry
	for _, name := range names {
		u, err := uploads.Get(name)
		if err == nil {
			err = p.upload(u, uploads)
		}
		if errors.Is(err, files.ErrMissing) { // a broken link, or a file that was deleted since
			continue
		}
		if err != nil {
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

// keeper stores each file of an archive once per kind.
type keeper struct {
	t     *tree
	names map[string]string     // from files.json
	kept  map[string]*pb.Upload // by kind and path in the archive; nil for an omitted file
	all   []*pb.Upload          // in storage order
	// linked lists the materials linked by texts.
	linked []*pb.Material
	// own lists the files from which the text was read.
	own map[string]bool
}

func (t *tree) keeper() (*keeper, error) {
	k := &keeper{t: t, names: map[string]string{}, kept: map[string]*pb.Upload{}}
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

// pointerOf is the text at the beginning of a Git LFS pointer file.
const pointerOf = "version https://git-lfs.github.com/spec/"

// bring stores the file at an existing path in the archive. For an unusable file it returns nil,
// and lists the file as omitted.
func (k *keeper) bring(kind, file string) (*pb.Upload, error) {
	id := kind + "\x00" + file
	if u, done := k.kept[id]; done {
		return u, nil
	}
	if err := k.t.still(); err != nil {
		return nil, err
	}
	k.t.used[file] = true
	r, err := k.t.files[file].Open()
	if err != nil {
		k.leaveOut(id, file, "it cannot be unpacked", CodeUnknown)
		return nil, nil
	}
	defer r.Close()
	name := k.names[file]
	if name == "" {
		name = path.Base(file)
	}
	unpacked := &counted{r: r, room: &k.t.room, still: k.t.still}
	u, reason, code, err := k.take(kind, name, unpacked)
	if errors.Is(err, errUnpacked) {
		return nil, invalid("the archive unpacks to more than %d MiB; the limit is exceeded at %s", maxUnpacked>>20, shown(file))
	}
	if err != nil {
		return nil, err
	}
	if u == nil {
		k.leaveOut(id, file, reason, code)
		return nil, nil
	}
	k.kept[id] = u
	return u, nil
}

// take stores a file, or returns why it cannot be used.
func (k *keeper) take(kind, name string, from *counted) (u *pb.Upload, reason string, code Code, err error) {
	content := bufio.NewReader(from)
	head, err := content.Peek(len(pointerOf))
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		err = errors.Join(files.ErrSource, err)
	case len(head) == 0:
		return nil, "it is empty", CodeEmpty, nil
	case string(head) == pointerOf:
		return nil, "it is a Git LFS pointer: run git lfs pull and pack the archive again", CodeLFS, nil
	default:
		u, err = k.t.with.Keep(kind, name, content)
	}
	switch {
	case from.stopped != nil:
		return nil, "", "", from.stopped
	case err == nil:
		k.all = append(k.all, u)
		return u, "", "", nil
	case errors.Is(err, errUnpacked):
		return nil, "", "", err
	}
	if reason, code = unusable(kind, err); reason == "" {
		return nil, "", "", fmt.Errorf("keep %s: %w", shown(name), err)
	}
	return nil, reason, code, nil
}

// picture returns a function for the images that a text contains as data: addresses. The function
// stores an image, and returns the address of the upload. Equal addresses are stored only once. For
// an unusable image, the function returns an empty data: address and lists the image as omitted.
// file is the text's file.
func (k *keeper) picture(file string) func(data string) (string, error) {
	done, n := map[[sha256.Size]byte]string{}, 0
	return func(data string) (string, error) {
		n++
		sum := sha256.Sum256([]byte(data))
		if to, ok := done[sum]; ok {
			return to, nil
		}
		if n > maxEntries {
			return "", invalid("the text contains more than %d pictures", maxEntries)
		}
		kind, content := dataOf(data)
		from := &counted{r: content, room: &k.t.room, still: k.t.still}
		u, reason, code, err := k.take(files.Images, "", from)
		switch {
		case errors.Is(err, errUnpacked):
			return "", invalid("the file and the pictures in its text are larger than %d MiB together", maxUnpacked>>20)
		case err != nil:
			return "", err
		case u == nil:
			k.t.left.add(file, fmt.Sprintf("picture %d in the text (%s): %s", n, short(kind), reason), code)
			done[sum] = "data:,"
		default:
			done[sum] = files.Folder + u.Name
		}
		return done[sum], nil
	}
}

// dataOf returns the media type of a data: address and its content (RFC 2397).
func dataOf(address string) (mediaType string, content io.Reader) {
	head, body, _ := strings.Cut(address[len("data:"):], ",")
	mediaType, _, _ = strings.Cut(head, ";")
	if plain, err := url.PathUnescape(body); err == nil {
		body = plain
	}
	if !strings.HasSuffix(strings.ToLower(strings.TrimSpace(head)), ";base64") {
		return mediaType, strings.NewReader(body)
	}
	body = strings.TrimRight(strings.Join(strings.Fields(body), ""), "=")
	return mediaType, base64.NewDecoder(base64.RawStdEncoding, strings.NewReader(body))
}

func (k *keeper) leaveOut(id, file, reason string, code Code) {
	k.kept[id] = nil
	k.t.left.add(file, reason, code)
}

// unusable returns why a file cannot be used. The reason is empty if the file is not the cause.
func unusable(kind string, err error) (reason string, code Code) {
	var rejected *durable.Rejection
	limit := intake.MaxMaterial
	if kind == files.Images {
		limit = intake.MaxImage
	}
	switch {
	case errors.Is(err, files.ErrTooLarge):
		return fmt.Sprintf("it is larger than %d MiB", limit>>20), CodeTooLarge
	case errors.Is(err, intake.ErrDimensions) && errors.As(err, &rejected):
		return rejected.Text, CodeTooLarge
	case errors.As(err, &rejected) && kind == files.Images:
		return rejected.Text, CodeNotAnImage
	case errors.As(err, &rejected):
		return rejected.Text, CodeUnknown
	case errors.Is(err, files.ErrSource):
		return "it cannot be unpacked", CodeUnknown
	}
	return "", ""
}

// counted reads an entry within room, because the size stated in the entry is not trusted. It stops
// when still returns an error.
type counted struct {
	r       io.Reader
	room    *int64
	still   func() error
	stopped error // the error of still
}

var errUnpacked = errors.New("the archive unpacks to more than the limit")

func (c *counted) Read(p []byte) (int, error) {
	if c.stopped = c.still(); c.stopped != nil {
		return 0, c.stopped
	}
	n, err := c.r.Read(p)
	if *c.room -= int64(n); *c.room < 0 {
		return 0, errUnpacked
	}
	return n, err
}

// materials reads materials.json, and adds the files linked by texts.
func (k *keeper) materials() (out []*pb.Material, err error) {
	if k.t.files["materials.json"] == nil {
		return k.linked, nil
	}
	var list []material
	if err := k.t.json("materials.json", &list); err != nil {
		return nil, err
	}
	out = []*pb.Material{} // not nil, because an empty list states that the codelab has no materials
	for _, m := range list {
		to := &pb.Material{Title: m.Title, MaterialType: m.MaterialType, LinkUrl: m.LinkURL}
		if m.File != "" {
			file := pathOf(m.File)
			if !safeName(m.File) || k.t.files[file] == nil {
				return nil, invalid("materials.json: %q is not in the archive", m.File)
			}
			u, err := k.bring(files.Materials, file)
			if err != nil {
				return nil, err
			}
			if u == nil {
				continue
			}
			to.Upload = u.Name
		}
		out = append(out, to)
	}
	for _, m := range k.linked {
		if !slices.ContainsFunc(out, func(has *pb.Material) bool { return has.Upload == m.Upload }) {
			out = append(out, m)
		}
	}
	return out, nil
}
