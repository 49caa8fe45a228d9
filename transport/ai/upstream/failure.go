package upstream

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Failure means that the upstream sent no answer or only a part of one. Status and Text are for the
// client. Status is never 401 or 403, which would concern the client's own session. Text never
// contains the upstream's text.
type Failure struct {
	Status int
	Text   string
	// Retry is the delay before a retry, or 0 if it is unknown.
	Retry time.Duration
	// Cause is one of the causes below, for logs and metrics.
	Cause string
}

func (f *Failure) Error() string { return f.Text }

// Causes of a failure.
const (
	CauseConnect   = "connect"
	CauseTimeout   = "timeout"
	CauseKey       = "key_refused"
	CauseRequest   = "request_refused"
	CauseBusy      = "busy"
	CauseBroken    = "broken"
	CauseError     = "error"
	CauseCancelled = "cancelled"
)

func failure(status int, cause, text string) *Failure {
	return &Failure{Status: status, Text: text, Cause: cause}
}

var (
	errConnect  = failure(http.StatusBadGateway, CauseConnect, "the AI cannot be reached")
	errBroken   = failure(http.StatusBadGateway, CauseBroken, "the AI's answer broke off or could not be read")
	errLong     = failure(http.StatusBadGateway, CauseBroken, "the AI's answer is too long")
	errUpstream = failure(http.StatusBadGateway, CauseError, "the AI failed to answer")
	errTimeout  = failure(http.StatusGatewayTimeout, CauseTimeout, "the AI did not answer in time")
	errGone     = failure(http.StatusBadGateway, CauseCancelled, "cancelled")
)

const (
	defaultRetry = 5 * time.Second
	maxRetry     = time.Hour
)

// refused returns the failure for an upstream's status.
func refused(res *http.Response, now time.Time) *Failure {
	switch status := res.StatusCode; {
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		f := failure(http.StatusServiceUnavailable, CauseBusy, "the AI is busy; try again later")
		f.Retry = retryAfter(res.Header.Get("Retry-After"), now)
		return f
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return failure(http.StatusBadGateway, CauseKey, "the AI refused the key")
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return errTimeout
	case status >= 400 && status < 500:
		return failure(http.StatusBadGateway, CauseRequest, "the AI refused the request ("+strconv.Itoa(status)+")")
	}
	return errUpstream
}

// retryAfter returns the delay in a Retry-After header, which is a number of seconds or a date. The
// delay is at least one second and at most maxRetry. For any other text it is defaultRetry.
func retryAfter(text string, now time.Time) time.Duration {
	wait := defaultRetry
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
		wait = time.Duration(min(n, int(maxRetry/time.Second))) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, time.Second), maxRetry)
}

// explain converts an error to a Failure. It returns fallback if the error has no known cause.
func explain(ctx context.Context, err error, fallback *Failure) *Failure {
	var own *Failure
	var network net.Error
	cause := context.Cause(ctx)
	switch {
	case errors.As(cause, &own): // one of our timeouts
		return own
	case cause != nil:
		return errGone
	case errors.As(err, &own):
		return own
	case errors.As(err, &network) && network.Timeout():
		return errTimeout
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errBroken
	}
	return fallback
}
