package token

import (
	"time"

	"atelier/actors/catalog/catalogpb"
)

// auditRecord is the trace of one operation. It names the token by its
// reference; there is no way from there to the token.
func auditRecord(id, action string, c Caller, target string, now time.Time, more map[string]string) *catalogpb.AuditRecord {
	return &catalogpb.AuditRecord{
		Id: id, Action: action, ActorType: "participant", ActorId: c.Participant, TargetId: target,
		Ip: c.IP, UserAgent: c.UserAgent, Metadata: more, CreatedAt: now.UnixMilli(),
	}
}
