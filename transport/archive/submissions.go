package archive

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"atelier/actors/code"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/files"
	"atelier/actors/naming"
)

// WriteSubmissions writes all submissions as a ZIP: a folder per attendee with the files, and a
// list of the links in links.txt. missing.txt lists files that were deleted since the view was
// made. Names are unique on every file system.
func WriteSubmissions(w io.Writer, v *codelab.View, blobs files.Blobs) error {
	p := NewPack(w, time.UnixMilli(v.UpdatedAt))
	if _, err := p.Submissions(v, blobs, ""); err != nil {
		return err
	}
	return p.Close()
}

// Submissions adds the same content as WriteSubmissions; with an id, it adds only that attendee's
// submissions. It returns the path of each file in the ZIP, by the id of its submission.
func (p *Pack) Submissions(v *codelab.View, blobs files.Blobs, attendee string) (at map[string]string, err error) {
	taken := taken{}
	at = map[string]string{}
	byAttendee := map[string][]*pb.Submission{}
	for _, s := range v.Submissions.All() {
		byAttendee[s.AttendeeId] = append(byAttendee[s.AttendeeId], s)
	}
	for _, a := range v.Attendees.All() {
		own := byAttendee[a.Id]
		if len(own) == 0 || attendee != "" && attendee != a.Id {
			continue
		}
		if err := p.Folder(taken.name(a.Name)).own(own, blobs, at); err != nil {
			return nil, err
		}
	}
	return at, nil
}

func (p *Pack) own(own []*pb.Submission, blobs files.Blobs, at map[string]string) error {
	taken := taken{}
	var links, missing strings.Builder
	for _, s := range own {
		if s.SubmissionType == codelab.Link {
			fmt.Fprintf(&links, "%s\n%s\n\n", s.FileName, s.LinkUrl)
			continue
		}
		sum, _ := files.SumOf(s.Sum)
		f, _, err := blobs.Open(sum)
		if errors.Is(err, files.ErrMissing) { // the attendee has deleted it since the view was made
			fmt.Fprintf(&missing, "%s\n", s.FileName)
			continue
		}
		if err != nil {
			return fmt.Errorf("pack submission %s: %w", s.Id, err)
		}
		name := taken.name(s.FileName)
		at[s.Id] = p.folder + name
		err = p.store(name, s.CreatedAt, f)
		_ = f.Close()
		if err != nil {
			return err
		}
	}
	if missing.Len() > 0 {
		if err := p.Add(taken.name("missing.txt"), []byte(missing.String())); err != nil {
			return err
		}
	}
	if links.Len() == 0 {
		return nil
	}
	return p.Add(taken.name("links.txt"), []byte(links.String()))
}

// taken contains the used names in one folder, folded as on case-insensitive file systems.
type taken map[string]bool

// name returns an unused name that is valid on any file system.
func (t taken) name(wanted string) string {
	wanted = portable(wanted)
	ext := path.Ext(wanted)
	stem := strings.TrimSuffix(wanted, ext)
	for n, name := 2, wanted; ; n++ {
		key := naming.Key(name)
		if !t[key] {
			t[key] = true
			return name
		}
		name = fmt.Sprintf("%s (%d)%s", stem, n, ext)
	}
}

// portable returns a name that is valid on any file system, including those that reserve characters
// and names.
func portable(name string) string {
	name = norm.NFC.String(codelab.FileName(strings.NewReplacer("/", "_", `\`, "_").Replace(name)))
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(code.ForbiddenByWindows, r) {
			return '_'
		}
		return r
	}, name)
	name = strings.TrimRight(strings.TrimLeft(name, ". "), ". ")
	switch {
	case name == "":
		return "unnamed"
	case code.ReservedByWindows(name):
		return "_" + name
	}
	return name
}
