// Command peers runs servers built on third-party libraries, as targets of the load generator, and
// compares them with Atelier.
//
//	peers centrifuge --listen 127.0.0.1:8100
//	peers compare --bench ../../bin/atelier-bench
//
// A server prints "listening ADDRESS" on standard error when it accepts connections, and ends on
// SIGTERM.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"atelier/bench/peers/compare"
	"atelier/bench/peers/servers"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the command and returns its exit code.
func run(ctx context.Context, args []string, out, log io.Writer) int {
	all := servers.All()
	if len(args) == 0 || args[0] == "-h" || args[0] == "--help" {
		usage(log, all)
		return 3
	}
	flags := flag.NewFlagSet("peers "+args[0], flag.ContinueOnError)
	flags.SetOutput(log)
	if args[0] == "compare" {
		return fail(log, compare.Command(ctx, flags, args[1:], out, log))
	}
	peer := all[args[0]]
	if peer == nil {
		usage(log, all)
		return 3
	}
	listen := flags.String("listen", "127.0.0.1:0", "`address` to listen on; port 0 is any free one")
	peer.Flags(flags)
	if flags.Parse(args[1:]) != nil {
		return 3
	}
	return fail(log, peer.Run(ctx, *listen, func(address string) { fmt.Fprintln(log, "listening", address) }))
}

func fail(log io.Writer, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(log, "peers:", err)
	return 1
}

func usage(w io.Writer, all map[string]servers.Peer) {
	fmt.Fprintln(w, "peers NAME [--listen ADDRESS]\n\nServers:")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(w, "  %-13s %s\n", name, all[name].About())
	}
	fmt.Fprintf(w, "  %-13s %s\n", "compare", "runs the load generator against all of them and Atelier, in turn")
}
