package servers

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/centrifugal/centrifuge"
)

// centrifugePeer is a server built on Centrifugo's library. Clients use its JSON protocol. They can
// subscribe to every channel, publish in it, and recover missed messages from a history in memory.
type centrifugePeer struct{ none }

func (*centrifugePeer) About() string {
	return "github.com/centrifugal/centrifuge, history and recovery"
}

// The number of messages in the history of a channel, and the time that they are kept.
const (
	historySize = 1000
	historyLife = time.Minute
)

func (*centrifugePeer) Run(ctx context.Context, listen string, ready func(string)) error {
	node, err := centrifuge.New(centrifuge.Config{})
	if err != nil {
		return fmt.Errorf("make node: %w", err)
	}
	node.OnConnecting(func(context.Context, centrifuge.ConnectEvent) (centrifuge.ConnectReply, error) {
		// The client has no name, as with a connection without a login.
		return centrifuge.ConnectReply{Credentials: &centrifuge.Credentials{}}, nil
	})
	node.OnConnect(func(client *centrifuge.Client) {
		client.OnSubscribe(func(_ centrifuge.SubscribeEvent, done centrifuge.SubscribeCallback) {
			done(centrifuge.SubscribeReply{Options: centrifuge.SubscribeOptions{EnableRecovery: true}}, nil)
		})
		client.OnPublish(func(_ centrifuge.PublishEvent, done centrifuge.PublishCallback) {
			done(centrifuge.PublishReply{Options: centrifuge.PublishOptions{HistorySize: historySize, HistoryTTL: historyLife}}, nil)
		})
	})
	if err := node.Run(); err != nil {
		return fmt.Errorf("run node: %w", err)
	}
	handler := centrifuge.NewWebsocketHandler(node, centrifuge.WebsocketConfig{
		CheckOrigin:        func(*http.Request) bool { return true },
		UseWriteBufferPool: true,
	})
	err = serve(ctx, listen, handler, ready)
	closing, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	_ = node.Shutdown(closing) // a timeout is not a failure: the process ends
	return err
}
