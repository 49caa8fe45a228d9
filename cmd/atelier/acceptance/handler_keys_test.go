package acceptance

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"atelier/cmd/atelier/service"
	"atelier/persistence/secrets"
	"atelier/transport/control"
)

// Several callers rotate keys at the same time while tokens are made. Each rotation makes its own
// version. No token is left under a key that another rotation overwrote.
func TestConcurrentRotationsEachMakeAKey(t *testing.T) {
	t.Parallel()
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
	keys, err := secrets.LoadKeys(service.TokenKeyFile(cfg))
	if err != nil || len(keys) != 1+rotations {
		t.Errorf("there are %d keys after %d rotations, %v", len(keys), rotations, err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	m.move(startServer(t, cfg).Addr())
	for checkout, token := range tokens {
		m.business.post("/detokenize", use(token, checkout)).want(200)
	}
}

// The shares of sealing keys are stored among the secrets. Only their owner can read them, and no
// backup contains them. A start destroys the shares that expired while no server was running.
func TestSealingKeySharesAreStoredWithTheSecrets(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	s := startUntilStopped(t, cfg)
	m := newMarket(t, s.Addr(), production)
	token := m.tokenize("c")
	secrets := filepath.Join(cfg.Server.Data, "secrets")
	found, err := filepath.Glob(filepath.Join(secrets, "tokens-until-*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("the share files are %v, %v", found, err)
	}
	info, err := os.Stat(found[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the share file is %v, %v", info, err)
	}
	share, err := os.ReadFile(found[0])
	if err != nil || len(share) != 32 {
		t.Fatalf("the share has %d bytes, %v", len(share), err)
	}
	if saved := backup(t, cfg.Server.Data); bytes.Contains(saved, share) || bytes.Contains(saved, []byte("tokens-until-")) {
		t.Error("a backup contains a share")
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	over := filepath.Join(secrets, "tokens-until-20260301T121500Z-0123456789abcdef")
	if err := os.WriteFile(over, share, 0o600); err != nil {
		t.Fatal(err)
	}
	m.move(startServer(t, cfg).Addr())
	if _, err := os.Stat(over); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an expired share still exists: %v", err)
	}
	m.business.post("/detokenize", use(token, "c")).want(200)
}
