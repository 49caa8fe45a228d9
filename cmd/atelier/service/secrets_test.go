package service

import (
	"os"
	"strings"
	"testing"

	"atelier/cmd/atelier/config"
)

// In an earlier version, a key file that a full disk or a careless copy had truncated was used as
// the key.
func TestATruncatedKeyIsNotUsed(t *testing.T) {
	cfg := config.Default()
	cfg.Server.Data = t.TempDir()
	key, made, err := secretKey(cfg, "some.key")
	if err != nil || !made || len(key) < 40 {
		t.Fatalf("secretKey returned a key of %d bytes, made: %v, %v", len(key), made, err)
	}
	if again, made, err := secretKey(cfg, "some.key"); again != key || made || err != nil {
		t.Error("the second read returned another key", made, err)
	}
	path := secretFile(cfg, "some.key")
	if err := os.WriteFile(path, []byte(key[:31]), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err = secretKey(cfg, "some.key")
	if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), key[:31]) {
		t.Errorf("a truncated key returned %v, want an error with the path and without the key", err)
	}
}
