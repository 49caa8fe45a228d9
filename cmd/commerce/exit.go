package main

import (
	"errors"
	"io/fs"
)

// These are the exit codes, on which scripts and pipelines depend.
const (
	exitClean    = 0
	exitFindings = 1
	exitUsage    = 2
	exitIO       = 3
)

// failure ends a command with an exit code.
type failure struct {
	code int
	// rule is the code under which the failure is reported as a finding.
	rule string
	file string
	// err is nil if everything is already reported.
	err error
}

func (f failure) Error() string {
	if f.err == nil {
		return "there are findings"
	}
	return f.err.Error()
}

func (f failure) Unwrap() error { return f.err }

func usage(err error) error { return failure{exitUsage, "usage", "", err} }

func findings() error { return failure{code: exitFindings} }

// isFileError distinguishes errors of the file system, such as missing files, from mistakes in the
// input.
func isFileError(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) || errors.Is(err, fs.ErrNotExist)
}

// wantsJSON reports whether the arguments contain --format json. It does not use the parser,
// because the parser can fail. Programs that parse a command's output also parse its errors.
func wantsJSON(args []string) bool {
	for i, a := range args {
		if a == "--" {
			return false
		}
		if a == "--format=json" || (a == "--format" && i+1 < len(args) && args[i+1] == "json") {
			return true
		}
	}
	return false
}
