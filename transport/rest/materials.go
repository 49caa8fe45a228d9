package rest

import (
	"errors"
	"strings"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/files"
	"atelier/transport/wire"
)

type materialRecord struct {
	ID           string  `json:"id" is:"Id"`
	CodelabID    string  `json:"codelab_id" is:"Id"`
	Title        string  `json:"title" length:"1..200"`
	MaterialType string  `json:"material_type" enum:"link|file"`
	LinkURL      *string `json:"link_url" pattern:"^[hH][tT][tT][pP][sS]?://" length:"1..2048" doc:"null for a file."`
	FilePath     *string `json:"file_path" pattern:"^/uploads/(images|materials)/" doc:"null for a link."`
	CreatedAt    string  `json:"created_at" is:"Timestamp"`
}

func toMaterial(lab string, m *pb.Material) materialRecord {
	out := materialRecord{m.Id, lab, m.Title, m.MaterialType, wire.OrNull(m.LinkUrl), nil, wire.Stamp(m.CreatedAt)}
	if m.Upload != "" {
		path := files.Folder + m.Upload
		out.FilePath = &path
	}
	return out
}

func getMaterials(r *Request) error {
	v := r.view()
	if r.fresh(v.Changed.Materials, "m") {
		return nil
	}
	return r.cached(v.Encoded.Materials, forAdmins, func() any {
		out := make([]materialRecord, 0, v.Materials.Len())
		for _, m := range v.Materials.All() {
			out = append(out, toMaterial(r.Codelab.ID(), m))
		}
		return out
	})
}

type materialAddBody struct {
	Title        *string `json:"title" length:"1..200"`
	MaterialType *string `json:"material_type" enum:"link|file"`
	LinkURL      string  `json:"link_url,omitempty" null:"true" length:"..2048" doc:"An http or https address, for a link."`
	FilePath     string  `json:"file_path,omitempty" null:"true" doc:"For a file: a path that POST /upload/material has returned."`
}

func addMaterial(r *Request) error {
	var in materialAddBody
	if err := r.decode(&in); err != nil {
		return err
	}
	m := &pb.Material{
		Title: *in.Title, MaterialType: *in.MaterialType, LinkUrl: in.LinkURL, Upload: strings.TrimPrefix(in.FilePath, files.Folder),
	}
	if in.FilePath != "" && m.MaterialType == codelab.File {
		release, err := r.claimMaterial(in.FilePath)
		if err != nil {
			return err
		}
		defer release()
	}
	v, err := r.do(codelab.AddMaterial{Material: m})
	if err != nil {
		return err
	}
	return r.JSON(toMaterial(r.Codelab.ID(), v.(*pb.Material)))
}

// claimMaterial protects an uploaded material from removal until release is called.
func (r *Request) claimMaterial(path string) (release func(), err error) {
	name, ok := files.NameOf(path)
	if !ok {
		return nil, errNoUpload
	}
	release, err = r.api.Files.Claim(name)
	if errors.Is(err, files.ErrMissing) {
		return nil, errNoUpload
	}
	return release, err
}

var errNoUpload = wire.Invalid("file_path is not the path of an uploaded file")

func deleteMaterial(r *Request) error {
	v, err := r.do(codelab.DeleteMaterial{MaterialID: r.Param("material_id")})
	if err != nil {
		return err
	}
	if m := v.(*pb.Material); m.Upload != "" {
		r.release(files.Forgotten{Uploads: []string{m.Upload}})
	}
	return r.NoContent()
}
