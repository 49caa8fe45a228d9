package acceptance

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/actors/codelab"
	"atelier/transport/ai/upstream/upstreamtest"
	"atelier/transport/auth"
)

// open starts a server on a folder and reads some of its data through the public interface, with
// the credentials that were kept when the folder was made. It returns the replays of its
// codelabs. Errors omit the secrets that they concern.
func (d keptCredentials) open(t *testing.T, data string, held *holding) map[string]replay {
	up := upstreamtest.New(t)
	cfg := formatConfig(data)
	cfg.AI.BaseURL = up.URL
	s := startOnFormat(t, cfg)
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	addr := s.Addr()
	admin := facilitator(t, addr, "")
	streams := map[string]replay{}
	for id := range held.codelabs {
		c := &class{t: t, addr: addr, admin: admin, id: id, path: "/codelabs/" + id}
		streams[id] = c.replayed() // before the test adds anything
		c.serves(held)
		c.servesCode(t, held)
	}
	for _, u := range held.uploads {
		if got := open(t, addr).get("/uploads/" + u.Name).want(200); hashOf(got.body) != fmt.Sprintf("%x", u.Sum) {
			t.Errorf("the content of the upload %s differs", u.OriginalName)
		}
	}
	for _, p := range d.People {
		p.comesBack(t, addr)
	}
	if d.Facilitator != "" {
		b := open(t, addr)
		b.setCookie(auth.SessionCookie, d.Facilitator)
		if got := b.get("/session").want(200).object(); got.text("role") != "admin" {
			t.Errorf("the facilitator's session is %v", got)
		}
		b.get("/admin/tokens").want(200)
	}
	for status, tokens := range map[int][]string{200: d.APITokens, 401: d.RevokedTokens} {
		for _, token := range tokens {
			b := open(t, addr)
			b.token = token
			b.get("/admin/participants").want(status)
		}
	}
	if d.AIKey != "" {
		text, failed := admin.ask(record{"prompt": "why"}).whole()
		if text != "Hello world" || failed != "" || up.Last().Header.Get("X-Goog-Api-Key") != d.AIKey {
			t.Error("the AI request does not use the stored key")
		}
	}
	for _, m := range d.Markets {
		m.opens(t, addr)
	}
	return streams
}

// replayed returns the events that a facilitator receives in a replay of the stored stream from
// its beginning.
func (c *class) replayed() replay {
	c.t.Helper()
	live := c.admin.connect(c.id, "?since=0")
	head := live.welcome.number("head")
	// An ack is sent only after all frames up to its position.
	live.acked(record{"type": "dm", "target_id": codelab.FacilitatorID, "message": "opened"}, "opened")
	out := replay{Epoch: live.welcome.text("epoch")}
	for _, m := range live.stored() {
		if m.seq() <= head {
			out.Frames = append(out.Frames, fmt.Sprint(m.seq(), " ", m.kind()))
		}
	}
	_ = live.conn.Close()
	return out
}

// serves verifies the files that people submitted.
func (c *class) serves(held *holding) {
	c.t.Helper()
	for _, x := range held.codelabs[c.id].Submissions {
		if len(x.Sum) == 0 {
			continue
		}
		got := c.admin.get(c.path + "/attendees/" + x.AttendeeId + "/submissions/" + x.Id + "/file").want(200)
		if hashOf(got.body) != fmt.Sprintf("%x", x.Sum) {
			c.t.Errorf("the content of the submission %s differs", x.FileName)
		}
	}
}

// servesCode verifies each file of the workspace. It also clones a repository.
func (c *class) servesCode(t *testing.T, held *holding) {
	w := held.codelabs[c.id].Workspace
	if w == nil {
		return
	}
	kind := map[string]string{codelab.BranchWorkspace: "branches", codelab.FolderWorkspace: "folders"}[w.StructureType]
	var heads []string
	for _, h := range w.Heads {
		at := c.code() + "/" + kind + "/" + h.Name
		want := held.code[c.id][h.Name]
		if got := c.admin.get(at + "/files").texts(); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			t.Errorf("workspace %s lists %q", h.Name, got)
		}
		for path, sum := range want {
			if got := c.admin.get(at + "/file?file=" + url.QueryEscape(path)).want(200); hashOf(got.body) != sum {
				t.Errorf("the content of %s in %s differs", path, h.Name)
			}
		}
		heads = append(heads, h.Tree+" "+h.Name)
	}
	if kind != "branches" {
		return
	}
	t.Run("clone", func(t *testing.T) {
		clone := filepath.Join(t.TempDir(), "clone")
		runGit(t, t.TempDir(), "clone", "-q", "--bare", untar(t, c.admin.get(c.code()+"/download").want(200).body), clone)
		runGit(t, clone, "fsck", "--strict")
		if got := runGit(t, clone, "for-each-ref", "--format=%(objectname) %(refname:short)"); got != strings.Join(heads, "\n") {
			t.Errorf("the heads of the clone are\n%s\nwant\n%s", got, strings.Join(heads, "\n"))
		}
		if got := runGit(t, clone, "rev-parse", "HEAD"); got != w.Heads[0].Tree {
			t.Errorf("the HEAD of the clone is %s", got)
		}
	})
}

