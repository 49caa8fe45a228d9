package token

import (
	"testing"

	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
)

func TestUnknownTokensStayUnknownAfterKeyRotation(t *testing.T) {
	key := func(version uint32) seal.Key {
		material := make([]byte, seal.MaterialBytes)
		material[0] = byte(version)
		return seal.Key{Version: version, Material: material}
	}
	w := newWorld(t, func(o *Options) { o.Keys = []seal.Key{key(1)} })
	unknown := func() error {
		_, err := w.vault.Detokenize(business, Use{seal.NewToken(seal.Production), "business", "checkout-1"})
		return err
	}
	// The server keeps running while its first keys are retired and dropped.
	for last := uint32(2); last < 6; last++ {
		if err := w.vault.SetKeys([]seal.Key{key(last - 1), key(last)}); err != nil {
			t.Fatal(err)
		}
		if err := unknown(); err != NotFound {
			t.Fatalf("with the keys %d and %d: %v, want NotFound", last-1, last, err)
		}
		w.issue("checkout-1", pb.Policy_POLICY_SINGLE_USE)
	}
	if n := w.vault.Stats().Quarantined; n != 0 {
		t.Fatalf("%d tokens are in quarantine, want 0", n)
	}
}

func TestADamagedPlaceholderQuarantinesNoToken(t *testing.T) {
	w, j := stash(t)
	j.change(func(_ string, key, value []byte) []byte {
		if string(key) == string(w.vault.placeholderKey) {
			value[len(value)-1] ^= 1
		}
		return value
	})
	_, err := w.vault.Detokenize(business, Use{seal.NewToken(seal.Production), "business", "checkout-1"})
	if err != NotFound {
		t.Fatal(err)
	}
	w.settle()
	if n := j.count("token_quarantine"); n != 0 {
		t.Fatalf("%d quarantines are in the audit trail, want 0", n)
	}
}
