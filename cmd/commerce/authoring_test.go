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

// pageBlock is a fenced block of the page: its language, the file it is, if it
// is one, and its text.
var pageBlock = regexp.MustCompile("(?ms)^```(\\w+)(?: file=(\\S+))?\n(.*?)^```$")

// TestThePageCanBeFollowed begins in an empty folder, writes the files of
// AUTHORING.md and runs its commands as they stand; what the page says they
// print is what they print.
func TestThePageCanBeFollowed(t *testing.T) {
	page, err := os.ReadFile("../../transport/commerce/AUTHORING.md")
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
			commands += strings.Count(text, "bin/commerce")
			files.WriteString("-- commands" + strconv.Itoa(commands) + ".sh --\nset -e\n" + text)
			script.WriteString("exec sh commands" + strconv.Itoa(commands) + ".sh\n")
		case "text":
			printed++
			files.WriteString("-- printed" + strconv.Itoa(printed) + ".txt --\n" + text)
			script.WriteString("cmp stdout printed" + strconv.Itoa(printed) + ".txt\n")
		}
	}
	if commands < 10 || printed < 6 {
		t.Fatalf("the page has %d commands and %d answers", commands, printed)
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
