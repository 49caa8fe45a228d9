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
		{"workshop", "--spawn", "--attendees", "0"},
		{"workshop", "--spawn", "--max-refused", "-2"},
		{"workshop", "--spawn", "--insecure"},
		{"workshop", "--url", "http://127.0.0.1:1", "--admin-pw", "x", "--insecure"},
		{"workshop", "--url", "ftp://127.0.0.1:1", "--admin-pw", "x"},
		{"tokens", "--spawn", "--connections", "0"},
		{"uploads", "--spawn", "--attendees", "-1"},
		{"uploads"},
		{"uploads", "--url", "http://127.0.0.1:1"},
	} {
		if code := run(args); code != exitUsage {
			t.Errorf("%q ends with %d", args, code)
		}
	}
}

func TestWithoutAServerNothingIsReported(t *testing.T) {
	for _, args := range [][]string{
		{"workshop", "--spawn", "--server", "/nonexistent"},
		// A negative number is a value, not a flag.
		{"workshop", "--spawn", "--server", "/nonexistent", "--max-refused", "-1"},
		{"workshop", "--url", "https://127.0.0.1:1", "--admin-pw", "x", "--insecure"},
	} {
		if code := run(args); code != exitBroken {
			t.Errorf("%q ends with %d", args, code)
		}
	}
}
