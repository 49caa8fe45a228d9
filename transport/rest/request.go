package rest

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/cow"
	"atelier/actors/ids"
	"atelier/transport/auth"
	"atelier/transport/wire"
)

// Request is one call on its way through the pipeline. It and everything it
// points to is valid only until its handler returns.
type Request struct {
	*fasthttp.RequestCtx
	api *API
	op  *operation
	id  string // request id
	who auth.Identity
	// Caller is who acts, for actors. Set when the operation needs somebody.
	Caller *pb.Caller
	// Lab is the codelab of the path, for operations on one.
	Lab codelab.Workshop
}

func (r *Request) operation() string {
	if r.op == nil {
		return "none"
	}
	return r.op.name
}

// Identity is who is calling.
func (r *Request) Identity() *auth.Identity { return &r.who }

// IsAdmin says whether the admin grant acts.
func (r *Request) IsAdmin() bool { return r.Caller.GetRole() == pb.Role_ROLE_ADMIN }

// Param returns a copy of a path parameter.
func (r *Request) Param(name string) string {
	s, _ := r.UserValue(name).(string)
	return strings.Clone(s)
}

// Query returns a copy of a query parameter.
func (r *Request) Query(name string) string { return string(r.QueryArgs().Peek(name)) }

func (r *Request) ip() string { return r.api.clientIP(r.RequestCtx) }

func (r *Request) begin() {
	r.id = ids.New()
	h := &r.Response.Header
	h.Set("X-Request-Id", r.id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}

// serve wraps an operation in the pipeline.
func (a *API) serve(op *operation) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		began := a.Now()
		r := &Request{RequestCtx: ctx, api: a, op: op}
		r.begin()
		defer func() {
			if p := recover(); p != nil {
				// The value may hold what a person wrote, so only its type is
				// told.
				a.Logger.Error("handler panicked", "request_id", r.id, "operation", op.name, "panic", fmt.Sprintf("%T", p))
				r.fail(io.ErrUnexpectedEOF)
			}
			r.discardBody()
			a.observe(op.name, r, began)
		}()
		err := r.admit()
		if err == nil {
			err = op.handle(r)
		}
		if err != nil {
			r.fail(err)
		}
	}
}

// admit does everything that comes before the handler.
func (r *Request) admit() error {
	a, op := r.api, r.op
	cookie := string(r.Request.Header.Cookie(auth.SessionCookie))
	var badToken bool
	r.who, badToken = a.Auth.Identify(cookie, string(r.Request.Header.Peek("Authorization")))
	limiter := a.Limits.Writes
	if op.method == fasthttp.MethodGet {
		limiter = a.Limits.Reads
	}
	if limiter != nil {
		key := r.who.SessionID
		if r.who.Token != nil {
			key = r.who.Token.Id
		}
		if key == "" {
			key = r.ip()
		}
		// A whole class registers from one address; registration has a bucket
		// of its own.
		if op.access != register || r.who.Known() {
			if wait := limiter.Allow(key); wait > 0 {
				return errTooMany(wait)
			}
		}
	}
	if op.method != fasthttp.MethodGet && r.who.SessionID != "" &&
		!a.Auth.Signer.CheckCSRF(r.who.SessionID, string(r.Request.Header.Peek(auth.CSRFHeader))) {
		return errCSRF
	}
	if badToken && op.access != anyone {
		return errLogin
	}
	return r.authorize()
}

