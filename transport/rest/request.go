package rest

import (
	"slices"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/codelab"
	"atelier/actors/people"
	"atelier/transport/auth"
	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

// Request is one call of an operation. The Request and everything it points to are valid only until
// its handler returns.
type Request struct {
	*httpapi.Exchange
	api *API
	op  *Operation // nil for none
	who auth.Identity
	// Caller is the caller's identity for actors. It is nil for operations with the access Anyone
	// or Session, unless the operation itself sets it.
	Caller *codelab.Caller
	// Codelab is the codelab in the path, or the one that the operation has entered.
	Codelab codelab.Codelab
}

// Identity returns the identity of the caller.
func (r *Request) Identity() *auth.Identity { return &r.who }

// IsAdmin reports whether the request acts with the admin grant.
func (r *Request) IsAdmin() bool { return r.Caller.IsAdmin() }

func (r *Request) ip() string { return r.api.ClientIP(r.RequestCtx) }

// bucket returns the key under which requests are counted. The key is the session or API token, if
// any. Otherwise it is the browser if an admin has logged in from it, and else the address. Other
// callers at the same address therefore cannot lock an admin's browser out.
func (r *Request) bucket() string {
	if key := r.who.Key(); key != "" {
		return key
	}
	if id := r.device(); id != "" {
		return "device " + id
	}
	return httpapi.Address(r.ip())
}

// device returns the id that the browser got at an earlier login, or "".
func (r *Request) device() string {
	cookie := r.Cookie(auth.DeviceCookie)
	if len(cookie) == 0 {
		return ""
	}
	return r.api.Auth.Signer.DeviceID(string(cookie))
}

// personDevice is the prefix of the ids of browsers in which a person other than the owner has
// logged in. The person's id follows.
const personDevice = "person:"

// deviceFor returns the device for a login attempt. A person's device applies only to their own
// login; see auth.Failures.
func (r *Request) deviceFor(login string) (string, error) {
	device := r.device()
	id, person := strings.CutPrefix(device, personDevice)
	if !person {
		return device, nil
	}
	h, err := r.api.People.Get(people.ID)
	if err != nil {
		return "", err
	}
	if p := h.View().Get(id); p == nil || !people.HasLogin(p, login) {
		return "", nil
	}
	return device, nil
}

// Serve implements httpapi.Call.
func (r *Request) Serve() error { return r.op.Handle(r) }

// End implements httpapi.Call.
func (r *Request) End(took time.Duration) {
	r.api.Observe(r.Operation(), r.Response.StatusCode(), took)
}

// Detach calls Detach of httpapi, with errors in this API's format.
func (r *Request) Detach(serve func(d *httpapi.Detached)) {
	name, began, api := r.Operation(), r.api.Now(), r.api
	r.Exchange.Detach(problemOf, func(status int) { api.Observe(name, status, api.Now().Sub(began)) }, serve)
}

// Admit implements httpapi.Call. Before it refuses a request that another node may just have
// permitted, it checks once more with current data.
func (r *Request) Admit() error {
	if r.api.Current == nil {
		return r.admit()
	}
	if err := r.current(false); err != nil {
		return err
	}
	err := r.admit()
	if refused := problemOf(err).Status; err != nil && (refused == fasthttp.StatusUnauthorized || refused == fasthttp.StatusForbidden) {
		if err := r.current(true); err != nil {
			return err
		}
		return r.admit()
	}
	return err
}

// admit identifies the caller, and checks the rate limit, the CSRF token, the scope and the access.
func (r *Request) admit() error {
	a, op := r.api, r.op
	// With a misspelled value the caller would act in a role other than the intended one.
	if as := r.Query("as"); as != "" && as != "admin" && as != "attendee" {
		return wire.Invalid("as must be admin or attendee")
	}
	badToken, err := r.identify()
	if err != nil {
		return err
	}
	limiter, key := a.Limits.Writes, r.bucket
	switch {
	case op.Check:
		limiter = a.Limits.Checks
	case op.Basic:
		// Git clients send a first request without a password, and the people of a whole class
		// share an address. These requests therefore count as reads.
		limiter = a.Limits.Reads
		if r.who.Known() {
			limiter = a.Limits.Git
		}
	case op.Joins:
		limiter, key = a.Limits.Joins, func() string { return httpapi.Address(r.ip()) }
	case op.Upload:
		limiter = a.Limits.Uploads
	case op.Method == fasthttp.MethodGet:
		limiter = a.Limits.Reads
	}
	// A whole class registers from one address, so registration has its own buckets.
	if (op.Access != Registrant || r.who.Known()) && !r.Expecting() && !r.who.Operator() {
		if wait := limiter.Allow(key()); wait > 0 {
			return httpapi.ErrTooMany(wait)
		}
	}
	if op.Method != fasthttp.MethodGet && r.who.SessionID != "" {
		if !r.showsCSRF(r.Request.Header.Peek(auth.CSRFHeader)) {
			return errCSRF
		}
	}
	if op.Unframed && r.framedAnyhow() {
		return errFramed
	}
	if badToken && op.Access != Anyone {
		return errLogin
	}
	if !r.inScope() {
		return errScope
	}
	err = r.authorize()
	if err != nil && op.Access == Registrant {
		return r.wasted(err)
	}
	return err
}

// current returns an error unless permissions are known to be current; see Config.Current.
func (r *Request) current(now bool) error {
	authorized := len(r.Request.Header.Peek("Authorization")) > 0
	if authorized && (r.op.Basic || r.op.Check) {
		// The header contains a personal secret, which depends on its session, or an API token.
		if err := r.api.Current(now, false); err != nil {
			return err
		}
	}
	return r.api.Current(now, authorized)
}

// identify determines the caller. badToken means that the request contains an invalid credential.
func (r *Request) identify() (badToken bool, err error) {
	if r.UserValue(operator{}) != nil {
		r.who = auth.Operator()
		return false, nil
	}
	h := &r.Request.Header
	switch {
	case r.op.Basic:
		return r.identifyBasic()
	case r.op.Check:
		return r.identifyChecker()
	}
	return r.identifyBySession(string(h.Peek("Authorization")))
}

// maxSessions bounds the session cookies that are examined per request. A browser sends at most
// two: its own cookie and a frame's cookie.
const maxSessions = 4

// identifyBySession identifies the caller by a cookie or a token. Of several sessions it uses the
// first one of the owner, a facilitator or an assistant, or else the first one that has not ended.
// In a frame it ignores the sessions of those people, and uses the first other one that has not
// ended.
func (r *Request) identifyBySession(authorization string) (badToken bool, err error) {
	framed, shown := r.Framed(), 0
	for cookie := range r.Cookies(auth.SessionCookie) {
		if shown++; shown > maxSessions {
			break
		}
		who, bad, err := r.api.Auth.Identify(cookie, authorization)
		if err != nil || bad {
			return bad, err
		}
		if framed {
			who = who.Framed()
		}
		if shown == 1 || !r.who.Known() || r.who.Rank() == auth.NoRank && who.Rank() != auth.NoRank {
			r.who = who
		}
		if r.who.Known() && (framed || r.who.Rank() != auth.NoRank) {
			break
		}
	}
	if shown == 0 {
		r.who, badToken, err = r.api.Auth.Identify(nil, authorization)
	}
	return badToken, err
}

// showsCSRF reports whether the request has its session's CSRF token in both header and cookie.
func (r *Request) showsCSRF(header []byte) bool {
	for cookie := range r.Cookies(auth.CSRFCookie) {
		if r.who.ShowsCSRF(header, cookie) {
			return true
		}
	}
	return false
}

// do sends a command to the request's codelab.
func (r *Request) do(b codelab.Body) (any, error) { return r.ask(codelab.Command{Body: b}) }

func (r *Request) ask(cmd codelab.Command) (any, error) {
	cmd.Caller = r.Caller
	v, _, err := r.Codelab.Ask(cmd)
	return v, err
}

// edit sends a command that replaces an object. The command runs only if the object still has the
// revision in If-Match. The response has the object's new tag.
func (r *Request) edit(b codelab.Body) (codelab.Edited, error) {
	v, err := r.ask(codelab.Command{Body: b, IfMatch: r.ifMatch()})
	if err != nil {
		return codelab.Edited{}, err
	}
	made := v.(codelab.Edited)
	r.madeEdition(made)
	return made, nil
}

// knows refuses unknown query options, because otherwise a request with a mistyped dry_run would
// change data.
func (r *Request) knows(options ...string) error {
	for name := range r.QueryArgs().All() {
		if !slices.Contains(options, string(name)) && string(name) != "as" {
			return wire.Invalid("this operation has no option %.40q; its options are %s", name, strings.Join(options, ", "))
		}
	}
	return nil
}

// flag parses a boolean query parameter, false by default.
func (r *Request) flag(name string) (bool, error) {
	switch r.Query(name) {
	case "", "false", "0":
		return false, nil
	case "true", "1":
		return true, nil
	}
	return false, wire.Invalid("%s must be true or false", name)
}
