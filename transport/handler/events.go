package handler

import (
	"strconv"

	"atelier/actors/naming"
	"atelier/transport/wire"
)

// Pages of a participant's own log.
const (
	eventsPage    = 50
	maxEventsPage = 200
)

// ownEvent is a line of a participant's own log. It is never more of a token than its
// last four characters, and nothing of a credential.
type ownEvent struct {
	ID            string  `json:"id"`
	At            string  `json:"at"`
	Type          string  `json:"type"`
	TokenLastFour *string `json:"token_last_four"`
	CheckoutID    *string `json:"checkout_id"`
	Policy        *string `json:"policy"`
	By            string  `json:"by"`
}

// events answers what was done with the caller's tokens, by whomever, what the caller has
// done with those of others, and security events, newest first.
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
