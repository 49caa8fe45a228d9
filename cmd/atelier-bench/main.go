//go:build linux

// Command atelier-bench runs load tests against an Atelier server.
//
//	atelier-bench workshop --attendees 1000 --duration 30s --spawn
//	atelier-bench uploads --attendees 500 --duration 2m --spawn
//	atelier-bench demo
//
// The exit code is 0 when the run passed. It is 1 when the server failed, for example because
// messages were lost, duplicated or reordered, or when a threshold was missed. It is 2 when the
// generator was too slow for its numbers to mean anything. It is 130 when the run was interrupted
// and passed until then. It is 3 for wrong usage, and 4 when the test could not be run.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"atelier/bench/report"
)

// Exit codes in addition to those of a verdict, which package report names.
const (
	exitUsage  = 3
	exitBroken = 4
)

type commands struct {
	Fanout    fanoutCommand    `cmd:"" help:"Publish to many subscribers, and time each delivery."`
	Idle      idleCommand      `cmd:"" help:"Measure memory and processor time of a server with many idle connections."`
	Reconnect reconnectCommand `cmd:"" help:"Drop the connections of all subscribers at once, repeatedly; reconnecting clients catch up."`
	Slow      slowCommand      `cmd:"" help:"Stop reading on some connections, and compare the latency of the others."`
	Rest      restCommand      `cmd:"" help:"Read and write over REST."`
	Workshop  workshopCommand  `cmd:"" help:"Run a workshop: a join storm, then progress, chat, help and comments, all audited."`
	Chaos     chaosCommand     `cmd:"" help:"Run a workshop while its server is killed, paused and restarted, and verify that no acknowledged write is lost."`
	Uploads   uploadsCommand   `cmd:"" help:"Run a workshop with and without uploads, and compare."`
	Clones    clonesCommand    `cmd:"" help:"Run a workshop in which hundreds clone the code at once, repeatedly, and compare the latency of the chat."`
	Cloner    clonerCommand    `cmd:"" hidden:""`
	Polls     pollsCommand     `cmd:"" help:"Run a workshop with a poll, and compare the latency of the chat before and during the vote."`
	Demo      demoCommand      `cmd:"" help:"Show a workshop with forty simulated attendees in a browser."`
	Tokens    tokensCommand    `cmd:"" help:"Tokenize and detokenize with every use audited, or keep a million tokens alive."`
	Run       runCommand       `cmd:"" help:"Run a load profile, included or your own."`
	Profiles  profilesCommand  `cmd:"" help:"List the included profiles."`
	Compare   compareCommand   `cmd:"" help:"Test whether two reports, or sets of repeated runs, differ."`
	Pair      pairCommand      `cmd:"" help:"Run a scenario alternately with two server binaries, and compare."`
	Baseline  baselineCommand  `cmd:"" help:"Run a fixed set of short loads, and compare with recorded numbers."`
	Regress   regressCommand   `cmd:"" help:"Test whether a server is slower than another: fixed loads on both alternately, about fifteen minutes on two cores."`
	Selftest  selftestCommand  `cmd:"" help:"Pause a server briefly, and check that the report shows it."`
	Worker    workerCommand    `cmd:"" help:"Generate load for a coordinator on another machine."`
	Schema    schemaCommand    `cmd:"" help:"Print the JSON Schema of the report."`
	Version   versionCommand   `cmd:"" help:"Show the version."`

	ShowVersion kong.VersionFlag `name:"version" help:"Show the version."`
}

const description = `Load tests for Atelier, and for other servers of WebSockets and event streams.

A scenario plans its load beforehand and counts latencies from the planned time.
'atelier-bench SCENARIO --help' lists its flags; every flag can be set in a profile
(TOML). 'atelier-bench profiles' lists those that are included.

Exit codes:
  0    passed
  1    something was lost, duplicated or reordered, or a threshold was missed
  2    the generator was too slow for its numbers to mean anything
  3    wrong usage
  4    the test could not be run
  130  interrupted, and nothing wrong until then`

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	profile := ""
	if len(args) > 1 && args[0] == "run" && !strings.HasPrefix(args[1], "-") {
		expanded, err := expand(args[1], args[2:])
		if err != nil {
			return complain(err, exitUsage)
		}
		args, profile = expanded, args[1]
	}
	var all commands
	parser, err := grammar(&all)
	if err != nil {
		return complain(err, exitBroken)
	}
	command, err := parser.Parse(args)
	if err != nil {
		if profile != "" {
			err = fmt.Errorf("profile %s: %w", profile, err)
		}
		return complain(err, exitUsage)
	}
	// The first Ctrl-C ends the load and still produces a report. Then the default handler is
	// restored, so that a second Ctrl-C ends the process immediately.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop)

	command.BindTo(ctx, (*context.Context)(nil))
	err = command.Run()
	var code exitCode
	switch {
	case errors.As(err, &code):
		return int(code)
	case err != nil:
		return complain(err, exitBroken)
	}
	return 0
}

func complain(err error, code int) int {
	fmt.Fprintln(os.Stderr, "atelier-bench:", err)
	return code
}

// exitCode is an error that only sets the exit code of the program. Its cause has already been
// printed, for example the verdict of a run.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

type schemaCommand struct{}

// Run is called by kong.
func (schemaCommand) Run() error {
	_, err := os.Stdout.Write(report.Schema())
	return err
}
