//go:build !linux

// Command atelier-bench runs load tests against an Atelier server, on Linux.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "atelier-bench: needs Linux, because it uses epoll and reads /proc")
	os.Exit(4)
}
