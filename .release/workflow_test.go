package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// step runs the script of a step of the workflow that publishes a release. The test's own programs
// replace gh and skopeo.
func step(t *testing.T, name string, programs map[string]string, env ...string) string {
	t.Helper()
	workflow := string(read(t, filepath.Join(repository, ".github/workflows/release.yml")))
	m := regexp.MustCompile(`(?s)- name: ` + regexp.QuoteMeta(name) + `\n.*?        run: (?:\|\n)?(.*?)(?:\n      [-#]|\z)`).FindStringSubmatch(workflow)
	if m == nil {
		t.Fatalf("the workflow has no step %q", name)
	}
	bin, dir := t.TempDir(), t.TempDir()
	for program, script := range programs {
		if err := os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "dist"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "dist/atelier-1.1.9-image.tar"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	output := filepath.Join(dir, "output")
	// The runner of the workflow starts scripts with the same options.
	cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", m[1])
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append(env, "PATH="+bin+":"+os.Getenv("PATH"), "GITHUB_OUTPUT="+output, "GITHUB_REPOSITORY=People/Atelier", "GITHUB_ACTOR=somebody", "GH_TOKEN=t")...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	set, _ := os.ReadFile(output) // the file is missing if the step has no output
	return string(out) + string(set)
}

// A fix of an older version must become neither the latest image nor the latest release.
func TestAFixOfAnOlderVersionIsNotTheLatest(t *testing.T) {
	tags := map[string]string{"gh": "printf 'refs/tags/v%s\\n' 1.1.8 1.10.0 1.1.9 1.2.0"}
	// The replaced login reads the token. Otherwise the echo in the step could end with SIGPIPE.
	say := map[string]string{"gh": `echo gh "$@"`, "skopeo": `case $1 in login) cat > /dev/null;; esac; echo skopeo "$@"`}
	for tag, newest := range map[string]string{"v1.1.9": "false", "v1.2.0": "false", "v1.10.0": "true"} {
		if said := step(t, "Is it the newest version", tags, "GITHUB_REF_NAME="+tag); said != "is="+newest+"\n" {
			t.Errorf("%s: the step printed %q", tag, said)
		}
		env := []string{"GITHUB_REF_NAME=" + tag, "NEWEST=" + newest}
		image := step(t, "The image, for every processor, beside the repository", say, env...)
		if !strings.Contains(image, " docker://ghcr.io/people/atelier:"+tag[1:]+"\n") || strings.Contains(image, "atelier:latest") != (newest == "true") {
			t.Errorf("%s: the step of the image printed %s", tag, image)
		}
		if published := step(t, "Publish", say, env...); !strings.Contains(published, "--latest="+newest+" ") {
			t.Errorf("%s: the step that publishes printed %s", tag, published)
		}
	}
}
