package acceptance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/service"
	"atelier/transport/auth"
)

// internal requests a path from the internal listener. The status is 0 if it does not respond.
func internal(addr, path string) (status int, body string) {
	client := &http.Client{Timeout: testTimeout, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get("http://" + addr + path)
	if err != nil {
		return 0, ""
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(b)
}

func TestAStoppingServerSendsClientsADelayForReconnecting(t *testing.T) {
	t.Parallel()
	s := startUntilStopped(t, testConfig(t))
	c := newClassOn(t, s.Addr(), record{})
	lin := c.attendee("Lin")
	live := lin.connect(c.id, "")
	silent, _ := lin.dial("/ws/" + c.id) // this client reads nothing, so shutdown takes a moment
	events, _ := lin.follow(c.id, "")
	if status, _ := internal(s.InternalAddr(), "/readyz"); status != 200 {
		t.Errorf("before the shutdown, readyz returned %d, want 200", status)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- s.Stop() }()
	deadline := time.Now().Add(testTimeout)
	for {
		if status, _ := internal(s.InternalAddr(), "/readyz"); status == 503 {
			break
		} else if status == 0 || time.Now().After(deadline) {
			t.Fatalf("readyz returned %d, want 503", status)
		}
	}
	if status, _ := internal(s.InternalAddr(), "/livez"); status != 200 {
		t.Errorf("during the shutdown, livez returned %d, want 200", status)
	}
	events.next("reconnect")
	live.next("reconnect")
	if code := live.closed(); code != 1012 {
		t.Errorf("closed with %d, want 1012", code)
	}
	_ = silent.conn.Close()
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
}

func TestARestartKeepsEverything(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	s := startUntilStopped(t, cfg)
	c := newClassOn(t, s.Addr(), record{"guide_markdown": "G", "quiz_enabled": true})
	lin, max := c.join(open(t, c.addr), record{"name": "Lin", "code": "4711", "email": "lin@example.org"}), c.attendee("Max")
	token := c.admin.post("/admin/tokens", record{"name": "t"}).object().text("token")
	live := lin.connect(c.id, "")
	start := live.welcome
	for i := range 5 {
		live.acked(record{"type": "chat", "message": fmt.Sprint("m", i)}, fmt.Sprint("r", i))
	}
	ack := live.acked(record{"type": "dm", "target_id": max.id, "message": "psst"}, "d")
	live.acked(record{"type": "step_progress", "step_number": 3}, "p")
	lin.post(c.path+"/help", record{"step_number": 2}).want(200)
	lin.post(c.path+"/feedback", record{"difficulty": "1", "satisfaction": "2", "comment": "c"}).want(200)
	lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "x")).want(200)
	quiz := c.quizzes(choice("q", 1))[0].text("id")
	lin.post(c.path+"/quizzes/submit", record{"submissions": []record{{"quiz_id": quiz, "answer": "1"}}}).want(200)
	lin.post(c.path+"/complete", nil).want(200)
	live.next("attendee_completed")
	_ = live.conn.Close()
	before := c.everything()

	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	s = startServer(t, cfg)
	c.addr = s.Addr()
	for _, b := range []*browser{c.admin, lin.browser, max.browser} {
		b.base = "http://" + c.addr
	}
	if after := c.everything(); !slices.Equal(after, before) {
		t.Errorf("after the restart, the codelab is\n%s\nbefore it\n%s", after, before)
	}
	robot := open(t, c.addr)
	robot.token = token
	robot.get("/admin/participants").want(200)

	again := lin.connect(c.id, resume(start.text("epoch"), start.seq()))
	if again.welcome.text("epoch") != start.text("epoch") {
		t.Error("the epoch of the stream changed")
	}
	again.next("attendee_completed")
	var received, replayed []int
	for _, m := range live.stored() {
		received = append(received, m.seq())
	}
	for _, m := range again.stored() {
		if m.kind() != "dm" && m.kind() != "step_progress" { // not echoed to the session that sent them
			replayed = append(replayed, m.seq())
		}
	}
	if !slices.Equal(received, replayed) {
		t.Errorf("received %v live, replayed %v", received, replayed)
	}
	if m := again.acked(record{"type": "dm", "target_id": max.id, "message": "psst"}, "d"); m.seq() != ack.seq() {
		t.Errorf("the repeated ref is acknowledged at %d, want %d", m.seq(), ack.seq())
	}
	open(t, c.addr).post(c.path+"/register", record{"name": "Lin", "code": "4711"}).want(200)
	if m := again.acked(record{"type": "chat", "message": "new"}, "n"); m.seq() <= again.welcome.number("head") {
		t.Errorf("position %d is followed by %d", again.welcome.number("head"), m.seq())
	}
}