// authorize checks the role and, after it, that the codelab exists.
func (r *Request) authorize() (err error) {
	a, id := r.api, r.Param("id")
	admin := r.who.Admin() && r.Query("as") != "attendee"
	attendee := ""
	switch r.op.access {
	case anyone:
		return nil
	case session:
		if !r.who.Known() {
			return errLogin
		}
		return nil
	case adminOnly:
		if err := r.needAdmin(); err != nil {
			return err
		}
		r.asAdmin()
		return nil
	case labAdmin:
		if err := r.needAdmin(); err != nil {
			return err
		}
		r.asAdmin()
		r.Lab, err = a.Workshops.Get(id)
		return err
	case labReader, register:
		if r.Lab, err = a.Workshops.Get(id); err != nil {
			return err
		}
		v := r.Lab.View()
		attendee = r.attendeeIn(v, id)
		switch {
		case admin:
			r.asAdmin()
		case attendee != "":
			r.asAttendee(v, attendee)
		case r.op.access == register || v.Meta.GetIsPublic():
			r.asAnyone()
		case !r.who.Known():
			return errLogin
		default:
			return errForbidden
		}
		return nil
	}
	// labMember, labAttendee
	if !r.who.Known() {
		return errLogin
	}
	if admin && r.op.access == labMember {
		r.asAdmin()
		r.Lab, err = a.Workshops.Get(id)
		return err
	}
	if r.who.Attendee(id) == "" {
		return errForbidden
	}
	if r.Lab, err = a.Workshops.Get(id); err != nil {
		return err
	}
	v := r.Lab.View()
	if attendee = r.attendeeIn(v, id); attendee == "" {
		return errForbidden
	}
	r.asAttendee(v, attendee)
	return nil
}

func (r *Request) needAdmin() error {
	switch {
	case r.who.Admin():
		return nil
	case r.who.Known():
		return errForbidden
	}
	return errLogin
}

// registered says that the caller is an attendee of a codelab and was not
// removed since.
func (r *Request) registered(lab string) bool {
	if r.who.Attendee(lab) == "" {
		return false
	}
	w, err := r.api.Workshops.Get(lab)
	return err == nil && r.attendeeIn(w.View(), lab) != ""
}

// attendeeIn returns the caller's attendee if it still exists.
func (r *Request) attendeeIn(v *codelab.View, lab string) string {
	id := r.who.Attendee(lab)
	if id != "" && v.Attendee(id) == nil {
		return ""
	}
	return id
}

func (r *Request) asAdmin() {
	r.Caller = r.caller(pb.Role_ROLE_ADMIN)
	r.Caller.Id, r.Caller.Name, r.Caller.Person = codelab.FacilitatorID, r.who.AdminName(), r.who.Person()
	r.Caller.AdminId = r.api.AdminID
}

func (r *Request) asAttendee(v *codelab.View, id string) {
	r.Caller = r.caller(pb.Role_ROLE_ATTENDEE)
	r.Caller.Id, r.Caller.Name, r.Caller.Person = id, v.Attendee(id).GetName(), id
}

func (r *Request) asAnyone() { r.Caller = r.caller(pb.Role_ROLE_ANYONE) }

func (r *Request) caller(role pb.Role) *pb.Caller {
	ua := r.Request.Header.UserAgent()
	return &pb.Caller{Role: role, Ip: r.ip(), UserAgent: string(ua[:min(len(ua), 256)])}
}

// do sends a command to the codelab of the path.
func (r *Request) do(cmd *pb.Command) (any, error) {
	cmd.Caller = r.Caller
	v, _, err := r.Lab.Ask(cmd)
	return v, err
}

// Body returns a JSON body of at most the operation's limit.
func (r *Request) body() ([]byte, error) {
	ct := r.Request.Header.ContentType()
	if i := bytes.IndexByte(ct, ';'); i >= 0 {
		ct = ct[:i]
	}
	if ct = bytes.TrimSpace(ct); len(ct) > 0 && !bytes.EqualFold(ct, []byte("application/json")) {
		return nil, errMediaType
	}
	limit := r.op.body
	if limit == 0 {
		limit = maxJSON
	}
	return r.readBody(limit)
}

// JSONBody returns the JSON body, not yet decoded.
func (r *Request) JSONBody() ([]byte, error) { return r.body() }

// Answer answers 200 with encoded JSON.
func (r *Request) Answer(b []byte) error {
	r.raw(b)
	return nil
}

