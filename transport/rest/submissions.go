package rest

import (
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/transport/httpapi"
	"atelier/transport/intake"
	"atelier/transport/wire"
)

type submissionRecord struct {
	ID             string  `json:"id" is:"Id"`
	CodelabID      string  `json:"codelab_id" is:"Id"`
	AttendeeID     string  `json:"attendee_id" is:"Id"`
	AttendeeName   string  `json:"attendee_name"`
	FilePath       *string `json:"file_path" pattern:"^/api/codelabs/" doc:"The address of the file, for its attendee and for facilitators. Null for a link."`
	FileName       string  `json:"file_name" length:"..200" doc:"The name of the file, or the title of the link."`
	FileSize       int64   `json:"file_size" range:"0..10485760" doc:"The size in bytes; 0 for a link."`
	SubmissionType string  `json:"submission_type" enum:"file|link"`
	LinkURL        *string `json:"link_url" pattern:"^[hH][tT][tT][pP][sS]?://" length:"1..2048" doc:"null for a file."`
	CreatedAt      string  `json:"created_at" is:"Timestamp"`
}

func toSubmission(lab, name string, s *pb.Submission) submissionRecord {
	out := submissionRecord{
		s.Id, lab, s.AttendeeId, name, nil, s.FileName, s.FileSize, s.SubmissionType, wire.OrNull(s.LinkUrl), wire.Stamp(s.CreatedAt),
	}
	if s.SubmissionType == codelab.File {
		path := "/api/codelabs/" + lab + "/attendees/" + s.AttendeeId + "/submissions/" + s.Id + "/file"
		out.FilePath = &path
	}
	return out
}

// own checks that the caller is the path's attendee.
func (r *Request) own() error {
	if r.Param("attendee_id") != r.Caller.ID {
		return errForbidden
	}
	return nil
}

func submitFile(r *Request) error {
	if err := r.own(); err != nil {
		return err
	}
	// The actor checks the size again. This check only avoids writing files that the actor would
	// refuse.
	if r.Codelab.View().Submitted(r.Caller.ID) >= codelab.MaxAttendeeBytes {
		return durable.Reject(durable.TooLarge, "your submissions already have the maximum size of %d MiB together; delete one first", codelab.MaxAttendeeBytes>>20)
	}
	part, err := r.filePart(codelab.MaxSubmissionBytes)
	if err != nil {
		return err
	}
	lease, mediaType, err := intake.File(r.api.Files.Blobs(), part, codelab.MaxSubmissionBytes)
	if err != nil {
		return r.storeError(err)
	}
	defer lease.Release()
	err = r.submit(&pb.Submission{
		AttendeeId: r.Caller.ID, SubmissionType: codelab.File, FileName: part.FileName(), FileSize: lease.Size,
		MediaType: mediaType, Sum: lease.Sum[:],
	})
	if lease.Release(); durable.Refused(err) {
		r.release(files.Forgotten{Submissions: []*pb.Submission{{Sum: lease.Sum[:]}}})
	}
	return err
}

type submissionLinkBody struct {
	URL   *string `json:"url" length:"1..2048" doc:"An http or https address."`
	Title string  `json:"title,omitempty" null:"true" length:"..200"`
}

func submitLink(r *Request) error {
	if err := r.own(); err != nil {
		return err
	}
	var in submissionLinkBody
	if err := r.decode(&in); err != nil {
		return err
	}
	return r.submit(&pb.Submission{AttendeeId: r.Caller.ID, SubmissionType: codelab.Link, LinkUrl: *in.URL, FileName: in.Title})
}

func (r *Request) submit(s *pb.Submission) error {
	v, err := r.do(codelab.AddSubmission{Submission: s})
	if err != nil {
		return err
	}
	out := v.(*pb.Submission)
	return r.JSON(toSubmission(r.Codelab.ID(), r.Codelab.View().Attendee(out.AttendeeId).GetName(), out))
}

// getSubmissions returns all submissions to admins, and their own submissions to other callers,
// newest first.
func getSubmissions(r *Request) error {
	v := r.view()
	variant := "a"
	if !r.IsAdmin() {
		variant = r.Caller.ID
	}
	// The records contain attendees' names, so the tag also changes with the attendees.
	if r.fresh(max(v.Changed.Submissions, v.Changed.Attendees), variant) {
		return nil
	}
	out := []submissionRecord{}
	for i := v.Submissions.Len() - 1; i >= 0; i-- {
		if s := v.Submissions.At(i); r.IsAdmin() || s.AttendeeId == r.Caller.ID {
			out = append(out, toSubmission(r.Codelab.ID(), v.Attendee(s.AttendeeId).GetName(), s))
		}
	}
	return r.JSON(out)
}

func deleteSubmission(r *Request) error {
	v, err := r.do(codelab.DeleteSubmission{
		AttendeeID: r.Param("attendee_id"), SubmissionID: r.Param("submission_id"),
	})
	if err != nil {
		return err
	}
	r.release(files.Forgotten{Submissions: []*pb.Submission{v.(*pb.Submission)}})
	return r.NoContent()
}

// getSubmissionFile serves a submitted file to its attendee and to admins.
func getSubmissionFile(r *Request) error {
	if !r.IsAdmin() {
		if err := r.own(); err != nil {
			return err
		}
	}
	s := r.Codelab.View().Submission(r.Param("submission_id"))
	if s == nil || s.AttendeeId != r.Param("attendee_id") || s.SubmissionType != codelab.File {
		return errNoSubmission
	}
	return r.serveFile(file{sum: s.Sum, mediaType: s.MediaType, name: s.FileName, cache: "private, no-cache"})
}

var errNoSubmission = &httpapi.Error{Status: 404, Text: "submission not found"}
