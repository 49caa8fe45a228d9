// Package usagepb holds the stored message of what AI models were asked.
package usagepb

//go:generate go run atelier/actors/internal/protogen