// everything returns all that a facilitator can read of the codelab, except who is connected.
func (c *class) everything() []string {
	c.t.Helper()
	var out []string
	for _, path := range []string{"", "/chat", "/inline-comments", "/attendees", "/help", "/feedback", "/polls", "/questions", "/quizzes", "/quizzes/submissions", "/materials", "/submissions"} {
		a := c.admin.get(c.path + path).want(200)
		out = append(out, a.header.Get("X-Codelab-Seq")+" "+string(withoutNow(a.body)))
	}
	for _, path := range []string{"/materials", "/submissions"} {
		for _, r := range c.admin.get(c.path + path).list() {
			if file := r.text("file_path"); file != "" {
				a := c.admin.get(file).want(200)
				out = append(out, a.header.Get("Content-Type")+a.header.Get("Content-Disposition")+a.header.Get("ETag")+string(a.body))
			}
		}
	}
	list := regexp.MustCompile(`"online":\d+`).ReplaceAll(c.admin.get("/codelabs").body, nil)
	return append(out, string(c.admin.get("/admin/audit-logs?codelab_id="+c.id).body), string(list))
}

func TestDenialsAreCountedInTheAuditTrail(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	s := startUntilStopped(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	lin, stranger := c.attendee("Lin"), open(t, c.addr)
	// In another codelab, the same browser belongs to another attendee.
	other := newClassOn(t, s.Addr(), record{})
	elsewhere := other.join(lin.browser, record{"name": "Lin"})
	for range 7 {
		lin.get(other.path + "/feedback").refused(403)
		lin.get(c.path + "/feedback").refused(403)
		stranger.get(c.path + "/chat").refused(401)
		lin.get(c.path + "/submissions/download").refused(403)
	}
	if err := s.Stop(); err != nil { // shutdown writes the counts
		t.Fatal(err)
	}
	c.admin.base = "http://" + startServer(t, cfg).Addr()
	sums := map[string]int{} // the counts are also written at the end of each minute
	for _, lab := range []string{c.id, other.id} {
		for _, r := range c.admin.get("/admin/audit-logs?action=access_denied&codelab_id=" + lab).list() {
			m := r["metadata"].(map[string]any)
			n, _ := strconv.Atoi(fmt.Sprint(m["count"]))
			sums[fmt.Sprint(lab, r["actor_type"], r["actor_id"], m["status"])] += n
		}
	}
	want := map[string]int{c.id + "attendee" + lin.id + "403": 14, c.id + "anonymous<nil>401": 7, other.id + "attendee" + elsewhere.id + "403": 7}
	if fmt.Sprint(sums) != fmt.Sprint(want) {
		t.Errorf("the counts are %v, want %v", sums, want)
	}
}

func TestTheFirstStartCreatesItsSecrets(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Admin.Password = ""
	secrets := filepath.Join(cfg.Server.Data, "secrets")
	var cookie string
	for life := range 2 {
		s := startUntilStopped(t, cfg)
		for _, name := range []string{"admin.password", "session.key", "pin.key", "settings.key"} {
			if info, err := os.Stat(filepath.Join(secrets, name)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the file of the secret %s is %v, %v, want mode 0600", name, info, err)
			}
		}
		password, err := os.ReadFile(filepath.Join(secrets, "admin.password"))
		if err != nil {
			t.Fatal(err)
		}
		b := open(t, s.Addr())
		b.post("/login", record{"admin_id": adminID, "admin_pw": strings.TrimSpace(string(password))}).want(200)
		if life == 0 {
			cookie = b.cookie(auth.SessionCookie)
		} else {
			b.setCookie(auth.SessionCookie, cookie) // signed with the same key
			b.get("/session").want(200)
		}
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAcknowledgedWritesSurviveAShutdownUnderLoad(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.MessagesPerSecond = 0
	s := startUntilStopped(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	type writer struct {
		live  *socket
		acked []string
	}
	writers := make([]*writer, 6)
	for i := range writers {
		writers[i] = &writer{live: c.attendee(fmt.Sprint("W", i)).connect(c.id, "")}
	}
	var all sync.WaitGroup
	warm := make(chan struct{}, len(writers))
	for i, w := range writers {
		all.Go(func() {
			warmed := sync.OnceFunc(func() { warm <- struct{}{} })
			defer warmed() // if the test fails
			for n := 0; ; n++ {
				if n == 20 {
					warmed()
				}
				text := fmt.Sprint(i, "-", n)
				if w.live.conn.WriteJSON(record{"type": "chat", "message": text, "ref": text}) != nil || !confirmed(w.live, text) {
					return
				}
				w.acked = append(w.acked, text)
			}
		})
	}
	for range writers {
		<-warm
	}
	if err := s.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	all.Wait()
	c.admin.base = "http://" + startServer(t, cfg).Addr()
	live := c.admin.connect(c.id, "?since=0")
	stored := map[string]bool{}
	live.until("the head", func(m message) bool {
		stored[m.text("message")] = true
		return m["ts"] != nil && m.seq() == live.welcome.number("head")
	})
	for _, w := range writers {
		for _, text := range w.acked {
			if !stored[text] {
				t.Errorf("%s was acknowledged, but is lost", text)
			}
		}
	}
}

// The key of rejoin codes must not be in a backup. With the key, somebody could try all codes of
// four digits on the backup.
func TestTheKeyOfRejoinCodesIsNeitherInTheStoreNorInABackup(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	path := filepath.Join(cfg.Server.Data, "secrets", "pin.key")
	s := startUntilStopped(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	lin := c.join(open(t, c.addr), record{"name": "Lin", "code": "4711"})
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	key, _, _ = bytes.Cut(key, []byte("\n")) // the rest is its checksum
	comesBack := func(cfg config.Config, status int) *class {
		t.Helper()
		addr := startServer(t, cfg).Addr()
		open(t, addr).post(c.path+"/register", record{"name": "Lin", "code": "4711"}).want(status)
		return &class{t: t, addr: addr, admin: facilitator(t, addr, ""), id: c.id, path: c.path}
	}

	comesBack(cfg, 200)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key file is %v %v", info, err)
	}
	saved := backup(t, cfg.Server.Data)
	if bytes.Contains(saved, key) {
		t.Error("a backup contains the key")
	}
	err = filepath.WalkDir(service.StoreDir(cfg), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, key) {
			t.Errorf("%s contains the key", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}

	with, without := testConfig(t), testConfig(t)
	restore(t, with, saved)
	restore(t, without, saved)
	secrets := filepath.Join(with.Server.Data, "secrets")
	if err := errors.Join(os.MkdirAll(secrets, 0o700), os.WriteFile(filepath.Join(secrets, "pin.key"), key, 0o600)); err != nil {
		t.Fatal(err)
	}
	comesBack(with, 200)
	reset := comesBack(without, 409)
	// For any code, right or wrong, the response explains why the server cannot accept codes.
	for _, code := range []string{"4711", "no"} {
		open(t, reset.addr).post(c.path+"/register", record{"name": "Lin", "code": code}).refused(409, "void")
	}
	codes := reset.resetPins()
	if len(codes) != 1 || codes[0].text("name") != "Lin" || codes[0].text("attendee_id") != lin.id {
		t.Fatalf("the codes are %v", codes)
	}
	open(t, reset.addr).post(c.path+"/register", record{"name": "Lin", "code": codes[0].text("code")}).want(200)
	open(t, reset.addr).post(c.path+"/register", record{"name": "Lin", "code": "4711"}).refused(409, "taken")
	reset.admin.post(c.path+"/attendees/"+lin.id+"/reset-pin", record{"code": "4712"}).want(200)
	open(t, reset.addr).post(c.path+"/register", record{"name": "Lin", "code": "4712"}).want(200)
}
