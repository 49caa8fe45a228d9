package acceptance

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atelier/cmd/atelier/service"
	"atelier/persistence/postgres/postgrestest"
)

// trustTestServers makes this process and its children trust the certificate of httptest's
// servers, because webhooks use only https. It returns the file of the certificate.
func trustTestServers() (file string) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	f, err := os.CreateTemp("", "atelier-acceptance-*.pem")
	if err != nil {
		panic(err)
	}
	if err := pem.Encode(f, &pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}); err != nil {
		panic(err)
	}
	_ = f.Close()
	_ = os.Setenv("SSL_CERT_FILE", f.Name())
	return f.Name()
}

// delivery is a request that a receiver got.
type delivery struct {
	header http.Header
	body   []byte
	fields record
}

func (d delivery) data() record { return record(d.fields["data"].(map[string]any)) }

// receiver is another system that receives webhooks. It validates each body against the OpenAPI
// description of its event.
type receiver struct {
	*httptest.Server
	t      *testing.T
	got    chan delivery
	status atomic.Int64 // of its responses
	conns  atomic.Int64 // TCP connections
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{t: t, got: make(chan delivery, 1000)}
	r.status.Store(http.StatusNoContent)
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(r.serve))
	r.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			r.conns.Add(1)
		}
	}
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) serve(w http.ResponseWriter, req *http.Request) {
	text, err := io.ReadAll(req.Body)
	d := delivery{header: req.Header, body: text}
	if err == nil {
		err = json.Unmarshal(text, &d.fields)
	}
	if err != nil {
		r.t.Errorf("receiving the delivery %q failed: %v", text, err)
	}
	if kind := d.fields.text("type"); kind != "test" {
		if err := openAPI.validate(pointer{"webhooks", kind, "post", "requestBody", "content", "application/json", "schema"}, text); err != nil {
			r.t.Errorf("undocumented: %v", err)
		}
	}
	select {
	case r.got <- d:
	default:
		r.t.Error("more deliveries arrived than the test expects")
	}
	if status := int(r.status.Load()); status >= 300 && status < 400 {
		http.Redirect(w, req, "https://127.0.0.1:1/elsewhere", status)
	} else {
		w.WriteHeader(status)
	}
}

// next returns the next delivery, which must be an event of this kind.
func (r *receiver) next(kind string) delivery {
	r.t.Helper()
	select {
	case d := <-r.got:
		if d.fields.text("type") != kind || d.header.Get("webhook-id") != d.fields.text("id") {
			r.t.Fatalf("got %s with the id %s, want %s", d.body, d.header.Get("webhook-id"), kind)
		}
		return d
	case <-time.After(testTimeout):
		r.t.Fatalf("no %s arrived", kind)
		return delivery{}
	}
}

// signedWith verifies a signature as the documentation describes.
func (d delivery) signedWith(t *testing.T, secret string) {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) != 32 {
		t.Fatalf("the secret %q is not 32 bytes in Base64: %v", secret, err)
	}
	m := hmac.New(sha256.New, key)
	fmt.Fprintf(m, "%s.%s.%s", d.header.Get("webhook-id"), d.header.Get("webhook-timestamp"), d.body)
	if want := "v1," + base64.StdEncoding.EncodeToString(m.Sum(nil)); d.header.Get("webhook-signature") != want {
		t.Errorf("the signature is %q, want %q", d.header.Get("webhook-signature"), want)
	}
}

// hook creates a webhook.
func (c *class) hook(r *receiver, more record) (id, secret string) {
	c.t.Helper()
	in := record{"url": r.URL + "/in", "events": []string{"attendee_registered"}}
	for k, v := range more {
		in[k] = v
	}
	got := c.admin.post("/admin/webhooks", in).object()
	return got.text("id"), got.text("secret")
}

// webhook returns one webhook of the list.
func (c *class) webhook(id string) record {
	c.t.Helper()
	for _, w := range c.admin.get("/admin/webhooks").list() {
		if w.text("id") == id {
			return w
		}
	}
	c.t.Fatalf("the list has no webhook %s", id)
	return nil
}

