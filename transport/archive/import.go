package archive

import (
	"errors"
	"io"
	"path"
	"time"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/transport/intake"
)

// Importer makes codelabs of files. All fields are required.
type Importer struct {
	Workshops codelab.Directory
	Files     *files.Register
	Now       func() time.Time
}

// Imported is what was made of a file.
type Imported struct {
	Codelab *pb.Codelab
	Steps   int
	LeftOut []LeftOut
}

// Import makes a codelab of a file of any of the known forms. The files it
// brings are registered in the commit of the codelab; of an import that is
// refused, or for which nobody waits any more, nothing is kept. still says the
// latter by its error.
func (im Importer) Import(caller *codelab.Caller, r io.ReaderAt, size int64, still func() error) (Imported, error) {
	var leases []*files.Lease
	keep := func(kind, name string, content io.Reader) (*pb.Upload, error) {
		u, lease, err := im.keep(kind, name, content)
		if lease != nil {
			leases = append(leases, lease)
		}
		return u, err
	}
	c, left, err := Read(r, size, keep, still)
	read := err == nil
	var m *pb.Codelab
	if read {
		m, err = im.Workshops.Create(caller, c)
	}
	var sums [][]byte
	for _, l := range leases {
		l.Release()
		sums = append(sums, l.Sum[:])
	}
	if err == nil {
		return Imported{m, len(c.Steps), left}, nil
	}
	// One whose outcome is unknown may still be recorded.
	if !read || durable.Refused(err) {
		err = errors.Join(err, im.Files.Discard(sums...))
	}
	return Imported{}, err
}

// keep puts one file of an archive.
func (im Importer) keep(kind, name string, content io.Reader) (*pb.Upload, *files.Lease, error) {
	if kind == files.Images {
		lease, image, err := intake.Image(im.Files.Blobs(), content)
		if err != nil {
			return nil, nil, err
		}
		return intake.Upload(lease, kind, image.Extension(), image.MediaType(), "", im.Now()), lease, nil
	}
	lease, mediaType, err := intake.File(im.Files.Blobs(), content, intake.MaxMaterial)
	if err != nil {
		return nil, nil, err
	}
	original := codelab.FileName(name)
	return intake.Upload(lease, kind, path.Ext(original), mediaType, original, im.Now()), lease, nil
}
