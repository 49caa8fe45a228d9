package archive

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/transport/intake"
)

// Importer reads codelabs from files.
type Importer struct {
	Files *files.Register
	Now   func() time.Time
	// Codelab is passed to Read as Surroundings.Codelab. It can be nil.
	Codelab func(slug string) (id string, err error)
}

// Incoming is a codelab read from a file. Nothing in it is recorded yet, but its files are stored.
// They cannot be removed before Close.
type Incoming struct {
	*Content

	files  *files.Register
	leases []*files.Lease
}

// Open reads an uploaded file of any known form. name is the uploaded file's name. The commit that
// creates a codelab or a newer version of one also registers the files that the upload contains.
// Nothing stays stored if the upload is refused, or if still fails because the caller has left.
func (im Importer) Open(name string, r io.ReaderAt, size int64, still func() error) (*Incoming, error) {
	in := &Incoming{files: im.Files}
	keep := func(kind, name string, content io.Reader) (*pb.Upload, error) {
		u, lease, err := im.keep(kind, name, content)
		if lease != nil {
			in.leases = append(in.leases, lease)
		}
		return u, err
	}
	var err error
	if in.Content, err = Read(r, size, Surroundings{Keep: keep, Still: still, Name: codelab.FileName(name), Codelab: im.Codelab}); err != nil {
		return nil, errors.Join(err, in.Close(false))
	}
	return in, nil
}

// Close releases the files. It removes files without references, unless the command's outcome is
// unknown, because the command can still be recorded.
func (in *Incoming) Close(unknown bool) error {
	var sums [][]byte
	for _, l := range in.leases {
		l.Release()
		sums = append(sums, l.Sum[:])
	}
	if unknown {
		return nil
	}
	return in.files.Discard(sums...)
}

// Version returns the file as a newer version of a codelab. Files that the codelab already has keep
// their names, so that a text whose images are unchanged is also unchanged. reused lists these
// names. If the file is not Whole, the codelab keeps its materials, and also its guide unless the
// file contains one. The files that the text links are then added to the materials, up to the
// limit.
func (in *Incoming) Version(v *codelab.View) (_ codelab.Publish, reused []string, _ error) {
	m := in.Codelab
	out := codelab.Publish{
		Title: m.Title, Description: m.Description, Author: m.Author, Slug: m.Slug, Guide: m.GuideMarkdown, Steps: in.Steps,
	}
	if in.Whole {
		out.Materials = &in.Materials
		if out.Guide == nil {
			out.Guide = new(string)
		}
	}
	has, err := in.present(v)
	if err != nil {
		return out, nil, err
	}
	var renamed []string
	for _, u := range in.Uploads {
		if same := has[contentOf(u)]; len(same) > 0 {
			name := same[0]
			if len(same) > 1 { // several equal files are used in order
				has[contentOf(u)] = same[1:]
			}
			renamed, reused = append(renamed, files.Folder+u.Name, files.Folder+name), append(reused, name)
			for _, m := range in.Materials {
				if m.Upload == u.Name {
					m.Upload = name
				}
			}
		} else {
			out.Uploads = append(out.Uploads, u)
		}
	}
	rename := strings.NewReplacer(renamed...)
	out.Description = rename.Replace(out.Description)
	for _, st := range in.Steps {
		st.ContentMarkdown = rename.Replace(st.ContentMarkdown)
	}
	if out.Guide != nil {
		guide := rename.Replace(*out.Guide)
		out.Guide = &guide
	}
	if !in.Whole {
		out.Materials = in.added(v)
	}
	slices.Sort(reused)
	return out, slices.Compact(reused), nil
}

// added returns the codelab's materials and those linked files that are not yet among them, up to
// the limit. It returns nil if there is nothing to add.
func (in *Incoming) added(v *codelab.View) *[]*pb.Material {
	var out []*pb.Material
	for _, m := range v.Materials.All() {
		out = append(out, m)
	}
	had := len(out)
	for _, m := range in.Materials {
		switch {
		case slices.ContainsFunc(out[:had], func(has *pb.Material) bool { return has.Upload == m.Upload }):
		case len(out) == codelab.Bounds.Materials:
			in.LeftOut = append(in.LeftOut, LeftOut{m.Title, fmt.Sprintf("a codelab has at most %d materials", codelab.Bounds.Materials), CodeUnknown})
		default:
			out = append(out, m)
		}
	}
	if len(out) == had {
		return nil
	}
	return &out
}

// present maps the key of each content (contentOf) to the codelab's files with this content, in the
// order in which an import stores an archive's files.
func (in *Incoming) present(v *codelab.View) (map[string][]string, error) {
	left := map[string]bool{}
	for _, name := range v.TextUploads() {
		left[name] = true
	}
	var names []string
	add := func(texts ...string) {
		for _, text := range texts {
			files.Mentioned(text, func(name string, _ int) {
				if left[name] {
					names = append(names, name)
					delete(left, name)
				}
			})
		}
	}
	for _, st := range v.Steps {
		add(st.ContentMarkdown)
	}
	add(v.Meta.GetDescription(), v.Meta.GetGuideMarkdown(), v.Meta.GetLogoUrl())
	for _, q := range v.Quizzes {
		add(q.Question)
		add(q.Options...)
	}
	for _, m := range v.Materials.All() {
		if m.Upload != "" && !slices.Contains(names, m.Upload) {
			names = append(names, m.Upload)
		}
	}
	out := map[string][]string{}
	for _, name := range names {
		u, err := in.files.Get(name)
		if errors.Is(err, files.ErrMissing) {
			continue // a broken link in a text
		}
		if err != nil {
			return nil, err
		}
		out[contentOf(u)] = append(out[contentOf(u)], name)
	}
	return out, nil
}

// contentOf returns a key that is the same for uploads with the same kind, content and name.
func contentOf(u *pb.Upload) string {
	kind, _, _ := strings.Cut(u.Name, "/")
	return kind + "\x00" + string(u.Sum) + "\x00" + u.OriginalName
}

// Unknown reports whether an error leaves a command's outcome unknown.
func Unknown(err error) bool { return err != nil && !durable.Refused(err) }

// keep stores one file of an archive.
func (im Importer) keep(kind, name string, content io.Reader) (*pb.Upload, *files.Lease, error) {
	if kind == files.Images {
		lease, image, err := intake.Image(im.Files.Blobs(), content)
		if err != nil {
			return nil, nil, err
		}
		return intake.Upload(lease, kind, image.Extension(), image.MediaType(), "", im.Now()), lease, nil
	}
	lease, mediaType, err := intake.Material(im.Files.Blobs(), content)
	if err != nil {
		return nil, nil, err
	}
	original := codelab.FileName(name)
	return intake.Upload(lease, kind, path.Ext(original), mediaType, original, im.Now()), lease, nil
}
