package config

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// AI is the configuration section of the language model.
type AI struct {
	Provider            string   `toml:"provider" one:"gemini|openai" doc:"Protocol of the upstream: \"gemini\" (streamGenerateContent) or \"openai\" (compatible chat/completions)."`
	BaseURL             string   `toml:"base_url" doc:"Base address of the upstream, without the protocol's paths. Empty: the provider's own."`
	Model               string   `toml:"model" doc:"Default model."`
	Models              []string `toml:"models" doc:"Other models that a question can name."`
	ConnectTimeout      Duration `toml:"connect_timeout" min:"10ms" doc:"Maximum duration of connecting to the upstream."`
	FirstByteTimeout    Duration `toml:"first_byte_timeout" min:"10ms" doc:"Maximum time until the first part of an answer."`
	IdleTimeout         Duration `toml:"idle_timeout" min:"10ms" doc:"Maximum pause within an answer."`
	TotalTimeout        Duration `toml:"total_timeout" min:"10ms" doc:"Maximum duration of an answer."`
	Heartbeat           Duration `toml:"heartbeat" min:"10ms" doc:"Silence after which a stream sends a comment, so that proxies keep it open."`
	MaxStreams          int      `toml:"max_streams" min:"1" doc:"Maximum number of answers in progress."`
	MaxStreamsPerPerson int      `toml:"max_streams_per_person" min:"1" doc:"Maximum number of answers in progress per person."`
}

func defaultAI() AI {
	return AI{
		Provider: "gemini", Model: "gemini-2.5-flash", Models: []string{"gemini-2.5-flash-lite", "gemini-2.5-pro"},
		ConnectTimeout: Duration(5 * time.Second), FirstByteTimeout: Duration(time.Minute), IdleTimeout: Duration(30 * time.Second),
		TotalTimeout: Duration(5 * time.Minute), Heartbeat: Duration(15 * time.Second), MaxStreams: 200, MaxStreamsPerPerson: 3,
	}
}

// Allowed lists the permitted models, beginning with the default.
func (a *AI) Allowed() []string {
	out := []string{a.Model}
	for _, m := range a.Models {
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

func (a *AI) check(bad, warn func(string, ...any)) {
	if a.BaseURL != "" {
		u, err := url.Parse(a.BaseURL)
		switch {
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
			bad("ai.base_url must be http:// or https://, a host and a path, and nothing else")
		case u.Scheme == "http" && !loopback(u.Hostname()):
			warn("ai.base_url is not https: the AI key travels in the clear")
		}
	}
	if a.Provider == "openai" && a.BaseURL == "" && strings.HasPrefix(a.Model, "gemini") {
		warn("ai.model %s is not a model of the provider; set ai.model to one of its models", a.Model)
	}
	for _, m := range a.Allowed() {
		if m == "" || len(m) > 100 || strings.ContainsFunc(m, func(r rune) bool { return r <= ' ' || r > '~' }) {
			bad("ai.model and ai.models must be names of models, of 1 to 100 ASCII characters without spaces")
		}
	}
}
