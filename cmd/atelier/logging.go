package main

import (
	"log/slog"
	"os"

	"atelier/cmd/atelier/config"
)

// logLevel is that of all loggers of the process: it changes while it runs.
var logLevel slog.LevelVar

// newLogger logs to standard error.
func newLogger(c config.Log) *slog.Logger {
	setLevel(c.Level)
	o := &slog.HandlerOptions{Level: &logLevel}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, o))
}

func setLevel(name string) {
	var level slog.Level
	_ = level.UnmarshalText([]byte(name)) // checked with the configuration
	logLevel.Set(level)
}
