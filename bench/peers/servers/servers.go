// Package servers contains servers built on third-party libraries, each written as the library's
// documentation recommends. It also contains the floor: servers that do only the unavoidable
// minimum. They are targets of the load generator.
package servers

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Peer is a server that can be started.
type Peer interface {
	// About describes the server in one line.
	About() string
	// Flags adds the server's own flags.
	Flags(*flag.FlagSet)
	// Run serves until ctx ends. It calls ready once with the address, when it accepts connections.
	Run(ctx context.Context, listen string, ready func(address string)) error
}

// All returns the peers by name.
func All() map[string]Peer {
	return map[string]Peer{
		"centrifuge":   &centrifugePeer{},
		"nats":         &natsPeer{},
		"gorilla":      &hubPeer{about: "a plain hub on github.com/gorilla/websocket", accept: acceptGorilla},
		"coder":        &hubPeer{about: "a plain hub on github.com/coder/websocket", accept: acceptCoder},
		"floor":        &floor{},
		"floor-http":   &floorHTTP{},
		"floor-badger": &floorBadger{},
	}
}

// none implements Flags for peers without flags.
type none struct{}

func (none) Flags(*flag.FlagSet) {}

// closeWithin is the timeout for the shutdown of a server.
const closeWithin = 2 * time.Second

// serve serves HTTP until ctx ends.
func serve(ctx context.Context, listen string, handler http.Handler, ready func(string)) error {
	ln, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() {
		// WebSockets no longer belong to the server, so there is nothing to wait for.
		_ = srv.Close()
	})
	defer stop()
	ready(ln.Addr().String())
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
