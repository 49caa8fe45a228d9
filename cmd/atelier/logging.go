package main

import (
	"log/slog"
	"os"

	"atelier/cmd/atelier/config"
)

// logLevel is the level of all loggers of the process. It can change while the process runs.
var logLevel slog.LevelVar

// newLogger returns a logger that writes to standard error. It also sets the level of all other
// loggers of the process.
func newLogger(c config.Log) *slog.Logger {
	setLevel(c.Level)
	o := &slog.HandlerOptions{Level: &logLevel}
	if c.Format == "json" {
		o.ReplaceAttr = withUnit
		return slog.New(slog.NewJSONHandler(os.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, o))
}

// withUnit writes a duration as milliseconds, with the unit in the attribute's name, because a
// number alone has no unit. In the text format the value includes its unit.
func withUnit(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key+"_ms", float64(a.Value.Duration().Microseconds())/1000)
	}
	return a
}

func setLevel(name string) {
	var level slog.Level
	_ = level.UnmarshalText([]byte(name)) // checked with the configuration
	logLevel.Set(level)
}
