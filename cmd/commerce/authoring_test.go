package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// pageBlock matches a fenced block of the page. Its groups are the language, the name if the block
// is a file, and the text.
var pageBlock = regexp.MustCompile("(?ms)^```(\\w+)(?: file=(\\S+))?\n(.*?)^```$")

// In an empty folder, the test writes the files of a page and runs its commands unchanged. The
// output shown in the page must match the commands' output.
func TestPagesCanBeFollowed(t *testing.T) {
	for name, path := range map[string]string{
		"AUTHORING.md": "../../transport/commerce/AUTHORING.md",
		"README.md":    "README.md",
	} {
		t.Run(name, func(t *testing.T) { follow(t, path) })
	}
}

func follow(t *testing.T, path string) {
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var files, script strings.Builder
	commands, printed := 0, 0
	for _, block := range pageBlock.FindAllStringSubmatch(string(page), -1) {
		language, file, text := block[1], block[2], block[3]
		switch language {
		case "json", "payload":
			files.WriteString("-- " + file + " --\n" + text)
		case "sh":
			commands++
			files.WriteString("-- commands" + strconv.Itoa(commands) + ".sh --\nset -e\n" + text)
			script.WriteString("exec sh commands" + strconv.Itoa(commands) + ".sh\n")
		case "text":
			printed++
			files.WriteString("-- printed" + strconv.Itoa(printed) + ".txt --\n" + text)
			script.WriteString("cmp stdout printed" + strconv.Itoa(printed) + ".txt\n")
		}
	}
	if commands < 3 || printed < 3 {
		t.Fatalf("the page has only %d blocks of commands and %d outputs", commands, printed)
	}
	folder := t.TempDir()
	whole := "chmod 755 bin/commerce\n" + script.String() + files.String() + "-- bin/commerce --\n#!/bin/sh\nexec commerce \"$@\"\n"
	if err := os.WriteFile(filepath.Join(folder, "page.txtar"), []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: folder, Setup: func(e *testscript.Env) error {
		e.Setenv("GORACE", "atexit_sleep_ms=0")
		return nil
	}})
}
