package doctor

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/fasthttp/websocket"
)

// visit is one examination. Later checks use the results of earlier checks.
type visit struct {
	Options
	client   *http.Client
	reached  bool // a request to the address reached this server
	loggedIn bool
	csrf     string
	lab      string // a codelab whose socket can be opened, or ""
}

// untried returns a skipped finding, for a check whose precondition was not met.
func untried(remedy, why string) Finding {
	return Finding{OK: true, Skipped: true, Text: "not tried: " + why, Remedy: remedy}
}

// largestAnswer is the maximum size of a response that is read, in bytes.
const largestAnswer = 16 << 20

// ask sends a request to the server over the same path as browsers, and returns the response and
// its body. A status of 300 or more is not an error. If into is not nil and the status is below
// 300, ask decodes the body into it.
func (v *visit) ask(ctx context.Context, method, path string, body any, into any) (*http.Response, []byte, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(v.Address, "/")+path, bytes.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	if method != http.MethodGet {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", origin(v.Address))
		r.Header.Set("X-CSRF-Token", v.csrf)
	}
	res, err := v.client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(io.LimitReader(res.Body, largestAnswer))
	if err == nil && into != nil && res.StatusCode < 300 {
		err = json.Unmarshal(got, into)
	}
	return res, got, err
}

// origin returns the Origin header that a browser would send from a page at the address.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

func (v *visit) address(ctx context.Context) Finding {
	v.client = newClient()
	if v.Address == "" {
		return bad("server.public_url: the address that people type, with https://", "the public address of the server is not configured, so links in certificates and the check of origins can be wrong")
	}
	var app struct {
		Version *string `json:"version"`
	}
	res, _, err := v.ask(ctx, http.MethodGet, "/api/app", nil, &app)
	switch {
	case err != nil:
		return bad("start the server; check the proxy, the firewall and the DNS entry of the name", "%s does not answer as a server: %v", v.Address, plain(err))
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return bad("set server.public_url to that address", "%s redirects to %s", v.Address, res.Header.Get("Location"))
	case res.StatusCode != http.StatusOK || app.Version == nil:
		return bad("the proxy must pass all paths to the server, including /api", "%s/api/app answers %d: another server is there", v.Address, res.StatusCode)
	}
	v.reached = true
	if u, err := url.Parse(v.Address); err == nil && u.Scheme != "https" && v.Open {
		return bad("serve it over https: deploy/Caddyfile, deploy/nginx.conf, or server.tls_cert", "%s is not https: passwords travel in the clear, and codelabs cannot be read without a network", v.Address)
	}
	return fine("%s is this server, version %s", v.Address, *app.Version)
}

// newClient returns a client without cookies, like a new browser. It does not follow redirects.
func newClient() *http.Client {
	jar, _ := cookiejar.New(nil) // never returns an error
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// plain returns an error without the address, because the output already contains it.
func plain(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func (v *visit) certificate(ctx context.Context) Finding {
	leaf, where, err := v.leaf(ctx)
	switch {
	case err != nil:
		return bad("check the certificate and the names in it", "%s: %v", where, plain(err))
	case leaf == nil:
		return untried("", "there is no https")
	}
	return Certificate(where, leaf.NotAfter, v.Now())
}

// leaf returns the certificate that browsers receive or, without https, the one in TLSCert. It
// returns nil if there is none. where is the host, or the file, with the certificate.
func (v *visit) leaf(ctx context.Context) (leaf *x509.Certificate, where string, err error) {
	if u, err := url.Parse(v.Address); err == nil && u.Scheme == "https" {
		port := u.Port()
		if port == "" {
			port = "443"
		}
		d := tls.Dialer{Config: &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}}
		c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
		if err != nil {
			return nil, u.Host, err
		}
		defer c.Close()
		return c.(*tls.Conn).ConnectionState().PeerCertificates[0], u.Host, nil
	}
	if v.TLSCert == "" {
		return nil, "", nil
	}
	text, err := os.ReadFile(v.TLSCert)
	if err != nil {
		return nil, v.TLSCert, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, v.TLSCert, errors.New("it contains no certificate")
	}
	leaf, err = x509.ParseCertificate(block.Bytes)
	return leaf, v.TLSCert, err
}

// largestPage is twice the compressed size of the app's start page with its files, in bytes. A
// larger size means that something in between removes compression.
const largestPage = 400_000

var linked = regexp.MustCompile(`(?:src|href)="((?:/[\w.~-]+)*/assets/[\w.-]+)"`)

func (v *visit) app(ctx context.Context) Finding {
	if !v.reached {
		return untried("", "the address does not answer")
	}
	_, page, err := v.ask(ctx, http.MethodGet, "/", nil, nil)
	if err != nil {
		return bad("load the page in a browser", "the start page: %v", plain(err))
	}
	files := linked.FindAllSubmatch(page, -1)
	if len(files) == 0 {
		return bad("install Node 20.19 or newer, run make build, and restart the server", "this program was built without the browser app")
	}
	total := len(page)
	for _, f := range files {
		// With this header the client does not decompress the body.
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, origin(v.Address)+string(f[1]), http.NoBody)
		if err != nil {
			return bad("", "%v", err)
		}
		r.Header.Set("Accept-Encoding", "br, gzip")
		res, err := v.client.Do(r)
		if err != nil {
			return bad("load the page in a browser", "%s: %v", f[1], plain(err))
		}
		n, err := io.Copy(io.Discard, io.LimitReader(res.Body, largestAnswer))
		_ = res.Body.Close()
		if err != nil {
			return bad("load the page in a browser", "%s: %v", f[1], plain(err))
		}
		if res.StatusCode != http.StatusOK {
			return bad("the proxy must pass /assets/ on unchanged", "%s answers %d", f[1], res.StatusCode)
		}
		total += int(n)
	}
	if total > largestPage {
		return bad("configure the proxy to pass Accept-Encoding on, and to compress nothing itself", "the start page has %d kB: something in between undoes the compression", total/1000)
	}
	return fine("the start page has %d kB in %d files, and no fonts of its own", total/1000, len(files)+1)
}

