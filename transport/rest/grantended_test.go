package rest

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/codelab"
	"atelier/actors/login"
	"atelier/actors/settings"
	"atelier/persistence/memory"
	"atelier/transport/auth"
	"atelier/transport/httpapi"
)

// slowly is a body that calls a function when its last byte is read.
type slowly struct {
	*bytes.Reader
	happens func()
}

func (s *slowly) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if s.Len() == 0 && s.happens != nil {
		s.happens()
		s.happens = nil
	}
	return n, err
}

// The caller is identified at the start of the request, and the body can take minutes to arrive. In
// an earlier version, a request was executed for a person who had logged out in the meantime.
func TestABodyThatEndsAfterItsGrantIsRefused(t *testing.T) {
	journal := memory.New()
	defer journal.Close()
	sessions, err := login.Load(journal, []byte("account"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	tokens := &settings.View{}
	grants := auth.New(auth.Config{
		AdminLifetime: time.Hour, Signer: auth.NewSigner("secret", nil, time.Now), Sessions: sessions,
		Tokens: func() (*settings.View, error) { return tokens, nil }, Now: time.Now,
	})
	a := &API{Config: Config{Auth: grants}}
	login := func() auth.Identity {
		issued, err := grants.GrantAdmin(auth.Identity{}, auth.Login{})
		if err != nil {
			t.Fatal(err)
		}
		who, _, _ := grants.Identify([]byte(issued.Cookie), "")
		return who
	}
	robot := auth.Identity{Token: &settings.ApiToken{Id: "t"}}
	read := func(who auth.Identity, role codelab.Role, read func(*Request) error, contentType string, body []byte, meanwhile func()) error {
		ctx := &fasthttp.RequestCtx{}
		ctx.Init2(&net.TCPConn{}, nil, false)
		ctx.Request.Header.SetContentType(contentType)
		ctx.Request.SetBodyStream(&slowly{bytes.NewReader(body), meanwhile}, len(body))
		return read(&Request{Exchange: httpapi.Alone(ctx, httpapi.Endpoint{Body: maxJSON}), api: a, op: &Operation{}, who: who, Caller: &codelab.Caller{Role: role}})
	}
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, _ := w.CreateFormFile("file", "a.txt")
	_, _ = part.Write(bytes.Repeat([]byte("x"), 100_000))
	_ = w.Close()
	ways := map[string]struct {
		read func(*Request) error
		kind string
		body []byte
	}{
		"JSON": {func(r *Request) error { _, err := r.JSONBody(); return err }, "application/json", []byte(`{}`)},
		"a file": {func(r *Request) error {
			p, err := r.filePart(1 << 20)
			if err == nil {
				_, err = io.Copy(io.Discard, p)
			}
			return err
		}, w.FormDataContentType(), form.Bytes()},
	}
	for name, way := range ways {
		tokens = &settings.View{Tokens: []*settings.ApiToken{robot.Token}}
		for _, who := range []auth.Identity{login(), robot} {
			if err := read(who, codelab.RoleAdmin, way.read, way.kind, way.body, nil); err != nil {
				t.Errorf("%s with a valid grant returned %v", name, err)
			}
		}
		revoke := func() { tokens = &settings.View{} }
		if err := read(robot, codelab.RoleAdmin, way.read, way.kind, way.body, revoke); !errors.Is(err, errLogin) {
			t.Errorf("%s with a token revoked meanwhile returned %v, want errLogin", name, err)
		}
		// The end of the grant changes nothing for operations that anybody can call.
		if err := read(robot, codelab.RoleAnyone, way.read, way.kind, way.body, revoke); err != nil {
			t.Errorf("%s for anyone returned %v", name, err)
		}
		admin := login()
		logout := func() {
			if err := grants.End(&admin); err != nil {
				t.Error(err)
			}
		}
		if err := read(admin, codelab.RoleAdmin, way.read, way.kind, way.body, logout); !errors.Is(err, errLogin) {
			t.Errorf("%s after a logout returned %v, want errLogin", name, err)
		}
	}
}
