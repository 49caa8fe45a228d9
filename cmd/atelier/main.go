// Command atelier is the server, and the tools for its data.
package main

import (
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"atelier/cmd/atelier/config"
	"atelier/cmd/internal/process"
)

// common contains the flags of every subcommand.
type common struct {
	Config string `help:"Configuration file; the default is config.toml in the working folder, if it exists." placeholder:"FILE" type:"path"`
	Data   string `help:"Data folder." placeholder:"DIR" type:"path"`
}

// load returns the configuration from defaults, file, environment and flags. Without --config it
// uses config.toml in the working folder, if that file exists.
func (c common) load() (config.Config, error) {
	path := c.Config
	if path == "" {
		if _, err := os.Stat("config.toml"); err == nil {
			path = "config.toml"
		}
	}
	cfg, err := config.Load(path, os.Environ())
	if c.Data != "" {
		cfg.Server.Data = c.Data
	}
	return cfg, err
}

var cli struct {
	Serve       serveCmd       `cmd:"" help:"Run the server."`
	Checkconfig checkconfigCmd `cmd:"" help:"Check the configuration and show the effective settings."`
	Import      importCmd      `cmd:"" help:"Import a codelab from a claat Markdown file or an exported ZIP."`
	Backup      backupCmd      `cmd:"" help:"Write a consistent backup. The server can be running."`
	Restore     restoreCmd     `cmd:"" help:"Restore a backup into an empty data folder."`
	Health      healthCmd      `cmd:"" help:"Check whether a running server is ready; exit code 1 if not."`
	Doctor      doctorCmd      `cmd:"" help:"Check that the server is ready for a workshop, with a remedy for each problem: machine, clock, address, certificate, proxy, app, backup. The exit code is 1 if a check fails."`
	Upgrade     upgradeCmd     `cmd:"" help:"Check what a start of this program would change."`
	Scrub       scrubCmd       `cmd:"" help:"Verify every stored object and every reference. The server can be running. Exit code 1 if anything is damaged."`
	Password    passwordCmd    `cmd:"" help:"Show the owner's generated password, on a terminal or with --reveal."`
	People      peopleCmd      `cmd:"" help:"Manage facilitators and assistants."`
	Participant participantCmd `cmd:"" help:"Manage participants of the tokenization handler."`
	Cluster     clusterCmd     `cmd:"" help:"Inspect and control the nodes of a cluster."`
	Keys        keysCmd        `cmd:"" help:"Manage the server's token keys."`
	EncryptKey  encryptKeyCmd  `cmd:"" help:"Encrypt an AI key from standard input, for POST /api/admin/settings."`
	Version     versionCmd     `cmd:"" help:"Show the version."`
}

func main() {
	_ = process.Hide()                                  // serve logs a failure
	if len(os.Args) == 2 && os.Args[1] == "--version" { // only alone, because a subcommand has a flag of this name
		os.Args[1] = "version"
	}
	ctx := kong.Parse(&cli, kong.Name("atelier"),
		kong.Description("A realtime server for live workshops, and a tokenization handler."), kong.ShortUsageOnError(), closedLists, roles, doctorDefaults)
	if err := ctx.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "atelier:", err)
		os.Exit(1)
	}
}
