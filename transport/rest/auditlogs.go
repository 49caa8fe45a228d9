package rest

import (
	"strconv"

	"atelier/actors/audit"
	"atelier/actors/settings"
	"atelier/transport/auth"
	"atelier/transport/wire"
)

type auditRecord struct {
	ID        string            `json:"id" is:"Id"`
	Action    string            `json:"action" pattern:"^[a-z]+(_[a-z]+)*$" doc:"Snake case, noun first."`
	ActorType string            `json:"actor_type" enum:"admin|attendee|participant|anonymous|system|various"`
	ActorID   *string           `json:"actor_id" doc:"The id of the admin, attendee or participant."`
	TargetID  *string           `json:"target_id" doc:"The object of the action."`
	CodelabID *string           `json:"codelab_id" is:"Id"`
	IP        string            `json:"ip"`
	UserAgent string            `json:"user_agent" doc:"At most the first 256 bytes of the user agent."`
	Metadata  map[string]string `json:"metadata" doc:"Details, never a secret."`
	CreatedAt string            `json:"created_at" is:"Timestamp"`
}

func toAudit(a *audit.Record) auditRecord {
	return auditRecord{
		a.Id, a.Action, a.ActorType, wire.OrNull(a.ActorId), wire.OrNull(a.TargetId), wire.OrNull(a.CodelabId),
		a.Ip, a.UserAgent, a.Metadata, wire.Stamp(a.CreatedAt),
	}
}

func auditLogs(r *Request) error {
	q := audit.Query{CodelabID: r.Query("codelab_id"), Action: r.Query("action")}
	if q.CodelabID == "" && r.who.Rank() == auth.Facilitator && r.who.Token == nil {
		return wire.Invalid("codelab_id is required: facilitators can read only the audit trail of a codelab")
	}
	var err error
	if q.Limit, err = r.number("limit", 100, 1, 1000); err != nil {
		return err
	}
	if q.Offset, err = r.number("offset", 0, 0, 1<<30); err != nil {
		return err
	}
	// API tokens act as facilitators, so they receive only records of codelabs. A read-only token
	// receives them without address and user agent.
	reads := r.who.Scope() == settings.ScopeRead
	q.OfCodelabs = r.who.Token != nil
	records, err := r.api.Audit.Find(q)
	if err != nil {
		return err
	}
	out := make([]auditRecord, 0, len(records))
	for _, a := range records {
		record := toAudit(a)
		if reads {
			record.IP, record.UserAgent = "", ""
		}
		out = append(out, record)
	}
	return r.JSON(out)
}

// number parses an integer from least to most in the query. It returns fallback if the query does
// not contain it.
func (r *Request) number(name string, fallback, least, most int) (int, error) {
	if !r.QueryArgs().Has(name) {
		return fallback, nil
	}
	n, err := strconv.Atoi(r.Query(name))
	if err != nil || n < least || n > most {
		return 0, wire.Invalid("%s must be a whole number from %d to %d", name, least, most)
	}
	return n, nil
}
