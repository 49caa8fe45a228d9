package handler

import (
	"strconv"

	"atelier/actors/naming"
	"atelier/transport/describe"
	"atelier/transport/wire"
)

// Page sizes of a participant's own log.
const (
	eventsPage    = 50
	maxEventsPage = 200
)

// ownEvent is an entry of a participant's own log. It contains at most the last four characters of
// a token, and no part of a credential.
type ownEvent struct {
	ID            string  `json:"id" format:"uuid"`
	At            string  `json:"at" format:"date-time"`
	Type          string  `json:"type" is:"event"`
	TokenLastFour *string `json:"token_last_four" length:"4..4" doc:"The last four characters of the token. Null if the event is not about a token. The last four digits of the credential are sealed; introspection returns them."`
	CheckoutID    *string `json:"checkout_id" doc:"The checkout in the caller's request. Null if the event is not about a checkout."`
	Policy        *string `json:"policy" enum:"single_use|ttl|session" doc:"The policy of the token. Null if the event is not about a token."`
	By            string  `json:"by" doc:"The id of the participant that called."`
}

// eventType lists the names of audit trail events.
var eventType = &describe.Schema{
	Type: "string",
	Enum: []any{
		"token_create",
		"token_replay",
		"token_detokenize",
		"token_introspect",
		"token_revoke",
		"token_mismatch",
		"token_lock",
		"token_reuse",
		"token_quarantine",
		"token_session_end",
		"participant_encryption_key",
	},
	Description: "What happened. `token_replay` is a tokenize that was repeated with its Idempotency-Key. " +
		"Security events: `token_mismatch` (another checkout was named), `token_lock` (too many mismatches locked the token), " +
		"`token_reuse` (a used token was sent again). Other security events are `token_quarantine` (the stored token is damaged) and " +
		"`participant_encryption_key` (the key was published or removed).",
}

// events returns a page of the caller's own log, newest first. The log contains all operations on
// the caller's tokens by anyone, the caller's operations on others' tokens, and security events.
func (c *call) events() error {
	if err := c.authenticate(); err != nil {
		return err
	}
	limit, before := eventsPage, string(c.QueryArgs().Peek("before"))
	if s := c.QueryArgs().Peek("limit"); s != nil {
		n, err := strconv.Atoi(string(s))
		if err != nil || n < 1 || n > maxEventsPage {
			return invalid("limit must be a number from 1 to " + strconv.Itoa(maxEventsPage))
		}
		limit = n
	}
	if c.QueryArgs().Has("before") && !naming.ValidID(before) {
		return invalid("before must be the id of an event")
	}
	entries, err := c.Audit.Owned(c.who.Id, before, limit)
	if err != nil {
		return err
	}
	out := []ownEvent{}
	for _, e := range entries {
		out = append(out, ownEvent{
			e.Id, wire.Stamp(e.CreatedAt), e.Action, wire.OrNull(e.TokenLastFour), wire.OrNull(e.Metadata["checkout_id"]),
			wire.OrNull(e.Policy), e.ActorId,
		})
	}
	return c.JSON(out)
}
