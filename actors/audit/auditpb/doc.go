// Package auditpb holds the messages of the audit trail.
package auditpb

//go:generate go run atelier/actors/internal/protogen