// becomes waits until a webhook has the expected state.
func (c *class) becomes(id, what string, is func(record) bool) {
	c.t.Helper()
	for deadline := time.Now().Add(testTimeout); ; {
		w := c.webhook(id)
		if is(w) {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("the webhook is not %s: %v", what, w)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func privateServer(t *testing.T) *service.Service {
	cfg := testConfig(t)
	cfg.Webhooks.AllowPrivate = true
	cfg.Limits.WritesPerMinute, cfg.Limits.RegistrationsFrom = 0, 0
	return startServer(t, cfg)
}

var everyEvent = []string{
	"attendee_registered", "help_requested", "attendee_completed", "workshop_ended", "check_reported", "token_used", "token_reused", "token_locked",
}

func TestWebhooksReportEveryEvent(t *testing.T) {
	t.Parallel()
	addr := privateServer(t).Addr()
	c := newClassOn(t, addr, record{})
	c.declare(nil)
	r := newReceiver(t)
	id, secret := c.hook(r, record{"events": everyEvent})
	lin := c.attendee("Lin")
	d := r.next("attendee_registered")
	d.signedWith(t, secret)
	if d.data().text("attendee_id") != lin.id || d.data()["attendee_name"] != nil || d.fields.text("codelab_id") != c.id {
		t.Errorf("the delivery of a registration is %s", d.body)
	}
	if at := d.header.Get("Content-Type"); at != "application/json" {
		t.Errorf("the content type is %q", at)
	}
	lin.post(c.path+"/help", record{"step_number": 1, "message": "a secret trouble"}).want(200)
	d = r.next("help_requested")
	if d.data().number("step_number") != 1 || strings.Contains(string(d.body), "trouble") {
		t.Errorf("the delivery of a help request is %s", d.body)
	}
	lin.post(c.path+"/help", record{"step_number": 2}).want(200) // the same request
	access := lin.post(c.path+"/check-access", nil).object().text("token")
	c.report(access, "build", record{"ok": true, "note": "by Lin"}).want(200)
	if d = r.next("check_reported"); d.data().text("check") != "build" || d.data()["ok"] != true {
		t.Errorf("the delivery of a check is %s", d.body)
	}
	lin.post(c.path+"/complete", nil).want(200)
	lin.post(c.path+"/complete", nil).want(200)
	r.next("attendee_completed")
	c.admin.post(c.path+"/end", nil).want(200)
	if d = r.next("workshop_ended"); d.data().number("attendees") != 1 || d.data().number("completed") != 1 {
		t.Errorf("the delivery of the end is %s", d.body)
	}

	m := newMarket(t, addr, production)
	token := m.tokenize("c1")
	m.business.post("/detokenize", use(token, "c1")).want(200)
	d = r.next("token_used")
	if x := d.data(); x.text("participant_id") != m.business.id || x.text("checkout_id") != "c1" || x.text("environment") != "production" || d.fields["codelab_id"] != nil {
		t.Errorf("the delivery of a token use is %s", d.body)
	}
	if strings.Contains(string(d.body), token[9:]) || strings.Contains(string(d.body), "42424242") {
		t.Errorf("a delivery contains a part of the token: %s", d.body)
	}
	m.business.post("/detokenize", use(token, "c1")).wantError(410, "token_used")
	r.next("token_reused")
	locked := m.tokenize("c2")
	for range 5 {
		m.business.post("/detokenize", use(locked, "other")).wantError(403, "binding_mismatch")
	}
	r.next("token_locked")
	c.becomes(id, "quiet", func(w record) bool { return w["last"] != nil && w.number("failures") == 0 })
	if last := record(c.webhook(id)["last"].(map[string]any)); last.number("status") != 204 {
		t.Errorf("the last attempt is %v", last)
	}
	if len(r.got) != 0 {
		t.Errorf("%d unexpected deliveries arrived", len(r.got))
	}
	if n := len(c.admin.get("/admin/audit-logs?action=webhook_create").list()); n != 1 {
		t.Errorf("%d audit records of webhook_create, want 1", n)
	}
	c.admin.delete("/admin/webhooks/" + id).want(204)
	c.admin.delete("/admin/webhooks/" + id).refused(404)
	if n := len(c.admin.get("/admin/audit-logs?action=webhook_delete").list()); n != 1 {
		t.Errorf("%d audit records of webhook_delete, want 1", n)
	}
}

// A webhook receives the events of its codelabs. The events contain names only if the owner has
// enabled names for this webhook.
func TestWebhooksReceiveOnlyTheirEvents(t *testing.T) {
	t.Parallel()
	addr := privateServer(t).Addr()
	c, other := newClassOn(t, addr, record{}), newClassOn(t, addr, record{})
	r := newReceiver(t)
	c.hook(r, record{"names": true, "codelabs": []string{c.id}})
	other.attendee("Max")
	lin := c.attendee("Lin")
	if d := r.next("attendee_registered"); d.data().text("attendee_id") != lin.id || d.data().text("attendee_name") != "Lin" {
		t.Errorf("the delivery is %s", d.body)
	}
	lin.post(c.path+"/help", record{"step_number": 1}).want(200)
	c.attendee("Kim")
	r.next("attendee_registered")
	if len(r.got) != 0 {
		t.Error("an unexpected delivery arrived")
	}
}

func TestAFailingWebhookIsStoppedAndResumed(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, privateServer(t).Addr(), record{})
	r := newReceiver(t)
	id, _ := c.hook(r, nil)
	r.status.Store(http.StatusTemporaryRedirect) // a redirect counts as a failure, whatever its target
	c.attendee("Lin")
	first := r.next("attendee_registered")
	c.becomes(id, "failing", func(w record) bool { return w.number("failures") >= 1 && w.text("state") == "active" })
	if last := record(c.webhook(id)["last"].(map[string]any)); last.number("status") != 307 {
		t.Errorf("the last attempt is %v", last)
	}
	r.status.Store(500)
	for i := range 19 {
		c.attendee(fmt.Sprint("Somebody ", i))
	}
	c.becomes(id, "stopped", func(w record) bool { return w.text("state") == "stopped" && w.number("failures") == 20 })
	if n := len(c.admin.get("/admin/audit-logs?action=webhook_stopped").list()); n != 1 {
		t.Errorf("%d audit records of webhook_stopped, want 1", n)
	}
	c.attendee("Nobody hears of") // a stopped webhook keeps no deliveries

	r.status.Store(200)
	for len(r.got) > 0 {
		<-r.got
	}
	if got := c.admin.post("/admin/webhooks/"+id+"/test", nil).object(); got.number("status") != 200 {
		t.Errorf("the test delivery returned %v", got)
	}
	r.next("test")
	if w := c.webhook(id); w.text("state") != "stopped" || w.number("failures") != 20 {
		t.Errorf("the test delivery changed the webhook to %v", w)
	}
	c.admin.post("/admin/webhooks/"+id+"/resume", nil).want(204)
	if w := c.webhook(id); w.text("state") != "active" || w.number("failures") != 0 {
		t.Errorf("the resumed webhook is %v", w)
	}
	if l := c.admin.get("/admin/audit-logs?action=webhook_resume").list(); len(l) != 1 || l[0].text("target_id") != id || l[0].text("actor_type") != "admin" {
		t.Errorf("the audit records of webhook_resume are %v", l)
	}
	c.attendee("Kim")
	// Kim's event arrives immediately. A failed event is first retried after 5 s.
	seen := map[string]bool{}
	for !seen[first.fields.text("id")] {
		seen[r.next("attendee_registered").fields.text("id")] = true
	}
}

// The server checks the address when it connects, whatever the host name in the URL.
func TestWebhooksCannotReachTheInternalNetwork(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	r := newReceiver(t)
	port := r.URL[strings.LastIndex(r.URL, ":"):]
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "10.0.0.1", "192.168.1.1", "169.254.169.254", "[fd00::1]", "[fe80::1]"} {
		got := c.admin.post("/admin/webhooks", record{"url": "https://" + host + port, "events": []string{"token_used"}}).object()
		if status := c.admin.post("/admin/webhooks/"+got.text("id")+"/test", nil).object().number("status"); status != 0 {
			t.Errorf("the test delivery to %s returned %v, want 0", host, status)
		}
		c.admin.delete("/admin/webhooks/" + got.text("id")).want(204)
	}
	if n := r.conns.Load(); n != 0 {
		t.Errorf("the receiver got %d connections, want 0", n)
	}
}

func TestBadWebhooksAreRefused(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	events := []string{"attendee_registered"}
	for field, in := range map[string]record{
		"https": {"url": "http://example.org", "events": events}, "password": {"url": "https://a:b@example.org", "events": events},
		"user name": {"url": "https://a@example.org", "events": events},
		"host":      {"url": "https:///x", "events": events}, "not a URL": {"url": "https://exa mple.org", "events": events},
		"fragment": {"url": "https://example.org/#x", "events": events}, "2000": {"url": "https://example.org/" + strings.Repeat("x", 2000), "events": events},
		"url is required": {"events": events}, "events is required": {"url": "https://example.org"},
		"at least one": {"url": "https://example.org", "events": []string{}}, "events[0]": {"url": "https://example.org", "events": []string{"everything"}},
		"twice":       {"url": "https://example.org", "events": []string{"token_used", "token_used"}},
		"codelabs[0]": {"url": "https://example.org", "events": events, "codelabs": []string{"mine"}},
	} {
		c.admin.post("/admin/webhooks", in).refused(400, field)
	}
	for _, path := range []string{"", "/test", "/resume"} {
		for _, id := range []string{unknownID, "x"} {
			if path == "" {
				c.admin.delete("/admin/webhooks/"+id).refused(404, "webhook not found")
			} else {
				c.admin.post("/admin/webhooks/"+id+path, nil).refused(404, "webhook not found")
			}
		}
	}
	c.facilitator("webhooks@example.org").browser.get("/admin/webhooks").refused(403)
}

func TestTheNumberOfWebhooksIsLimited(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, startServer(t, testConfig(t)).Addr(), record{})
	in := record{"url": "https://example.org/in", "events": []string{"token_used"}}
	for range 20 {
		c.admin.post("/admin/webhooks", in).want(200)
	}
	c.admin.post("/admin/webhooks", in).refused(409, "20 webhooks")
	list := c.admin.get("/admin/webhooks").list()
	if len(list) != 20 {
		t.Errorf("%d webhooks are listed, want 20", len(list))
	}
	c.admin.delete("/admin/webhooks/" + list[0].text("id")).want(204)
	c.admin.post("/admin/webhooks", in).want(200)
}

