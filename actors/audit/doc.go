// Package audit is the audit trail: who did what, when, from where. Whoever
// decides something writes its record in the same commit, so the trail can
// neither miss it nor tell of what did not happen. Refused requests are summed
// per caller and minute (Denials). It never holds a secret, and of people only
// their ids.
package audit

//go:generate go run atelier/actors/internal/protogen
