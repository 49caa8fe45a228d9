package codelab

import (
	"fmt"
	"net/url"
	"strings"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
)

// The kinds of material and of submission.
const (
	Link = "link"
	File = "file"
)

const (
	maxMaterials = 1000
	maxURL       = 2048
)

// AddMaterial adds a link or a file. The caller has verified that the material's upload exists.
type AddMaterial struct {
	Material *pb.Material
}

func (b AddMaterial) decide(c call) (decision, error) {
	if c.s.materials.Len() >= maxMaterials {
		return decision{}, durable.Reject(durable.Conflict, "a codelab has at most %d materials", maxMaterials)
	}
	m, err := c.newMaterial("", b.Material)
	if err != nil {
		return decision{}, err
	}
	d := decided(m, &pb.Event{Body: &pb.Event_MaterialAdded{MaterialAdded: &pb.MaterialAdded{Material: m}}})
	d.Rows = c.audit("material_add", m.Id, map[string]string{"material_type": m.MaterialType})
	if m.Upload != "" {
		d.Rows = append(d.Rows, files.UseRow(m.Upload, c.s.id, files.ByMaterial))
	}
	return d, nil
}

// newMaterials checks the initial materials of a codelab.
func (c call) newMaterials(in []*pb.Material) ([]*pb.Material, error) {
	if len(in) > maxMaterials {
		return nil, durable.Reject(durable.Invalid, "a codelab has at most %d materials", maxMaterials)
	}
	out := make([]*pb.Material, len(in))
	for i, m := range in {
		var err error
		if out[i], err = c.newMaterial(fmt.Sprintf("materials[%d].", i), m); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// newMaterial checks a material, and assigns its id.
func (c call) newMaterial(at string, in *pb.Material) (*pb.Material, error) {
	m := &pb.Material{MaterialType: in.MaterialType, LinkUrl: in.LinkUrl, Upload: in.Upload}
	var err error
	if m.Title, err = line(at+"title", in.Title, 1, maxTitle); err != nil {
		return nil, err
	}
	switch m.MaterialType {
	case Link:
		if m.LinkUrl, err = link(at+"link_url", in.LinkUrl); err != nil {
			return nil, err
		}
		if m.Upload != "" {
			return nil, durable.Reject(durable.Invalid, "%sfile_path does not belong to a link", at)
		}
	case File:
		if m.Upload == "" {
			return nil, durable.Reject(durable.Invalid, "%sfile_path is required", at)
		}
		if m.LinkUrl != "" {
			return nil, durable.Reject(durable.Invalid, "%slink_url does not belong to a file", at)
		}
	default:
		return nil, durable.Reject(durable.Invalid, "%smaterial_type must be %s or %s", at, Link, File)
	}
	m.Id, m.CreatedAt = c.id(), c.now.UnixMilli()
	return m, nil
}

// link checks a web address that people can open.
func link(field, value string) (string, error) {
	value, err := line(field, value, 1, maxURL)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https") {
		return "", durable.Reject(durable.Invalid, "%s must be an http or https address", field)
	}
	return value, nil
}

// DeleteMaterial removes a material.
type DeleteMaterial struct {
	MaterialID string
}

func (b DeleteMaterial) decide(c call) (decision, error) {
	m, err := named(&c.s.materials, b.MaterialID, (*pb.Material).GetId, "material")
	if err != nil {
		return decision{}, err
	}
	d := decided(m, &pb.Event{Body: &pb.Event_MaterialDeleted{MaterialDeleted: &pb.MaterialDeleted{MaterialId: m.Id}}})
	d.Rows = c.audit("material_delete", m.Id, nil)
	if m.Upload != "" && !c.s.isMaterial(m.Upload, m.Id) {
		d.Rows = append(d.Rows, files.UnuseRow(m.Upload, c.s.id, files.ByMaterial, 0))
	}
	return d, nil
}

// isMaterial reports whether an upload belongs to a material other than the one with the id except.
func (s *State) isMaterial(upload, except string) bool {
	for _, m := range s.materials.All() {
		if m.Upload == upload && m.Id != except {
			return true
		}
	}
	return false
}

func (s *State) applyMaterialAdded(seq uint64, m *pb.Material) {
	s.materials.Append(m)
	s.seen(m.Id)
	s.changed.Materials = seq
}

func (s *State) applyMaterialDeleted(seq uint64, id string) {
	s.materials.Filter(func(m *pb.Material) bool { return m.Id != id })
	s.changed.Materials = seq
}