// Deliveries queued before a shutdown are sent after the next start. They are signed with the same
// secret, which is never stored unencrypted.
func TestDeliveriesSurviveAShutdown(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Webhooks.AllowPrivate = true
	s := startUntilStopped(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	r := newReceiver(t)
	r.status.Store(503)
	id, secret := c.hook(r, nil)
	lin := c.attendee("Lin")
	first := r.next("attendee_registered")
	// The next attempt follows after 5 s. On a busy machine, it can precede this read, so failures
	// can be greater than 1.
	c.becomes(id, "failing", func(w record) bool { return w.number("failures") >= 1 })
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if in := filesWith(t, cfg.Server.Data, []byte("attendee_registered")); len(in) == 0 {
		t.Error("the search finds no delivery in the stopped server's files")
	}
	if in := filesWith(t, cfg.Server.Data, []byte(strings.TrimPrefix(secret, "whsec_"))); len(in) > 0 {
		t.Errorf("%v contain the secret", in)
	}
	r.status.Store(200)
	startServer(t, cfg)
	d := r.next("attendee_registered")
	d.signedWith(t, secret)
	if d.fields.text("id") != first.fields.text("id") || d.data().text("attendee_id") != lin.id || string(d.body) != string(first.body) {
		t.Errorf("the delivery after the restart is %s, the first was %s", d.body, first.body)
	}
}

// Each delivery arrives once, regardless of the node on which the event happened.
func TestOneOfSeveralNodesSendsEachDelivery(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Webhooks.AllowPrivate = true
	cfg.Limits.WritesPerMinute, cfg.Limits.RegistrationsFrom = 0, 0
	nodes := startNodes(t, 2, postgrestest.Database(t), cfg)
	for _, n := range nodes {
		t.Cleanup(func() { _ = n.Stop() })
	}
	c := newClassOn(t, nodes[0].Addr(), record{})
	there := newClassOn(t, nodes[1].Addr(), record{})
	r := newReceiver(t)
	id, secret := c.hook(r, nil)
	if w := there.webhook(id); w.text("state") != "active" {
		t.Errorf("on the other node, the webhook is %v", w)
	}
	// The other node loads the webhook within a second.
	tries := 0
	for deadline := time.Now().Add(testTimeout); len(r.got) == 0; tries++ {
		if time.Now().After(deadline) {
			t.Fatal("no event of the other node was delivered")
		}
		there.attendee(fmt.Sprint("Early ", tries))
		time.Sleep(50 * time.Millisecond)
	}
	for i := range 10 {
		c.attendee(fmt.Sprint("Here ", i))
		there.attendee(fmt.Sprint("There ", i))
	}
	ids := map[string]bool{}
	for labs := map[string]int{}; labs[c.id] < 10 || labs[there.id] < 11; {
		d := r.next("attendee_registered")
		d.signedWith(t, secret)
		if ids[d.fields.text("id")] {
			t.Errorf("%s arrived twice", d.fields.text("id"))
		}
		ids[d.fields.text("id")] = true
		labs[d.fields.text("codelab_id")]++
	}
}

// The owner sees the outcome of each attempt, but no part of the receivers' responses.
func TestTheOwnerSeesTheOutcomeOfEachAttempt(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Webhooks.AllowPrivate = true
	server := startUntilStopped(t, cfg)
	c := newClassOn(t, server.Addr(), record{})
	r := newReceiver(t)
	id, _ := c.hook(r, record{})
	path := "/admin/webhooks/" + id + "/deliveries"
	if got := c.admin.get(path).list(); len(got) != 0 {
		t.Errorf("before the first attempt, the list is %v", got)
	}
	c.admin.post("/admin/webhooks/"+id+"/test", nil).want(200)
	r.next("test")
	r.status.Store(http.StatusFound)
	c.attendee("Lin")
	deliveryID := r.next("attendee_registered").fields.text("id")
	c.becomes(id, "tried", func(w record) bool { return w.number("failures") >= 1 })
	check := func() {
		t.Helper()
		// On a busy machine, there can already be a second attempt, which follows after 5 s.
		got := slices.DeleteFunc(c.admin.get(path).list(), func(w record) bool { return w.number("try") > 1 })
		if len(got) != 2 {
			t.Fatalf("the attempts are %v", got)
		}
		last, first := got[0], got[1]
		if last.text("id") != deliveryID || last.text("type") != "attendee_registered" || last.number("status") != 302 || last.text("error") != "redirect" || last.number("try") != 1 {
			t.Errorf("the last attempt is %v", last)
		}
		if first.text("type") != "test" || first.number("status") != 204 || first["error"] != nil || first.text("at") > last.text("at") {
			t.Errorf("the first attempt is %v", first)
		}
	}
	check()
	c.facilitator("fay-tries@example.org").get(path).refused(403)
	c.admin.get("/admin/webhooks/" + c.id + "/deliveries").refused(404)
	r.status.Store(http.StatusNoContent)
	c.admin.http.CloseIdleConnections()
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	c.admin.base = "http://" + startServer(t, cfg).Addr()
	for _, w := range c.admin.get(path).list() {
		if w.text("id") == deliveryID && w.number("try") == 1 && w.text("error") == "redirect" {
			return
		}
	}
	t.Error("the attempt is lost after a restart")
}
