// Command provider is a real OpenID Connect provider for browser tests. It runs the example of a
// library, on a free port of loopback. It has the client "atelier" with the secret "secret", and
// the people in a file. It prints its issuer, and serves until it is killed.
//
//	identity-provider REDIRECT_URI PEOPLE.json
package main

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: identity-provider REDIRECT_URI PEOPLE.json")
		os.Exit(2)
	}
	if err := serve(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(redirect, file string) error {
	people, err := storage.StoreFromFile(file)
	if err != nil {
		return fmt.Errorf("people: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	storage.RegisterClients(storage.WebClient("atelier", "secret", redirect))
	issuer := fmt.Sprintf("http://%s/", listener.Addr())
	handler := exampleop.SetupServer(issuer, storage.NewStorage(people), slog.New(slog.DiscardHandler), false)
	fmt.Println(issuer)
	return http.Serve(listener, handler)
}