// readBody reads a body of at most limit bytes.
func (r *Request) readBody(limit int) ([]byte, error) {
	if r.Request.Header.ContentLength() > limit {
		return nil, errBodyTooBig
	}
	if !r.Request.IsBodyStream() {
		b := r.Request.Body()
		if len(b) > limit {
			return nil, errBodyTooBig
		}
		return b, nil
	}
	b, err := io.ReadAll(io.LimitReader(r.Request.BodyStream(), int64(limit)+1))
	if err != nil {
		r.SetConnectionClose()
		return nil, wire.Invalid("the body broke off")
	}
	if len(b) > limit {
		return nil, errBodyTooBig
	}
	return b, nil
}

const (
	// drainBytes and drainFor bound what is read of a body that nobody wants,
	// so that the client, still sending, gets to read the answer. It is more
	// than any body may have: an upload just over its limit is refused, not cut.
	drainBytes = maxImport + 128<<20
	drainFor   = 5 * time.Second
)

// discardBody reads what is left of the body; the next request of the
// connection begins behind it.
func (r *Request) discardBody() {
	if !r.Request.IsBodyStream() {
		return
	}
	s := r.Request.BodyStream()
	if r.Request.Header.ContentLength() > maxJSON {
		_ = r.Conn().SetReadDeadline(time.Now().Add(drainFor))
	}
	n, err := io.Copy(io.Discard, io.LimitReader(s, drainBytes))
	if err != nil || n == drainBytes {
		r.SetConnectionClose()
	}
}

// decode reads the JSON body into a value.
func (r *Request) decode(into any) error {
	b, err := r.body()
	if err != nil {
		return err
	}
	return wire.Decode(b, into)
}

// json answers 200 with a value.
func (r *Request) json(v any) error {
	b, err := wire.Codec.Marshal(v)
	if err != nil {
		return err
	}
	r.raw(b)
	return nil
}

func (r *Request) raw(b []byte) {
	r.SetContentType("application/json")
	r.Response.SetBodyRaw(b)
}

// cached answers 200 with what was encoded before of the same thing, or with
// what value gives, which is kept. Slot tells two variants apart.
func (r *Request) cached(e *cow.Encoded, slot int, value func() any) error {
	b, err := e.Get(slot, func() ([]byte, error) { return wire.Codec.Marshal(value()) })
	if err != nil {
		return err
	}
	r.raw(b)
	return nil
}

// Slots of cow.Encoded: what facilitators and what others are shown.
const (
	forAdmins = 0
	forOthers = 1
)

func (r *Request) slot() int {
	if r.IsAdmin() {
		return forAdmins
	}
	return forOthers
}

// ok answers the plain success.
func (r *Request) ok() error {
	r.raw(statusOK)
	return nil
}

var statusOK = []byte(`{"status":"ok"}`)

func (r *Request) noContent() error {
	r.SetStatusCode(fasthttp.StatusNoContent)
	return nil
}

// fresh sets the entity tag of a read of the codelab, which changed last with
// seq. When the client has it already, it answers 304 and returns true.
// variant tells apart what different callers are shown.
func (r *Request) fresh(changed uint64, variant string) bool {
	stream := r.api.StreamID
	tag := `"` + stream[:min(8, len(stream))] + "-" + strconv.FormatUint(changed, 36) + "-" + variant + `"`
	h := &r.Response.Header
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, no-cache")
	if match := string(r.Request.Header.Peek("If-None-Match")); match != "" {
		for m := range strings.SplitSeq(match, ",") {
			if m = strings.TrimPrefix(strings.TrimSpace(m), "W/"); m == tag || m == "*" {
				r.SetStatusCode(fasthttp.StatusNotModified)
				return true
			}
		}
	}
	return false
}

// view returns the codelab's view and tells the client which position of the
// stream it shows.
func (r *Request) view() *codelab.View {
	v, seq := r.Lab.ViewAt()
	r.Response.Header.Set("X-Codelab-Seq", strconv.FormatUint(seq, 10))
	return v
}
