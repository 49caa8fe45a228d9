package library

import (
	"errors"
	"net/url"

	"atelier/transport/commerce/naming"
)

// Declared finds the schema an entry named name points to. A schema that
// would have to be fetched has to be on a host that may speak for the name.
func (l *Library) Declared(name, address string) (*Resource, error) {
	if l.opts.Fetcher == nil {
		return l.ByID(address)
	}
	offline := *l
	offline.opts.Fetcher = nil
	r, err := offline.ByID(address)
	if e := (*RefError)(nil); err == nil || !errors.As(err, &e) || e.Kind != Unknown {
		return r, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, &RefError{Kind: Malformed, Ref: address, Reason: "not a URL"}
	}
	if err := naming.CheckAuthority(name, u.Hostname()); err != nil {
		return nil, &RefError{Kind: Unreachable, Ref: address, Reason: err.Error()}
	}
	return l.ByID(address)
}
