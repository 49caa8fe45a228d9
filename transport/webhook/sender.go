package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	hooks "atelier/actors/webhook"
	"atelier/transport/ai/keys"
	"atelier/transport/commerce/remote"
)

const (
	// Timeout bounds a delivery, from resolving the name to the end of the response.
	Timeout = 10 * time.Second
	// maxAnswer is how much of a response is read, in bytes. The content is ignored, but a receiver
	// could treat an unread response as an error.
	maxAnswer = 4 << 10
	// secretPrefix is the prefix of signing secrets in Standard Webhooks.
	secretPrefix = "whsec_"
	secretBytes  = 32
)

// Config configures a Sender.
type Config struct {
	// Seal encrypts and decrypts the webhooks' secrets.
	Seal *keys.Seal
	// Inside permits deliveries to addresses in the server's own network.
	Inside bool
	// Name returns an attendee's name, or "" if it is not known.
	Name   func(codelab, attendee string) string
	Logger *slog.Logger
	Now    func() time.Time
}

// Sender sends deliveries. It is safe for concurrent use.
type Sender struct {
	Config
	http *http.Client
}

// NewSender returns a sender.
func NewSender(cfg Config) *Sender { return &Sender{cfg, remote.NewHTTP(Timeout, cfg.Inside)} }

// NewSecret returns a new signing secret in two forms: the form that is shown once, and the stored
// form.
func (s *Sender) NewSecret() (shown string, sealed []byte) {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails
	shown = secretPrefix + base64.StdEncoding.EncodeToString(b)
	return shown, s.Seal.Close(shown)
}

// Send makes one delivery attempt. If there was no response and ctx has not ended, the log contains
// the reason.
func (s *Sender) Send(ctx context.Context, h *hooks.Hook, d *hooks.Delivery) hooks.Outcome {
	began := time.Now()
	status, err := s.post(ctx, h, d)
	out := hooks.Outcome{Status: status, TookMS: int32(time.Since(began).Milliseconds())}
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		out.Error = hooks.Redirected
	}
	var failed *unreached
	if errors.As(err, &failed) {
		out.Error = failed.kind
	}
	if err != nil && ctx.Err() == nil {
		s.Logger.Warn("a webhook delivery got no answer", "component", "webhooks", "webhook", h.Id, "delivery", d.Id, "error", err)
	}
	return out
}

// unreached is the error for a receiver that did not respond.
type unreached struct {
	error
	kind string // one of hooks.Errors
}

func unreachedBy(err error) error {
	kind := hooks.NotConnected
	switch remote.KindOf(err) {
	case remote.Inside:
		kind = hooks.RefusedAddress
	case remote.Slow:
		kind = hooks.TimedOut
	case remote.Untrusted:
		kind = hooks.BadTLS
	case remote.Ended:
		return remote.Plain(err) // the fault is ours, not the receiver's
	}
	return &unreached{remote.Plain(err), kind}
}

var errSecret = errors.New("its secret cannot be decrypted with the server's present key; delete the webhook and create it again")

func (s *Sender) post(ctx context.Context, h *hooks.Hook, d *hooks.Delivery) (int32, error) {
	secret, ok := s.Seal.Open(h.Secret)
	if !ok {
		return 0, errSecret
	}
	name := s.Name
	if !h.Names {
		name = func(string, string) string { return "" }
	}
	text, err := encode(d, name)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.Url, bytes.NewReader(text))
	if err != nil {
		return 0, errors.New("its address is not a URL")
	}
	at := strconv.FormatInt(s.Now().Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Atelier-Webhooks")
	req.Header.Set("webhook-id", d.Id)
	req.Header.Set("webhook-timestamp", at)
	req.Header.Set("webhook-signature", sign(secret, d.Id, at, text))
	res, err := s.http.Do(req)
	if err != nil {
		return 0, unreachedBy(err)
	}
	defer res.Body.Close()
	// Only the status matters, so the rest of the response can end in any way. After a protocol
	// switch, the connection itself follows instead of a body, and no timeout ends it.
	if res.StatusCode != http.StatusSwitchingProtocols {
		_, _ = io.CopyN(io.Discard, res.Body, maxAnswer)
	}
	return int32(res.StatusCode), nil
}

// sign returns the signature of a delivery according to Standard Webhooks. The key is the decoded
// secret.
func sign(secret, id, at string, text []byte) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	if err != nil { // cannot happen, because we created the secret
		panic("decode the secret of a webhook")
	}
	m := hmac.New(sha256.New, key)
	m.Write([]byte(id + "." + at + "."))
	m.Write(text)
	return "v1," + base64.StdEncoding.EncodeToString(m.Sum(nil))
}
