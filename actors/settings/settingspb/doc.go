// Package settingspb holds the stored messages of the settings.
package settingspb

//go:generate go run atelier/actors/internal/protogen
