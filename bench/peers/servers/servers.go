// Package servers holds servers of other people's libraries, each as its documentation
// would have it written, and the floor: servers that do only the unavoidable minimum. The
// load generator is pointed at all of them.
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
	// About describes it in a line.
	About() string
	// Flags adds flags of its own.
	Flags(*flag.FlagSet)
	// Run serves until ctx ends. Ready is called once with the address, when
	// connections are taken.
	Run(ctx context.Context, listen string, ready func(address string)) error
}

// All are the peers by name.
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

// none is for peers without flags.
type none struct{}

func (none) Flags(*flag.FlagSet) {}

// closeWithin is how long a server has for its end.
const closeWithin = 2 * time.Second

// serve serves HTTP until ctx ends.
func serve(ctx context.Context, listen string, handler http.Handler, ready func(string)) error {
	ln, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() {
		// WebSockets are no longer the server's, so there is nobody to wait for.
		_ = srv.Close()
	})
	defer stop()
	ready(ln.Addr().String())
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
