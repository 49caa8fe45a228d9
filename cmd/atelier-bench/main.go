//go:build linux

// Command atelier-bench runs load tests against an Atelier server.
//
//	atelier-bench workshop --attendees 1000 --duration 30s --spawn
//	atelier-bench uploads --attendees 500 --duration 2m --spawn
//	atelier-bench demo
//
// It ends with 0 when the run passed, 1 when something was lost, doubled or
// reordered or a threshold was missed, 2 when the generator was too slow for its
// numbers to mean anything, 130 when it was interrupted, 3 for wrong usage and
// 4 when the test could not be run at all.
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

// Exit codes beside those of a verdict, which package report names.
const (
	exitUsage  = 3
	exitBroken = 4
)

type commands struct {
	Fanout    fanoutCommand    `cmd:"" help:"Publish to many, and time each delivery."`
	Idle      idleCommand      `cmd:"" help:"Weigh a server with many connections on which nobody says anything."`
	Reconnect reconnectCommand `cmd:"" help:"Lose all connections at once, again and again; they come back and catch up."`
	Slow      slowCommand      `cmd:"" help:"Let some stop reading, and see what that does to the others."`
	Rest      restCommand      `cmd:"" help:"Read and write through the REST interface."`
	Workshop  workshopCommand  `cmd:"" help:"Hold a workshop: a join storm, then progress, chat, help and comments, all audited."`
	Chaos     chaosCommand     `cmd:"" help:"Hold a workshop while its server is killed, paused and restarted; nothing acknowledged may be missing."`
	Uploads   uploadsCommand   `cmd:"" help:"Hold a workshop while files are uploaded, and while they are not, in turns."`
	Clones    clonesCommand    `cmd:"" help:"Hold a workshop in which hundreds clone the code at once, again and again, and compare the chat meanwhile."`
	Cloner    clonerCommand    `cmd:"" hidden:""`
	Polls     pollsCommand     `cmd:"" help:"Hold a workshop in which people vote in a poll, and compare the chat before and meanwhile."`
	Demo      demoCommand      `cmd:"" help:"Show a lively workshop of forty people to somebody who looks at it."`
	Tokens    tokensCommand    `cmd:"" help:"Tokenize and detokenize, with every winner audited; or keep a million tokens alive."`
	Run       runCommand       `cmd:"" help:"Run a load profile, included or of your own."`
	Profiles  profilesCommand  `cmd:"" help:"List the included profiles."`
	Compare   compareCommand   `cmd:"" help:"Say whether two reports, or sets of repeats, differ."`
	Pair      pairCommand      `cmd:"" help:"Run one scenario with two server binaries in turns, and compare."`
	Baseline  baselineCommand  `cmd:"" help:"Run a fixed set of short loads and compare with the numbers that were recorded."`
	Regress   regressCommand   `cmd:"" help:"Say whether a server has become slower than another one: fixed loads on both in turns, about fifteen minutes on two cores."`
	Selftest  selftestCommand  `cmd:"" help:"Stop a server for a moment, and see that the report shows it."`
	Worker    workerCommand    `cmd:"" help:"Generate load for a coordinator on another machine."`
	Schema    schemaCommand    `cmd:"" help:"Print the JSON Schema of the report."`
	Version   versionCommand   `cmd:"" help:"Show the version."`

	ShowVersion kong.VersionFlag `name:"version" help:"Show the version."`
}

const description = `Load tests for Atelier, and for other servers of WebSockets and event streams.

A scenario plans its load beforehand and counts latencies from the planned time.
'atelier-bench SCENARIO --help' lists its flags; every flag can stand in a profile
(TOML). 'atelier-bench profiles' lists those that are included.

Exit codes:
  0    passed
  1    something was lost, doubled or reordered, or a threshold was missed
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
	// The first Ctrl-C ends the load and still gives a report; then the default
	// comes back, so that a second one ends everything at once.
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

// exitCode is a verdict other than a pass, which has been reported already.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

type schemaCommand struct{}

// Run is called by kong.
func (schemaCommand) Run() error {
	_, err := os.Stdout.Write(report.Schema())
	return err
}
