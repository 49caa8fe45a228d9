package rest

import "atelier/transport/wire"

// drainBytes bounds the bytes read of an unwanted body. It exceeds the limit of every body, so
// that an upload just over its limit is refused and not cut off.
const drainBytes = maxImport + 128<<20

// JSONBody returns the JSON body, not yet decoded.
func (r *Request) JSONBody() ([]byte, error) {
	b, err := r.Body()
	if err != nil {
		return nil, err
	}
	return b, r.still()
}

// decode reads the JSON body into a value.
func (r *Request) decode(into any) error {
	b, err := r.JSONBody()
	if err != nil {
		return err
	}
	return wire.Decode(b, into)
}

// decodeSecret is decode for a body that must not stay in memory together with its sender's
// cookie. The caller must call wiped at its end.
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
		err = wire.Decode(b, into)
	}
	return wiped, err
}

// decodeStrict is decode for a body of which nothing may be overlooked.
func (r *Request) decodeStrict(into any) error {
	b, err := r.JSONBody()
	if err != nil {
		return err
	}
	return wire.DecodeStrict(b, into)
}

// decodeOptional is decode for an optional body.
func (r *Request) decodeOptional(into any) error {
	b, err := r.JSONBody()
	if err != nil || len(b) == 0 {
		return err
	}
	return wire.Decode(b, into)
}
