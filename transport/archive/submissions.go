package archive

import (
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

// WriteSubmissions writes what was handed in as a ZIP: a folder for each
// attendee with the files and a list of the links. No two names are the same
// for any file system.
func WriteSubmissions(w io.Writer, v *codelab.View, blobs files.Blobs) error {
	p := NewPack(w, time.UnixMilli(v.UpdatedAt))
	if _, err := p.Submissions(v, blobs, ""); err != nil {
		return err
	}
	return p.Close()
}

// Submissions adds what WriteSubmissions writes; of one attendee, if an id is given. It
// returns the location of each file in the ZIP, by the id of its submission.
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
	var links strings.Builder
	for _, s := range own {
		if s.SubmissionType == codelab.Link {
			fmt.Fprintf(&links, "%s\n%s\n\n", s.FileName, s.LinkUrl)
			continue
		}
		sum, _ := files.SumOf(s.Sum)
		f, _, err := blobs.Open(sum)
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
	if links.Len() == 0 {
		return nil
	}
	return p.Add(taken.name("links.txt"), []byte(links.String()))
}

// taken are the names in one folder, in the form in which file systems that
// do not tell upper from lower case compare them.
type taken map[string]bool

// name makes a name that any file system takes and that is not taken.
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

// portable makes a name that any file system takes: also those that keep
// characters and names for themselves.
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
