package rest

import (
	"context"
	"errors"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/codelab"
	"atelier/actors/durable"
	"atelier/transport/httpapi"
)

var (
	errScope      = &httpapi.Error{Status: fasthttp.StatusForbidden, Text: "insufficient_scope"}
	errLogin      = &httpapi.Error{Status: fasthttp.StatusUnauthorized, Text: "login required"}
	errForbidden  = &httpapi.Error{Status: fasthttp.StatusForbidden, Text: "access denied"}
	errNoAttendee = &httpapi.Error{Status: fasthttp.StatusNotFound, Text: "attendee not found"}
	errNotShared  = &httpapi.Error{Status: fasthttp.StatusForbidden, Text: "this code is not shared with attendees, or not yet"}
	errCSRF       = &httpapi.Error{Status: fasthttp.StatusForbidden, Text: "the X-CSRF-Token header is missing or does not belong to this session"}
	errFramed     = &httpapi.Error{Status: fasthttp.StatusForbidden, Text: "signing in is not possible in a frame of another page: open this page in its own window"}
	errOrigin     = &httpapi.Error{Status: fasthttp.StatusForbidden, Text: "requests from this origin are not permitted"}
	errGitType    = &httpapi.Error{Status: fasthttp.StatusUnsupportedMediaType, Text: "the body must have the Content-Type that Git clients send"}
	errReportType = &httpapi.Error{Status: fasthttp.StatusUnsupportedMediaType, Text: "the body must be application/json or a form (application/x-www-form-urlencoded)"}
	errMultipart  = &httpapi.Error{Status: fasthttp.StatusUnsupportedMediaType, Text: "the body must be multipart/form-data"}
)

// statusOf is the only mapping from errors to the API's status codes. The client receives the text
// of an httpapi.Error or a durable.Rejection. Every other error gets a fixed text, so that no
// internal detail is sent. retry is the time for Retry-After, or 0 for none.
func statusOf(err error) (status int, text string, retry time.Duration) {
	var own *httpapi.Error
	var rejected *durable.Rejection
	switch {
	case errors.As(err, &own):
		return own.Status, own.Text, own.Retry
	case errors.As(err, &rejected):
		switch rejected.Reason {
		case durable.Invalid:
			return fasthttp.StatusBadRequest, rejected.Text, 0
		case durable.Unauthenticated:
			return fasthttp.StatusUnauthorized, rejected.Text, 0
		case durable.Forbidden:
			return fasthttp.StatusForbidden, rejected.Text, 0
		case durable.Missing:
			return fasthttp.StatusNotFound, rejected.Text, 0
		case durable.Conflict:
			return fasthttp.StatusConflict, rejected.Text, 0
		case durable.Outdated:
			return fasthttp.StatusPreconditionFailed, rejected.Text, 0
		case durable.TooLarge:
			return fasthttp.StatusRequestEntityTooLarge, rejected.Text, 0
		}
	case errors.Is(err, codelab.ErrTooFewKeepers):
		return fasthttp.StatusServiceUnavailable, "the poll was not opened: two servers must store the secret that makes it anonymous, and only one is available; try again", 10 * time.Second
	case errors.Is(err, durable.ErrReadOnly):
		return fasthttp.StatusServiceUnavailable, "the server is read-only for now: its disk is nearly full or has failed", 30 * time.Second
	case errors.Is(err, durable.ErrBusy):
		return fasthttp.StatusServiceUnavailable, "the server is busy; try again", time.Second
	case errors.Is(err, durable.ErrTooLarge):
		return httpapi.ErrTooLarge.Status, httpapi.ErrTooLarge.Text, 0
	case errors.Is(err, durable.ErrUnavailable), errors.Is(err, durable.ErrTimeout), errors.Is(err, durable.ErrQuarantined),
		errors.Is(err, durable.ErrClosed), errors.Is(err, durable.ErrFenced), errors.Is(err, durable.ErrConflict),
		// Only the server can end a context here, because requests have no context that clients can
		// cancel.
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fasthttp.StatusServiceUnavailable, "this cannot be recorded right now; try again", 2 * time.Second
	}
	return fasthttp.StatusInternalServerError, "internal error", 0
}

// Refuse implements httpapi.Call.
func (r *Request) Refuse(err error) httpapi.Problem {
	p := problemOf(err)
	if r.op != nil && r.op.Basic { // Git shows the text to its user
		if p.Status == fasthttp.StatusUnauthorized {
			r.Response.Header.Set("WWW-Authenticate", `Basic realm="Atelier", charset="UTF-8"`)
		}
		_, text, _ := statusOf(err)
		if errors.Is(err, errScope) {
			text = "the scope of this API token does not permit this; a push needs the scope import or all"
		}
		p.Body = httpapi.Text(text)
	}
	r.Response.Header.Del("X-Codelab-Seq") // an error response contains no state
	switch p.Status {
	case fasthttp.StatusUnauthorized, fasthttp.StatusForbidden:
		r.api.denied(r, p.Status)
	}
	return p
}

// problemOf returns the response to an error. Its body has exactly one field.
func problemOf(err error) httpapi.Problem {
	status, text, retry := statusOf(err)
	return httpapi.Problem{
		Status: status, Retry: retry, Hint: err,
		Unexpected: status >= 500 && status != fasthttp.StatusServiceUnavailable,
		Body:       problemRecord{text},
	}
}

type problemRecord struct {
	Error string `json:"error" doc:"A message for people. It names the invalid field, if any."`
}
