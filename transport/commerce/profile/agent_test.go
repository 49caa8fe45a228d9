package profile_test

import (
	"strings"
	"testing"

	"atelier/transport/commerce/profile"
)

func TestParseAgent(t *testing.T) {
	for header, want := range map[string]string{
		`profile="https://p.example/c.json"`:                    "https://p.example/c.json",
		` version="2026-01-23", profile="https://p.example/c" `: "https://p.example/c",
		`profile=https://p.example/c`:                           "https://p.example/c",
		`flag;q=1;profile="https://p.example/a\"b"`:             `https://p.example/a"b`,
		`name="a, profile=x";profile="https://p.example"`:       "https://p.example",
	} {
		if got, err := profile.ParseAgent(header); err != nil || got != want {
			t.Errorf("ParseAgent(%s) = %q, %v", header, got, err)
		}
	}
	for _, header := range []string{"", "profile", `profile=""`, `profile="https://p`, "profile=\"a\x00\"", `other="x"`, strings.Repeat("a", 5000), "=", "==;=,"} {
		if got, err := profile.ParseAgent(header); err == nil {
			t.Errorf("ParseAgent(%q) = %q, want an error", header, got)
		}
	}
}

func FuzzParseAgent(f *testing.F) {
	f.Add(`profile="https://p.example"`)
	f.Add(`a;b=",=;profile=`)
	f.Fuzz(func(t *testing.T, header string) {
		if got, err := profile.ParseAgent(header); err == nil && got == "" {
			t.Error("ParseAgent returned neither an address nor an error")
		}
	})
}
