// Package audit is the audit trail: who did what, when, from where. The actor that makes a decision
// writes its record in the same commit. So the trail neither misses a decision nor has one that was
// not made. Refused requests are counted per caller and minute (Denials). It never contains
// secrets, and of people only their ids.
package audit

//go:generate go run atelier/actors/internal/protogen
