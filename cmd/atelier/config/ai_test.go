package config

import (
	"slices"
	"strings"
	"testing"
)

func TestInvalidAISettingsAreRefused(t *testing.T) {
	standard := Default().AI
	if got := standard.Allowed(); got[0] != standard.Model || len(got) != 3 {
		t.Errorf("the allowed models are %v", got)
	}
	same := AI{Model: "a", Models: []string{"b", "a", "b"}}
	if got := same.Allowed(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("the allowed models are %v", got)
	}
	for key, change := range map[string]func(*AI){
		"ai.provider":    func(a *AI) { a.Provider = "other" },
		"ai.base_url":    func(a *AI) { a.BaseURL = "ftp://x" },
		"ai.base_url ":   func(a *AI) { a.BaseURL = "https://user:key@x/v1" },
		"ai.base_url  ":  func(a *AI) { a.BaseURL = "https://x/v1?key=k" },
		"ai.model":       func(a *AI) { a.Model = "" },
		"ai.models":      func(a *AI) { a.Models = []string{"a b"} },
		"ai.heartbeat":   func(a *AI) { a.Heartbeat = 0 },
		"ai.max_streams": func(a *AI) { a.MaxStreams = 0 },
	} {
		c := Default()
		change(&c.AI)
		if _, err := c.Check(); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(key)) {
			t.Errorf("an invalid %s: got the error %v", key, err)
		}
	}
	c := Default()
	c.AI.BaseURL = "http://models.example.org/v1"
	if warnings, err := c.Check(); err != nil || !strings.Contains(strings.Join(warnings, "\n"), "ai.base_url") {
		t.Errorf("the warnings are %v, the error %v", warnings, err)
	}
}
