// Command commerce is the toolkit for authors of commerce schemas, and for businesses and platforms
// that must agree on them. It can lint, validate, compose, resolve and negotiate. It also has tools
// for the two sides of encrypted credentials.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"atelier/cmd/internal/process"
	"atelier/transport/commerce/lint"
	"atelier/transport/commerce/schema"
)

type cli struct {
	Lint      lintCmd      `cmd:"" help:"Check schemas, profiles and service descriptions against the conventions."`
	Validate  validateCmd  `cmd:"" help:"Check a payload against a schema or the schemas that it declares, or check a profile."`
	Compose   composeCmd   `cmd:"" help:"Apply extensions to a base schema."`
	Resolve   resolveCmd   `cmd:"" help:"Compose, and resolve visibility for a direction and an operation."`
	Negotiate negotiateCmd `cmd:"" help:"Compute the capabilities that a platform and a business share."`

	Keygen  keygenCmd  `cmd:"" help:"Create the key pair for credentials of a business."`
	Encrypt encryptCmd `cmd:"" help:"Encrypt a credential to a business, for one checkout."`
	Decrypt decryptCmd `cmd:"" help:"Decrypt a credential; a credential for another checkout is refused."`

	GiveUpAfter time.Duration    `name:"give-up-after" help:"Maximum time of a run; after it the exit code is 2." default:"20s"`
	ShowVersion kong.VersionFlag `name:"version" help:"Show the version."`
}

// streams contains the outputs of a command: out is for its result, and err is for its errors.
type streams struct{ out, err io.Writer }

func main() {
	_ = process.Hide() // protects keys and credentials, if the system allows it
	// A run is short and needs little memory, so garbage is collected later. Linting is then a
	// fifth faster.
	debug.SetGCPercent(400)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], streams{os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// run parses and executes a command line and returns the exit code.
func run(ctx context.Context, args []string, s streams) int {
	var c cli
	exited := -1
	parser, err := kong.New(&c, kong.Name("commerce"), kong.Writers(s.out, s.err),
		kong.Description("Author, check and negotiate commerce schemas.\n\nExit codes: 0 clean, 1 findings, 2 usage or composition, 3 files and network."),
		kong.Vars{"version": process.VersionText("commerce", ""), "operations": strings.Join(slices.Concat(schema.Operations, schema.ContainerOperations), ", "), "formats": strings.Join(lint.Formats, ",")},
		kong.Exit(func(code int) { exited = code }),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(s))
	if err != nil {
		fmt.Fprintln(s.err, "commerce:", err)
		return exitUsage
	}
	command, err := parser.Parse(args)
	if exited >= 0 {
		return exited // --help has already printed the text
	}
	if err != nil {
		return report(s, args, usage(err))
	}
	if c.GiveUpAfter <= 0 {
		return report(s, args, usage(errors.New("--give-up-after must be above 0")))
	}
	go watch(s, args, c.GiveUpAfter)
	return report(s, args, command.Run())
}

// report prints a command's error and returns the exit code. With --format json it prints JSON on
// stdout, and otherwise text on stderr.
func report(s streams, args []string, err error) int {
	if err == nil {
		return exitClean
	}
	f := failure{exitUsage, "usage", "", err}
	if !errors.As(err, &f) && isFileError(err) {
		f = failure{exitIO, "io", "", err}
	}
	if f.err == nil {
		return f.code
	}
	message := schema.BriefMessage(f.err.Error())
	if wantsJSON(args) {
		r := lint.Report{Findings: []lint.Finding{lint.New(f.rule, f.file, message)}}
		if err := r.Write(s.out, "json"); err == nil {
			return f.code
		}
	}
	fmt.Fprintln(s.err, "commerce:", message)
	return f.code
}
