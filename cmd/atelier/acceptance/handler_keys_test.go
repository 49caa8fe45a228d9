package acceptance

import (
	"fmt"
	"sync"
	"testing"

	"atelier/cmd/atelier/service"
	"atelier/persistence/keyfile"
	"atelier/transport/control"
)

// TestKeysRotateOneAfterTheOther rotates from several places at once while
// tokens are made: each rotation makes a version of its own, and no token is
// left under a key that another rotation wrote over.
func TestKeysRotateOneAfterTheOther(t *testing.T) {
	cfg := testConfig(t)
	s := startUntilStopped(t, cfg)
	m := newMarket(t, s.Addr(), production)
	m.policy(m.business, "ttl", 0)
	const rotations = 12
	tokens := map[string]string{"first": m.tokenize("first")}
	var rotating sync.WaitGroup
	for range rotations {
		rotating.Go(func() {
			client, err := control.Dial(cfg.Server.Data)
			if err != nil {
				t.Error(err)
				return
			}
			defer client.Close()
			if _, err := client.RotateKeys(); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range 50 {
		checkout := fmt.Sprint(i)
		tokens[checkout] = m.tokenize(checkout)
	}
	rotating.Wait()
	keys, err := keyfile.Load(service.TokenKeyFile(cfg))
	if err != nil || len(keys) != 1+rotations {
		t.Errorf("%d keys after %d rotations, %v", len(keys), rotations, err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	m.move(startServer(t, cfg).Addr())
	for checkout, token := range tokens {
		m.business.post("/detokenize", use(token, checkout)).want(200)
	}
}
