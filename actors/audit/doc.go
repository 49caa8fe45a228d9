// Package audit is the audit trail: who did what, when, from where. The
// actor that decides something writes its record in the same commit. So the trail
// neither misses a decision nor has one that was not made. Refused requests are summed
// per caller and minute (Denials). It never holds a secret, and of people only
// their ids.
package audit

//go:generate go run atelier/actors/internal/protogen
