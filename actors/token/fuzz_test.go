package token

import (
	"bytes"
	"runtime"
	"testing"

	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
)

// FuzzStoredRecord replaces a token's record with arbitrary bytes. Such a record never yields a
// credential.
func FuzzStoredRecord(f *testing.F) {
	var j *watched
	w := newWorld(f, func(o *Options) {
		j = watch(o.Journal)
		o.Journal, o.QuarantineFor = j, 1
	})
	tok := w.issue("c", pb.Policy_POLICY_TTL)
	key, raw := w.rowOf(tok)
	f.Add(raw)
	f.Add(raw[:40])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, stored []byte) {
		for !w.settled() { // so that the record is read again
			runtime.Gosched()
		}
		j.change(func(_ string, k, v []byte) []byte {
			if bytes.Equal(k, key) {
				return stored
			}
			return v
		})
		got, err := w.vault.Detokenize(business, Use{tok, "business", "c"})
		if bytes.Equal(stored, raw) != (err == nil) || err == nil && string(got) != cardJSON {
			t.Fatalf("detokenize with the replaced record: %v", err)
		}
	})
}

// FuzzTokenText parses any text as a token.
func FuzzTokenText(f *testing.F) {
	f.Add(string(seal.NewToken(seal.Production)))
	f.Add("tok_live_")
	f.Add("tok_test_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, text string) {
		tok, ok := seal.ParseToken(seal.Production, text)
		if ok && (string(tok) != text || len(text) != 9+43) {
			t.Fatal("the parsed token differs from its text")
		}
		if _, both := seal.ParseToken(seal.Sandbox, text); ok && both {
			t.Fatal("the token is accepted in both environments")
		}
	})
}
