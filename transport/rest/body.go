package rest

import (
	"encoding/json"

	"atelier/transport/describe"
	"atelier/transport/wire"
)

// drainBytes bounds how much of an unwanted body is read, in bytes. It exceeds every body limit, so
// that the sender of an upload just over the limit gets a response and not a closed connection.
const drainBytes = maxImport + 128<<20

// JSONBody returns the JSON body, undecoded. It returns an error if the caller has lost a
// permission while the body arrived.
func (r *Request) JSONBody() ([]byte, error) {
	b, err := r.Body()
	if err != nil {
		return nil, err
	}
	return b, r.still()
}

// decode decodes the JSON body, whose required members must be present.
func (r *Request) decode(into any) error {
	b, err := r.JSONBody()
	if err != nil {
		return err
	}
	return decodeWhole(b, into)
}

func decodeWhole(b []byte, into any) error {
	if err := wire.Decode(b, into); err != nil {
		return err
	}
	return checkWhole(into)
}

// checkWhole returns an error if a decoded body lacks a required member.
func checkWhole(into any) error {
	if name := describe.Missing(into); name != "" {
		return wire.Invalid("%s is required", name)
	}
	return nil
}

// contains reports whether a body contains the member, even if the member is null. The body must
// have been decoded before.
func contains(body []byte, member string) bool {
	var members map[string]json.RawMessage
	if err := wire.Codec.Unmarshal(body, &members); err != nil {
		return false
	}
	_, ok := members[member]
	return ok
}

// decodeSecret decodes a JSON body with a secret, which must not stay in memory together with its
// sender's cookie. The caller must call wiped when done, even after an error.
func (r *Request) decodeSecret(into any) (wiped func(), err error) {
	b, err := r.SecretBody()
	wiped = func() {
		clear(b)
		wire.DiscardBody(r.RequestCtx, drainBytes)
		wire.WipeBody(r.RequestCtx, nil)
	}
	if err == nil {
		err = r.still()
	}
	if err == nil {
		err = decodeWhole(b, into)
	}
	return wiped, err
}

// decodeStrict decodes the JSON body, and rejects unknown members. The caller checks for missing
// members.
func (r *Request) decodeStrict(into any) error {
	b, err := r.JSONBody()
	if err != nil {
		return err
	}
	return wire.DecodeStrict(b, into)
}

// decodeOptional decodes a JSON body. An empty body leaves into unchanged.
func (r *Request) decodeOptional(into any) error {
	b, err := r.JSONBody()
	if err != nil || len(b) == 0 {
		return err
	}
	return wire.Decode(b, into)
}
