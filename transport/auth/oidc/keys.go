package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

// Lifetime of the provider's keys: as stated by the provider, within these bounds. A key that the
// provider has withdrawn is accepted until the end of this lifetime at most.
const (
	minKeys = time.Minute // also the default
	maxKeys = time.Hour
)

// algorithms are the accepted signature algorithms. None uses a shared secret, because anyone with
// the client's secret could then sign as anybody.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
}

// keySet contains the provider's keys. It implements oidc.KeySet. It is safe for concurrent use.
type keySet struct {
	address string
	now     func() time.Time

	mu    sync.Mutex // held during a fetch, so that concurrent callers share its result
	keys  []jose.JSONWebKey
	until time.Time
}

// VerifySignature implements oidc.KeySet. If no cached key verifies the token, the keys are fetched
// once more, because the provider might have a new key.
func (k *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	signed, err := jose.ParseSigned(token, signatures)
	if err != nil || len(signed.Signatures) != 1 {
		return nil, errors.New("the token does not have one signature with an accepted algorithm")
	}
	id := signed.Signatures[0].Header.KeyID
	for _, refresh := range []bool{false, true} {
		keys, fetched, err := k.current(ctx, refresh)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			if id != "" && key.KeyID != id || key.Use != "" && key.Use != "sig" {
				continue
			}
			if payload, err := signed.Verify(key.Key); err == nil {
				return payload, nil
			}
		}
		if fetched {
			break
		}
	}
	return nil, errors.New("none of the provider's keys has signed the token")
}

var signatures = func() []jose.SignatureAlgorithm {
	var out []jose.SignatureAlgorithm
	for _, a := range algorithms {
		out = append(out, jose.SignatureAlgorithm(a))
	}
	return out
}()

// current returns the current keys. With refresh it fetches them even if they are valid.
func (k *keySet) current(ctx context.Context, refresh bool) (keys []jose.JSONWebKey, fetched bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if !refresh && now.Before(k.until) {
		return k.keys, false, nil
	}
	set, life, err := k.fetch(ctx)
	if err != nil {
		return nil, false, err
	}
	k.keys, k.until = set, now.Add(life)
	return k.keys, true, nil
}

func (k *keySet) fetch(ctx context.Context) ([]jose.JSONWebKey, time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.address, http.NoBody)
	if err != nil {
		return nil, 0, fmt.Errorf("keys: %w", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, 0, fmt.Errorf("keys: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	if resp.StatusCode != http.StatusOK {
		return nil, 0, fmt.Errorf("keys: the provider answers %d", resp.StatusCode)
	}
	// Unusable keys and unknown types are skipped.
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&set); err != nil {
		return nil, 0, fmt.Errorf("keys: %w", err)
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) == nil && key.IsPublic() && key.Valid() {
			keys = append(keys, key)
		}
	}
	return keys, lifetime(resp.Header), nil
}

// lifetime returns how long a response is fresh (RFC 9111, 4.2), within minKeys and maxKeys.
func lifetime(h http.Header) time.Duration {
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
		if name == "no-store" || name == "no-cache" {
			return minKeys
		}
		if name != "max-age" {
			continue
		}
		if seconds, err := strconv.Atoi(strings.Trim(value, `"`)); err == nil {
			age, _ := strconv.Atoi(h.Get("Age"))
			seconds = min(seconds, int(maxKeys/time.Second)) - max(age, 0)
			return max(minKeys, time.Duration(seconds)*time.Second)
		}
	}
	return minKeys
}

// accepted returns the algorithms that the provider offers and this package accepts, or RS256 if
// there are none.
func accepted(offered []string) []string {
	out := slices.DeleteFunc(slices.Clone(offered), func(a string) bool { return !slices.Contains(algorithms, a) })
	if len(out) == 0 {
		return []string{oidc.RS256}
	}
	return out
}
