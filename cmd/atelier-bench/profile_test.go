//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAProfileBecomesACommandLine(t *testing.T) {
	p, err := parseProfile([]byte(`
scenario = "fanout"
description = "A rising load"
spawn = true
subscribers = 50
max-busy = 99.5
threshold = ["p99<50ms", "lost==0"]
[[stage]]
duration = "1s"
rate = 10
[[stage]]
duration = "2s"
rate = 20.5
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"fanout", "--stages=1s@10,2s@20.5", "--max-busy=99.5", "--spawn=true", "--subscribers=50", "--threshold=p99<50ms", "--threshold=lost==0"}
	if got := p.args(nil); !slices.Equal(got, want) {
		t.Errorf("the arguments are %q", got)
	}
	want = []string{"fanout", "--max-busy=99.5", "--threshold=p99<50ms", "--threshold=lost==0", "--subscribers", "7", "--url=http://x", "--rate", "5"}
	if got := p.args([]string{"--subscribers", "7", "--url=http://x", "--rate", "5"}); !slices.Equal(got, want) {
		t.Errorf("with overrides, the arguments are %q", got)
	}
}

func TestStagesOfFaultsBecomeAFlag(t *testing.T) {
	p, err := parseProfile([]byte("scenario = 'chaos'\n[[stage]]\nduration = '9s'\nfault = 'kill:1'\n[[stage]]\nduration = '8s'\nfault = 'cut:1-db:to'\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.args(nil), []string{"chaos", "--stages=9s@kill:1,8s@cut:1-db:to"}; !slices.Equal(got, want) {
		t.Errorf("the arguments are %q", got)
	}
	if got, want := p.args([]string{"--faults", "kill"}), []string{"chaos", "--faults", "kill"}; !slices.Equal(got, want) {
		t.Errorf("with another fault, the arguments are %q", got)
	}
}

func TestInvalidProfilesAreRefused(t *testing.T) {
	for _, text := range []string{
		"", "scenario = 5", "scenario =", `scenario = "x"` + "\n[table]\na = 1", `scenario = "x"` + "\nstage = 5",
		`scenario = "x"` + "\n[[stage]]\nrate = 5", `scenario = "x"` + "\n[[stage]]\nrate = 5\nduration = '1s'\nmore = 1", `scenario = "x"` + "\na = [[1]]",
	} {
		if p, err := parseProfile([]byte(text)); err == nil {
			t.Errorf("%q is parsed as %+v", text, p)
		}
	}
	if _, err := loadProfile("profiles/none"); err == nil {
		t.Error("a missing profile is loaded")
	}
}

func TestProfilesOfUsersAreFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.toml")
	if err := os.WriteFile(path, []byte(`scenario = "idle"`), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := loadProfile(path)
	if err != nil || p.name != "mine" || p.scenario != "idle" {
		t.Errorf("the profile is %+v, %v", p, err)
	}
}

func TestIncludedProfilesHaveADescription(t *testing.T) {
	all, err := includedProfiles()
	if err != nil || len(all) < 10 {
		t.Fatalf("there are %d included profiles, want 10 or more: %v", len(all), err)
	}
	for _, p := range all {
		if p.description == "" {
			t.Errorf("%s has no description", p.name)
		}
	}
}

// The error for an unknown key of a stage names the key.
func TestTheErrorContainsAMisspeltKeyOfAStage(t *testing.T) {
	good := "scenario = 'fanout'\n[[stage]]\nduration = '9s'\nrate = 5\n"
	for key, text := range map[string]string{"rte": "rte = 50", "durration": "rate = 50\ndurration = '9s'"} {
		_, err := parseProfile([]byte(good + "[[stage]]\nduration = '9s'\n" + text))
		if err == nil || !strings.Contains(err.Error(), `stage 2 has "`+key+`"`) {
			t.Errorf("with the misspelt key %s, the error is %v", key, err)
		}
	}
}
