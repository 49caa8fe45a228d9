//go:build !linux

// Command atelier-bench runs load tests against an Atelier server, on Linux.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "atelier-bench: needs Linux: it keeps its sockets in epoll and reads /proc")
	os.Exit(4)
}
