// Command s3test is an S3 server for tests: an embedded VersityGW on a folder. It is a separate
// module, so that its dependencies stay out of Atelier.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run serves the folder in the first argument, at the address in the third. The second argument is
// the folder for the objects' metadata (the sidecar of VersityGW). run prints "ready" once it
// accepts connections, and exits when its standard input ends. The keys are in the environment, as
// for Atelier.
func run() error {
	if len(os.Args) != 4 {
		return fmt.Errorf("usage: s3test FOLDER SIDECAR HOST:PORT")
	}
	dir, sidecar, addr := os.Args[1], os.Args[2], os.Args[3]
	store, err := meta.NewSideCar(sidecar)
	if err != nil {
		return err
	}
	be, err := posix.New(dir, store, posix.PosixOpts{SideCarDir: sidecar, NewDirPerm: 0o700})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the process that started it ends
		stop()
	}()
	go func() {
		for ctx.Err() == nil {
			if c, err := net.Dial("tcp", addr); err == nil {
				_ = c.Close()
				fmt.Println("ready")
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return embedgw.RunVersityGW(ctx, be, &embedgw.Config{
		RootUserAccess: os.Getenv("AWS_ACCESS_KEY_ID"), RootUserSecret: os.Getenv("AWS_SECRET_ACCESS_KEY"), Region: "us-east-1",
		Ports: []string{addr}, MaxConnections: 1024, MaxRequests: 512, MultipartMaxParts: 10_000, Quiet: true, KeepAlive: true,
	})
}
