//go:build linux

package main

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"atelier/cmd/internal/process"
)

// grammar returns the parser of the command line.
func grammar(all *commands, more ...kong.Option) (*kong.Kong, error) {
	k, err := kong.New(all, append([]kong.Option{
		kong.Name("atelier-bench"), kong.Description(description), kong.Vars{"version": versionText()},
		kong.UsageOnError(), kong.WithHyphenPrefixedParameters(true), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	}, more...)...)
	if err != nil {
		return nil, err
	}
	_ = kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			explain(flag)
		}
		return next(nil)
	})
	return k, nil
}

// explain completes the help of a flag. It appends a default that the placeholder hides, replaces
// placeholders that are names of Go types, and removes the ellipsis of lists.
func explain(f *kong.Flag) {
	if f.PlaceHolder != "" && f.HasDefault {
		f.Help = strings.TrimSuffix(f.Help, ".") + "; the default is " + f.Default + "."
	}
	if f.PlaceHolder == "" && !f.HasDefault && f.Target.Type() != reflect.TypeFor[time.Duration]() {
		switch f.Target.Kind() {
		case reflect.Int, reflect.Int64, reflect.Uint64:
			f.PlaceHolder = "N"
		case reflect.Float64:
			f.PlaceHolder = "RATE"
		case reflect.String:
			f.PlaceHolder = "TEXT"
		}
	}
	if f.IsSlice() {
		f.Tag.Type = "list" // kong adds dots to lists without a type
	}
}

func versionText() string { return process.VersionText("atelier-bench", "") }

type versionCommand struct{}

// Run is called by kong.
func (versionCommand) Run() error {
	_, err := fmt.Println(versionText())
	return err
}
