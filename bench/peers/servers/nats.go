package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// natsPeer is NATS with its WebSocket listener; clients use its line protocol.
type natsPeer struct{ none }

func (*natsPeer) About() string { return "github.com/nats-io/nats-server, core NATS over WebSocket" }

func (*natsPeer) Run(ctx context.Context, listen string, ready func(string)) error {
	host, text, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("address: %w", err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("port: %w", err)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	s, err := server.NewServer(&server.Options{
		// The listener for NATS's own protocol is mandatory.
		Host: "127.0.0.1", Port: server.RANDOM_PORT,
		NoLog: true, NoSigs: true,
		Websocket: server.WebsocketOpts{Host: host, Port: port, NoTLS: true},
	})
	if err != nil {
		return fmt.Errorf("make server: %w", err)
	}
	s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(10 * time.Second) {
		return errors.New("the server is not ready after 10 s")
	}
	ready(strings.TrimPrefix(s.WebsocketURL(), "ws://"))
	<-ctx.Done()
	return nil
}
