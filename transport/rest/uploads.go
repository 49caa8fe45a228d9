package rest

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"path"
	"strconv"
	"time"

	"atelier/actors/audit"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/transport/httpapi"
	"atelier/transport/intake"
	"atelier/transport/wire"
)

// uploadImage removes an image's metadata and stores the image.
func uploadImage(r *Request) error {
	// An image does not belong to a codelab, so no codelab quota applies to it. A rate limit bounds
	// the images of attendees instead.
	if !r.IsAdmin() {
		if wait := r.api.Limits.Images.Allow(r.Caller.ID); wait > 0 {
			return httpapi.ErrTooMany(wait)
		}
	}
	part, err := r.filePart(intake.MaxImage)
	if err != nil {
		return err
	}
	lease, kind, err := intake.Image(r.api.Files.Blobs(), part)
	if err != nil {
		return r.storeError(err)
	}
	defer lease.Release()
	u := intake.Upload(lease, files.Images, kind.Extension(), kind.MediaType(), "", r.api.Now())
	if err := r.register(u, "image_upload"); err != nil {
		return err
	}
	return r.JSON(imageUploaded{files.Folder + u.Name})
}

type imageUploaded struct {
	URL string `json:"url" pattern:"^/uploads/images/[0-9a-f]{32}\\.(png|jpg|gif|webp)$"`
}

type materialUploaded struct {
	URL          string `json:"url" pattern:"^/uploads/materials/[0-9a-f]{32}\\.[0-9a-z]{1,10}$"`
	OriginalName string `json:"original_name" length:"1..80"`
}

func uploadMaterial(r *Request) error {
	part, err := r.filePart(intake.MaxMaterial)
	if err != nil {
		return err
	}
	lease, mediaType, err := intake.Material(r.api.Files.Blobs(), part)
	if err != nil {
		return r.storeError(err)
	}
	defer lease.Release()
	original := codelab.FileName(part.FileName())
	u := intake.Upload(lease, files.Materials, path.Ext(original), mediaType, original, r.api.Now())
	if err := r.register(u, "material_upload"); err != nil {
		return err
	}
	return r.JSON(materialUploaded{files.Folder + u.Name, u.OriginalName})
}

// register records an upload and, in the same commit, its sender. If it fails, the upload may have
// been recorded nevertheless. A sweep then removes it.
func (r *Request) register(u *pb.Upload, action string) error {
	record := &audit.Record{
		Action: action, TargetId: u.Name, Ip: r.Caller.IP, UserAgent: r.Caller.UserAgent, CreatedAt: u.CreatedAt,
		ActorType: "admin", ActorId: r.Caller.AdminID, Metadata: map[string]string{"bytes": strconv.FormatInt(u.Size, 10)},
	}
	if !r.IsAdmin() {
		record.ActorType, record.ActorId, record.CodelabId = "attendee", r.Caller.ID, r.Codelab.ID()
	}
	return r.api.Files.Add(u, r.api.Audit.Rows(record)...)
}

var (
	errBrokeOff = wire.Invalid("the file ended before it was complete")
	errSpool    = &httpapi.Error{Status: 503, Text: "the upload cannot be stored right now; try again", Retry: 10 * time.Second}
)

// storeError returns the response for a file that was not stored.
func (r *Request) storeError(err error) error {
	var own *httpapi.Error
	var rejected *durable.Rejection
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &rejected):
		return err
	case errors.Is(err, files.ErrTooLarge):
		return httpapi.ErrTooLarge
	case errors.Is(err, files.ErrSource):
		return errBrokeOff
	case errors.Is(err, durable.ErrReadOnly):
		return err
	}
	r.api.Logger.Error("storing an upload failed", "request_id", r.ID, "error", err)
	return errSpool
}

// release removes files to which nothing refers. A failure is only logged, because the deletion
// that left the files without a reference is already recorded. A later sweep removes the files.
func (r *Request) release(f files.Forgotten) {
	if err := r.api.Files.Release(f); err != nil {
		r.api.Logger.Warn("removing unreferenced files failed; a sweep will remove them", "request_id", r.ID, "error", err)
	}
}

// uploadTimeout is the time limit for the body of an upload.
const uploadTimeout = 10 * time.Minute

// bodyReader returns the body as a stream. (RequestCtx's Body reads a stream into memory
// completely, so Body is used only for bodies that are already in memory.)
func (r *Request) bodyReader() io.Reader {
	if r.Request.IsBodyStream() {
		return r.Request.BodyStream()
	}
	return bytes.NewReader(r.Request.Body())
}

// maxParts bounds the number of fields before the file, and maxBeforeFile bounds their bytes. The
// library accepts 10 MiB of header fields per part.
const (
	maxParts      = 100
	maxBeforeFile = 64 << 10
)

// filePart returns the multipart field "file". limit is the maximum size of the file, in bytes. The
// caller must also enforce it, because filePart permits some more bytes for the multipart framing.
// If a read returns EOF, the file is complete.
func (r *Request) filePart(limit int64) (*filePart, error) {
	kind, params, err := mime.ParseMediaType(string(r.Request.Header.ContentType()))
	if err != nil || kind != "multipart/form-data" || params["boundary"] == "" {
		return nil, errMultipart
	}
	// The multipart framing around the file needs some bytes.
	if int64(r.Request.Header.ContentLength()) > limit+httpapi.FormOverhead {
		return nil, httpapi.ErrTooLarge
	}
	_ = r.Conn().SetReadDeadline(time.Now().Add(uploadTimeout))
	// The parts before the file are kept in memory, so their size is bounded.
	whole := &io.LimitedReader{R: r.bodyReader(), N: maxBeforeFile}
	parts := multipart.NewReader(whole, params["boundary"])
	for range maxParts {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, wire.Invalid("the multipart body is malformed or incomplete")
		}
		if p.FormName() == "file" {
			whole.N += limit + httpapi.FormOverhead
			return &filePart{p, r}, nil
		}
	}
	return nil, wire.Invalid("file is required")
}

// filePart is an uploaded file.
type filePart struct {
	*multipart.Part
	r *Request
}

// Read checks the caller again at the end of the file, because permission can be lost during a long
// upload. It returns EOF only if the caller is still permitted to upload.
func (p *filePart) Read(b []byte) (int, error) {
	n, err := p.Part.Read(b)
	if errors.Is(err, io.EOF) {
		if gone := p.r.still(); gone != nil {
			return n, gone
		}
	}
	return n, err
}