// comesBack rejoins with name and code, and with the session of the earlier browser.
func (p keptPerson) comesBack(t *testing.T, addr string) {
	t.Helper()
	path := "/codelabs/" + p.Codelab
	// The code is hashed with a key of the folder.
	if got := open(t, addr).post(path+"/register", record{"name": p.Name, "code": p.Code}).object(); got.text("id") != p.ID {
		t.Errorf("%s rejoins as another attendee", p.Name)
	}
	if p.Session == "" {
		return
	}
	b := open(t, addr)
	b.setCookie(auth.SessionCookie, p.Session)
	if got := b.get("/session?codelab_id=" + p.Codelab).object(); got.text("sub") != p.ID {
		t.Errorf("the session of %s is %v", p.Name, got)
	}
	b.get(path + "/help").want(200)
}

// member returns a participant that calls the handler with a kept key.
func (k keptMember) member(t *testing.T, addr, path string) *member {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &member{
		t: t, base: "http://" + addr + path, http: &http.Client{Transport: transport, Timeout: 2 * testTimeout},
		id: k.ID, identity: k.Identity, secret: k.Secret, bearer: k.Secret,
	}
}

// opens uses the stored tokens. A session token is valid for the lifetime of the folder. The
// other tokens have expired, unless the folder is new.
func (k keptMarket) opens(t *testing.T, addr string) {
	t.Helper()
	business, platform := k.Business.member(t, addr, k.Path), k.Platform.member(t, addr, k.Path)
	card, err := json.Marshal(visa())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range k.Tokens {
		want := maps.Clone(x.Seen)
		ends := endOf(t, x.Seen)
		if time.Now().After(ends) && want.text("state") == "active" {
			want["state"] = "expired"
		}
		what := fmt.Sprint(k.Path, ", checkout ", x.Checkout)
		if x.Key != "" && want.text("state") == "active" { // a token that has ended frees its key
			again := record{"credential": visa(), "binding": record{"checkout_id": x.Checkout, "identity": record{"access_token": k.Business.Identity}}}
			if platform.post("/tokenize", again, header("Idempotency-Key", x.Key)).object().text("token") != x.Token {
				t.Errorf("%s: the repeated request with the same key returned another token", what)
			}
			// The session continues: its next token expires when the session does.
			next := platform.post("/tokenize", again).object().text("token")
			if e := endOf(t, business.post("/introspect", use(next, x.Checkout)).object()); e.Sub(ends).Abs() > time.Second {
				t.Errorf("%s: the next token expires at %s, want %s", what, e, ends)
			}
		}
		for _, d := range differences(what, want, business.post("/introspect", use(x.Token, x.Checkout)).object()) {
			t.Error(d)
		}
		// The error omits the response, which can contain a credential.
		codes := map[string]string{"redeemed": "token_used", "expired": "token_expired", "revoked": "token_revoked", "locked": "token_revoked"}
		switch got, code := business.post("/detokenize", use(x.Token, x.Checkout)), codes[want.text("state")]; {
		case code == "" && (got.status != 200 || !sameJSON(got.body, card)):
			t.Errorf("%s: detokenize returned %d, or another credential", what, got.status)
		case code != "" && (got.status != 410 || got.code(410) != code):
			t.Errorf("%s: status %d, want 410 with %s", what, got.status, code)
		}
	}
}

// endOf returns the time at which a token ends, according to its introspection.
func endOf(t *testing.T, seen record) time.Time {
	t.Helper()
	ends, err := time.Parse(time.RFC3339, seen.text("expires_at"))
	if err != nil {
		t.Fatal(err)
	}
	return ends
}
