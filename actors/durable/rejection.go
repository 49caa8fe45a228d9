package durable

import (
	"errors"
	"fmt"
)

// Reason is the reason why a command was rejected. The transport maps it to a status code.
type Reason uint8

// Reasons of rejection.
const (
	// Invalid: the content violates a rule of the API.
	Invalid Reason = iota + 1
	// Unauthenticated: the caller is not authenticated.
	Unauthenticated
	// Forbidden: the caller is not allowed to do this.
	Forbidden
	// Missing: the object does not exist.
	Missing
	// Conflict: the state does not permit the command.
	Conflict
	// TooLarge: the content is too large.
	TooLarge
	// Outdated: the record has changed since the given revision.
	Outdated
)

// Rejection is an expected refusal by the domain. Its text is meant for the caller and contains no
// secret.
type Rejection struct {
	Reason Reason
	Text   string
}

// Error returns the text.
func (r *Rejection) Error() string { return r.Text }

// Is reports whether target has the same reason and text. errors.Is needs it because a rejection
// from another node is a copy, with a different pointer.
func (r *Rejection) Is(target error) bool {
	t, ok := target.(*Rejection)
	return ok && *t == *r
}

// Reject returns a rejection; format and args are as in fmt.Sprintf.
func Reject(reason Reason, format string, args ...any) error {
	return &Rejection{Reason: reason, Text: fmt.Sprintf(format, args...)}
}

// IsMissing reports whether err means that an object certainly does not exist. After any other
// error it is unknown whether the object exists.
func IsMissing(err error) bool {
	var rejected *Rejection
	return errors.As(err, &rejected) && rejected.Reason == Missing
}

// Refused reports whether err shows that a command was certainly not applied. It is also false for
// a few errors after which nothing was applied, such as ErrQuarantined and ErrInternal.
func Refused(err error) bool {
	var rejected *Rejection
	return errors.As(err, &rejected) || errors.Is(err, ErrBusy) || errors.Is(err, ErrReadOnly) || errors.Is(err, ErrRested)
}

// Errors of an actor that cannot answer now. Unless a comment states otherwise, it is unknown
// whether the command was applied.
var (
	// ErrUnavailable means that the actor failed or is restarting. In a cluster it can also mean
	// that this node has no lease, or cannot reach the owner.
	ErrUnavailable = errors.New("the service cannot record this now")
	// ErrRested means that the actor stopped after its handle was looked up, for example because it
	// was idle or purged. The command was not applied. Host.Get returns a new handle.
	ErrRested = fmt.Errorf("%w: the actor rests", ErrUnavailable)
	// ErrQuarantined means that the actor failed too often and was stopped. The command was not
	// applied.
	ErrQuarantined = errors.New("quarantined after repeated failures")
	// ErrTimeout means that no answer arrived in time.
	ErrTimeout = errors.New("no answer in time")
	// ErrInternal means that deciding panicked, or that the command or its events could not be
	// encoded or decoded. Nothing was applied.
	ErrInternal = errors.New("internal error")
	// ErrUnknownEvent means that a newer program wrote the event. A state without this event would
	// be wrong, so no state is built.
	ErrUnknownEvent = errors.New("unknown kind of event, written by a newer program")
	// ErrUnknownCommand means that the node that owns the actor runs an earlier version and cannot
	// decode the command or a part of it. Nothing was applied. The error wraps ErrUnavailable,
	// because the command succeeds after the update of that node.
	ErrUnknownCommand = fmt.Errorf("%w: the owning node runs an earlier version; try again when all nodes are updated", ErrUnavailable)
)
