package oidc

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// Bounds of one request to the provider.
const (
	answerTime = 10 * time.Second
	maxAnswer  = 1 << 20 // bytes
)

// client sends requests to the provider. It does not follow redirects: a redirect is an unexpected
// response.
var client = &http.Client{
	Timeout:       answerTime,
	Transport:     bounded{http.DefaultTransport.(*http.Transport).Clone()},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// bounded bounds the bodies of responses: after maxAnswer bytes, every read fails.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = &body{resp.Body, maxAnswer}
	}
	return resp, err
}

type body struct {
	io.ReadCloser
	left int
}

var errTooLong = errors.New("the answer of the identity provider is too long")

// Read implements io.Reader.
func (b *body) Read(to []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(to[:min(len(to), b.left)])
	b.left -= n
	return n, err
}
