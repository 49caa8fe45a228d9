package rest

import (
	"errors"
	"slices"
	"testing"

	"github.com/valyala/fasthttp"

	"atelier/transport/httpapi"
)

// On several nodes a request is checked against current data of everything on which its credential
// depends. A personal secret and an API token can both be in the Authorization header.
func TestEachCredentialIsCheckedAgainstCurrentData(t *testing.T) {
	for name, c := range map[string]struct {
		op         Operation
		authorized bool
		want       []bool // the argument token of each call of Config.Current
	}{
		"a session":                          {Operation{}, false, []bool{false}},
		"an API token":                       {Operation{}, true, []bool{true}},
		"Git with a secret or an API token":  {Operation{Basic: true}, true, []bool{false, true}},
		"Git without credentials":            {Operation{Basic: true}, false, []bool{false}},
		"the check of an attendee's machine": {Operation{Check: true}, true, []bool{false, true}},
	} {
		var got []bool
		a := &API{Config: Config{Current: func(_, token bool) error { got = append(got, token); return nil }}}
		r := &Request{Exchange: &httpapi.Exchange{RequestCtx: &fasthttp.RequestCtx{}}, api: a, op: &c.op}
		if c.authorized {
			r.Request.Header.Set("Authorization", "Basic YTpi")
		}
		if err := r.current(true); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, Current was called with %v, want %v", name, err, got, c.want)
		}
		unknown := errors.New("unknown")
		a.Current = func(_, token bool) error {
			if !token {
				return unknown
			}
			return nil
		}
		if err := r.current(false); (err == unknown) != slices.Contains(c.want, false) {
			t.Errorf("%s, with unknown sessions: %v", name, err)
		}
	}
}
