package codelab

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
)

// Bounds of one attendee's submissions (transport/rest/RULES.md, "Limits").
const (
	MaxSubmissionBytes = 10 << 20
	MaxAttendeeBytes   = 50 << 20
	maxSubmissions     = 200
)

// errQuota rejects a submission beyond an attendee's quota. errFileSize rejects files larger than
// MaxSubmissionBytes, which are usually rejected earlier, when they are received.
var (
	errQuota = &durable.Rejection{
		Reason: durable.TooLarge, Text: fmt.Sprintf("your submissions together would be larger than %d MiB; delete one first", MaxAttendeeBytes>>20),
	}
	errFileSize = &durable.Rejection{Reason: durable.TooLarge, Text: fmt.Sprintf("the file is larger than %d MiB", MaxSubmissionBytes>>20)}
)

// handedIn is the number and size of one attendee's submissions.
type handedIn struct {
	count int
	bytes int64
}

// AddSubmission records a submitted file or link. The content of a file is already stored.
type AddSubmission struct {
	Submission *pb.Submission
}

func (b AddSubmission) decide(c call) (decision, error) {
	if c.s.attendee(c.ID) == nil {
		return decision{}, durable.Reject(durable.Forbidden, "only attendees can submit work")
	}
	if b.Submission.AttendeeId != c.ID {
		return decision{}, durable.Reject(durable.Forbidden, "you can submit work only for yourself")
	}
	had := c.s.submitted[c.ID]
	if had.count >= maxSubmissions {
		return decision{}, durable.Reject(durable.Conflict, "you have %d submissions, which is the maximum; delete one first", maxSubmissions)
	}
	out := &pb.Submission{
		Id: c.id(), AttendeeId: c.ID, SubmissionType: b.Submission.SubmissionType, CreatedAt: c.now.UnixMilli(),
	}
	var rows []durable.Row
	var err error
	switch in := b.Submission; in.SubmissionType {
	case File:
		switch {
		case in.FileSize > MaxSubmissionBytes:
			return decision{}, errFileSize
		case had.bytes+in.FileSize > MaxAttendeeBytes:
			return decision{}, errQuota
		}
		out.FileName, out.FileSize, out.MediaType, out.Sum = FileName(in.FileName), in.FileSize, in.MediaType, in.Sum
		rows = append(c.audit("submission_upload", out.Id, map[string]string{"bytes": fmt.Sprint(in.FileSize)}),
			files.SubmissionRow(in.Sum, c.s.id, out.Id))
	case Link:
		if out.LinkUrl, err = link("url", in.LinkUrl); err != nil {
			return decision{}, err
		}
		if out.FileName, err = line("title", in.FileName, 0, maxTitle); err != nil {
			return decision{}, err
		}
		rows = c.audit("submission_link", out.Id, nil)
	default:
		return decision{}, durable.Reject(durable.Invalid, "unknown kind of submission")
	}
	d := decided(out, &pb.Event{Body: &pb.Event_SubmissionAdded{SubmissionAdded: &pb.SubmissionAdded{Submission: out}}})
	d.Rows = rows
	return d, nil
}

// DeleteSubmission deletes a submission.
type DeleteSubmission struct {
	AttendeeID   string
	SubmissionID string
}

func (b DeleteSubmission) decide(c call) (decision, error) {
	if !c.admin() && c.ID != b.AttendeeID {
		return decision{}, durable.Reject(durable.Forbidden, "only your own submissions can be deleted")
	}
	if _, err := c.target(b.AttendeeID); err != nil {
		return decision{}, err
	}
	i, ok := searchID(&c.s.submissions, b.SubmissionID, (*pb.Submission).GetId)
	if !ok || c.s.submissions.At(i).AttendeeId != b.AttendeeID {
		return decision{}, durable.Reject(durable.Missing, "submission not found")
	}
	old := c.s.submissions.At(i)
	d := decided(old, &pb.Event{Body: &pb.Event_SubmissionDeleted{SubmissionDeleted: &pb.SubmissionDeleted{SubmissionId: old.Id}}})
	d.Rows = append(c.audit("submission_delete", old.Id, map[string]string{"attendee_id": old.AttendeeId}), c.noSubmissionRows(old)...)
	return d, nil
}

// noSubmissionRows returns the rows that remove the references of removed submissions.
func (c call) noSubmissionRows(gone ...*pb.Submission) (rows []durable.Row) {
	for _, s := range gone {
		if len(s.Sum) > 0 {
			rows = append(rows, files.NoSubmissionRow(s.Sum, c.s.id, s.Id))
		}
	}
	return rows
}

// submissionsOf returns an attendee's submissions.
func (s *State) submissionsOf(attendee string) (out []*pb.Submission) {
	if s.submitted[attendee].count == 0 {
		return nil
	}
	for _, x := range s.submissions.All() {
		if x.AttendeeId == attendee {
			out = append(out, x)
		}
	}
	return out
}

func (s *State) applySubmissionAdded(seq uint64, x *pb.Submission) {
	s.seen(x.Id)
	if s.attendee(x.AttendeeId) == nil {
		return
	}
	s.submissions.Append(x)
	s.countSubmission(x)
	s.changed.Submissions = seq
}

// keepSubmissions filters the submissions.
func (s *State) keepSubmissions(seq uint64, keep func(*pb.Submission) bool) {
	if s.submissions.Filter(keep) > 0 {
		s.indexSubmissions()
		s.changed.Submissions = seq
	}
}

func (s *State) countSubmission(x *pb.Submission) {
	h := s.submitted[x.AttendeeId]
	h.count++
	h.bytes += x.FileSize
	s.submitted[x.AttendeeId] = h
}

func (s *State) indexSubmissions() {
	clear(s.submitted)
	for _, x := range s.submissions.All() {
		s.countSubmission(x)
	}
}

// maxFileName bounds a file's name, in code points. Common file systems accept 255 bytes, which are
// enough for these code points in all scripts in wide use.
const maxFileName = 80

// FileName cleans the file name that a client sent. It returns the last part of a path, truncated
// and without control characters, and never "".
func FileName(sent string) string {
	name := strings.ToValidUTF8(sent, "_")
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, name))
	if n := utf8.RuneCountInString(name); n > maxFileName {
		ext := path.Ext(name)
		if utf8.RuneCountInString(ext) > 12 {
			ext = ""
		}
		stem := []rune(strings.TrimSuffix(name, ext))
		// The cut can leave a space at the end.
		name = strings.TrimSpace(string(stem[:maxFileName-utf8.RuneCountInString(ext)]) + ext)
	}
	if strings.Trim(name, ".") == "" {
		return "file"
	}
	return name
}