func (v *visit) login(ctx context.Context) Finding {
	switch {
	case !v.reached:
		return untried("", "the address does not answer")
	case v.Password == "":
		return untried("set ADMIN_PW, and run the command again", "the owner's password is neither in the data folder nor in ADMIN_PW")
	}
	res, got, err := v.ask(ctx, http.MethodPost, "/api/login", map[string]string{"admin_id": v.Admin, "admin_pw": v.Password, "display_name": "atelier doctor"}, nil)
	switch {
	case err != nil:
		return bad("check the proxy", "%v", plain(err))
	case res.StatusCode == http.StatusForbidden:
		return bad("server.public_url must be the address that people type; the proxy must pass Host and X-Forwarded-Proto on", "nobody can log in: %s", errorText(got))
	case res.StatusCode >= 300:
		return bad("log in by hand; atelier checkconfig shows the settings", "the owner cannot log in: %d %s", res.StatusCode, errorText(got))
	}
	u, err := url.Parse(v.Address)
	if err != nil {
		return bad("", "%v", err)
	}
	for _, c := range v.client.Jar.Cookies(u) {
		if c.Name == "svc_csrf" {
			v.csrf = c.Value
		}
	}
	if v.csrf == "" {
		return bad("the proxy must pass cookies on; https needs X-Forwarded-Proto: https from a trusted proxy", "the server's cookies do not arrive")
	}
	v.loggedIn = true
	return fine("the owner can log in")
}

// errorText returns the server's own text from an error response.
func errorText(body []byte) string {
	var e struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &e) != nil {
		return ""
	}
	return e.Error
}

func (v *visit) socket(ctx context.Context) Finding {
	if !v.loggedIn {
		return untried("", "nobody is logged in")
	}
	var labs []struct {
		ID string `json:"id"`
	}
	res, got, err := v.ask(ctx, http.MethodGet, "/api/codelabs?limit=1", nil, &labs)
	switch {
	case err != nil:
		return bad("check the proxy", "the codelabs cannot be read: %v", plain(err))
	case res.StatusCode != http.StatusOK:
		return bad("look into the log of the server", "the codelabs cannot be read: %d %s", res.StatusCode, errorText(got))
	}
	if len(labs) == 0 {
		return untried("create or import a codelab (atelier import), and run the command again", "there is no codelab yet")
	}
	c, res, err := v.dial(ctx, labs[0].ID)
	if err != nil {
		text, remedy := fmt.Sprint(plain(err)), "the proxy must pass Upgrade and Connection on, by HTTP/1.1 (deploy/nginx.conf, deploy/Caddyfile)"
		if res != nil {
			text = fmt.Sprintf("%d", res.StatusCode)
			if res.StatusCode == http.StatusForbidden {
				remedy = "set server.public_url to the address that people type, or let the proxy pass Host on"
			}
		}
		return bad(remedy, "no socket opens (%s): pages use slower event streams instead", text)
	}
	defer c.Close()
	if err := c.SetReadDeadline(time.Now().Add(checkTimeout)); err != nil {
		return bad("", "%v", err)
	}
	if _, _, err := c.ReadMessage(); err != nil {
		return bad("the proxy must not buffer responses (proxy_buffering off)", "a socket opens, but no message arrives: %v", err)
	}
	v.lab = labs[0].ID
	return fine("a socket opens, and messages arrive")
}

// dial opens a socket with the visit's login.
func (v *visit) dial(ctx context.Context, lab string) (*websocket.Conn, *http.Response, error) {
	u, err := url.Parse(v.Address)
	if err != nil {
		return nil, nil, err
	}
	h := http.Header{"Origin": {origin(v.Address)}}
	for _, c := range v.client.Jar.Cookies(u) {
		h.Add("Cookie", c.Name+"="+c.Value)
	}
	address := "ws" + strings.TrimPrefix(strings.TrimSuffix(v.Address, "/"), "http") + "/api/ws/" + lab + "?as=admin"
	return (&websocket.Dialer{HandshakeTimeout: checkTimeout}).DialContext(ctx, address, h)
}

func (v *visit) logout(ctx context.Context) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer done()
	_, _, _ = v.ask(ctx, http.MethodPost, "/api/logout", nil, nil) // if this fails, the session expires later
}
