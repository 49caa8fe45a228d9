package handler

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/actors/token"
	"atelier/actors/token/credential"
)

// A caller must be able to distinguish a refusal of its request from a fault of the server, after
// which it can try again.
func TestEachErrorHasItsResponse(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		code   string
		retry  time.Duration
		known  bool
	}{
		{token.IsUsed, 410, "token_used", 0, true},
		{token.NotFound, 404, "token_not_found", 0, true},
		{&credential.Shape{Text: "x"}, 400, "invalid_request", 0, true},
		{&credential.Refused{Text: "x"}, 422, "credential_invalid", 0, true},
		{durable.Reject(durable.Forbidden, "x"), 400, "invalid_request", 0, true},
		{durable.ErrReadOnly, 503, "unavailable", 30 * time.Second, true},
		{durable.ErrBusy, 503, "unavailable", time.Second, true},
		{durable.ErrTimeout, 503, "unavailable", time.Second, true},
		{durable.ErrUnknownCommand, 503, "unavailable", time.Second, true},
		{durable.ErrFenced, 503, "unavailable", time.Second, true},
		{durable.ErrQuarantined, 503, "unavailable", time.Second, true},
		{durable.ErrConflict, 503, "unavailable", time.Second, true},
		{token.ErrDamaged, 503, "unavailable", 5 * time.Minute, true},
		{errors.New("disk: secret-text"), 503, "unavailable", 5 * time.Second, false},
	} {
		for _, err := range []error{c.err, fmt.Errorf("a layer above: %w", c.err)} {
			r, known := refusalOf(err)
			if r.status != c.status || r.code != c.code || r.retry != c.retry || known != c.known {
				t.Errorf("%v: %d %s, retry after %v, known %v, want %d %s, %v, %v", err, r.status, r.code, r.retry, known, c.status, c.code, c.retry, c.known)
			}
			if !known && r.content != "this cannot be recorded right now; try again" {
				t.Errorf("the response of an unexpected error contains %q", r.content)
			}
		}
	}
}
