//go:build linux

package main

import (
	"slices"
	"testing"
)

func TestReportsDoNotShowThePassword(t *testing.T) {
	got := commandLine([]string{"bench", "--admin-pw", "secret", "--admin-pw=secret", "--admin-id", "admin"})
	want := []string{"bench", "--admin-pw", "***", "--admin-pw=***", "--admin-id", "admin"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestWrongUsage(t *testing.T) {
	t.Setenv("ADMIN_PW", "")
	for _, args := range [][]string{
		{},
		{"workshop"},
		{"workshop", "--spawn", "--url", "http://127.0.0.1:1"},
		{"workshop", "--url", "http://127.0.0.1:1"},
		{"workshop", "--url", "http://127.0.0.1:1", "--admin-pw", "x", "--kill-every", "1s"},
		{"workshop", "--spawn", "--codelab-id", "x", "--codelab", "command_test.go"},
		{"workshop", "--spawn", "--attendees", "many"},
		{"uploads"},
		{"uploads", "--url", "http://127.0.0.1:1"},
	} {
		if code := run(args); code != exitUsage {
			t.Errorf("%q ends with %d", args, code)
		}
	}
}

func TestWithoutAServerNothingIsReported(t *testing.T) {
	if code := run([]string{"workshop", "--spawn", "--server", "/nonexistent"}); code != exitBroken {
		t.Errorf("ends with %d", code)
	}
}
