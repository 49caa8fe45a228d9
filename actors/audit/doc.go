// Package audit is the audit trail, which records who did what, when, and from where. The actor
// that makes a decision writes the audit record in the same commit. As a result, the trail neither
// misses a decision nor contains one that was not made. Refused requests are counted per caller and
// minute (Denials). The trail never contains secrets, and refers to people by their ids instead of
// their names.
package audit

//go:generate go run atelier/actors/internal/protogen
