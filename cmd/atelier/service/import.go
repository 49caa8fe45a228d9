package service

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"atelier/actors/codelab"
	"atelier/transport/archive"
	"atelier/transport/control"
)

// Import makes a codelab of a file and says what was made.
func (c *Core) Import(f *os.File) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if info.Size() > archive.MaxPacked {
		return "", fmt.Errorf("the file is larger than %d MiB", archive.MaxPacked>>20)
	}
	in := archive.Importer{Workshops: c.workshops, Files: c.files, Now: time.Now}
	caller := &codelab.Caller{Role: codelab.RoleAdmin, ID: codelab.FacilitatorID, AdminID: c.cfg.Admin.ID, UserAgent: "atelier import"}
	made, err := in.Import(caller, f, info.Size(), func() error { return nil })
	if err != nil {
		return "", err
	}
	m := made.Codelab
	var out strings.Builder
	fmt.Fprintf(&out, "%s  %s (%d steps, join code %s)", m.Id, m.Title, made.Steps, m.JoinCode)
	if m.IsPublic {
		out.WriteString("\npublic: whoever reaches the server can read it")
	}
	for _, l := range made.LeftOut {
		out.WriteString("\nleft out: ")
		if l.File != "" {
			fmt.Fprintf(&out, "%q: ", l.File) // quoted: the name is not ours, and goes to a terminal
		}
		out.WriteString(l.Reason)
	}
	return out.String(), nil
}

// controls is what a running server does for other commands.
func (s *Service) controls() control.Operations {
	c := s.core
	return control.Operations{
		Backup:      c.Backup,
		Scrub:       c.Scrub,
		Participant: c.Participant,
		RotateKeys:  s.rotateKeys,
		Cluster:     s.clusterStatus,
		Import: func(content io.Reader) (string, error) {
			f, _, err := c.blobs.Spool(content, archive.MaxPacked)
			if err != nil {
				return "", err
			}
			defer f.Close()
			return c.Import(f)
		},
	}
}
