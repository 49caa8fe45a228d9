package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fasthttp/websocket"
)

var now = time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC)

// site is a healthy server. Each test changes one part of it.
func site(change func(*http.ServeMux)) *httptest.Server {
	m := http.NewServeMux()
	m.HandleFunc("GET /api/app", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"version":"v1"}`)) })
	m.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`<script src="/assets/index-1.js"></script>`))
	})
	m.HandleFunc("GET /assets/index-1.js", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") == "" {
			_, _ = w.Write(make([]byte, largestPage))
		}
	})
	m.HandleFunc("POST /api/login", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "http://"+r.Host {
			http.Error(w, `{"error":"this origin may not"}`, http.StatusForbidden)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "svc_csrf", Value: "t", Path: "/"})
	})
	m.HandleFunc("POST /api/logout", func(http.ResponseWriter, *http.Request) {})
	m.HandleFunc("GET /api/codelabs", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`[{"id":"lab"}]`)) })
	m.HandleFunc("GET /api/ws/lab", func(w http.ResponseWriter, r *http.Request) {
		c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err == nil {
			_ = c.WriteMessage(websocket.TextMessage, []byte("welcome"))
		}
	})
	if change != nil {
		over := http.NewServeMux()
		change(over)
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, pattern := over.Handler(r); pattern != "" {
				over.ServeHTTP(w, r)
				return
			}
			m.ServeHTTP(w, r)
		}))
	}
	return httptest.NewServer(m)
}

// examine returns the findings by name.
func examine(t *testing.T, o Options) map[string]Finding {
	t.Helper()
	if o.Data == "" {
		o.Data = t.TempDir()
	}
	o.People, o.BackupAge, o.Now = max(o.People, 1), 26*time.Hour, func() time.Time { return now }
	found := map[string]Finding{}
	for _, f := range Examine(context.Background(), o) {
		if !f.OK && (f.Text == "" || f.Remedy == "") {
			t.Errorf("%s has no text or remedy: %+v", f.Name, f)
		}
		found[f.Name] = f
	}
	return found
}

func TestEachProblemBetweenBrowserAndServerFailsItsCheck(t *testing.T) {
	status := func(pattern string, code int, body string) func(*http.ServeMux) {
		return func(m *http.ServeMux) {
			m.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "https://elsewhere.test/")
				w.WriteHeader(code)
				_, _ = w.Write([]byte(body))
			})
		}
	}
	for _, c := range []struct {
		what       string
		change     func(*http.ServeMux)
		name, text string // the failed check and its text, or "" if no check fails
	}{
		{"no problem", nil, "", ""},
		{"a redirect", status("GET /api/app", 301, ""), "address", "redirects to https://elsewhere.test/"},
		{"another server", status("GET /api/app", 200, "{}"), "address", "another server"},
		{"no app", status("GET /{$}", 200, "plain"), "app", "without the browser app"},
		{"assets elsewhere", status("GET /assets/", 404, ""), "app", "answers 404"},
		{"no compression", status("GET /assets/", 200, strings.Repeat("x", largestPage)), "app", "undoes the compression"},
		{"wrong origin", status("POST /api/login", 403, `{"error":"origin"}`), "login", "nobody can log in: origin"},
		{"unreadable codelabs", status("GET /api/codelabs", 500, `{"error":"internal"}`), "socket", "cannot be read: 500 internal"},
		{"wrong password", status("POST /api/login", 401, `{"error":"wrong"}`), "login", "401 wrong"},
		{"no cookies", status("POST /api/login", 200, `{}`), "login", "do not arrive"},
		{"no upgrade", status("GET /api/ws/lab", 400, ""), "socket", "no socket opens (400)"},
		{"another host", status("GET /api/ws/lab", 403, ""), "socket", "no socket opens (403)"},
		{"a full proxy", func(m *http.ServeMux) {
			var open atomic.Int32
			m.HandleFunc("GET /api/ws/lab", func(w http.ResponseWriter, r *http.Request) {
				if open.Add(1) > 60 {
					http.Error(w, "full", http.StatusServiceUnavailable)
				} else if c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil); err == nil {
					_ = c.WriteMessage(websocket.TextMessage, []byte("welcome"))
				}
			})
		}, "room", "59 of 70 simultaneous"},
		{"no message arrives", func(m *http.ServeMux) {
			m.HandleFunc("GET /api/ws/lab", func(w http.ResponseWriter, r *http.Request) {
				if c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil); err == nil {
					_ = c.Close()
				}
			})
		}, "socket", "no message arrives"},
	} {
		s := site(c.change)
		found := examine(t, Options{Address: s.URL, Admin: "admin", Password: "p", People: 70, SocketsPerLogin: 20})
		s.Close()
		for _, name := range []string{"address", "app", "login", "socket", "room"} {
			f := found[name]
			if c.what == "another host" && name == c.name && !strings.Contains(f.Remedy, "public_url") {
				t.Errorf("%s: the finding is %+v", c.what, f)
			}
			if f.OK != (name != c.name) || name == c.name && !strings.Contains(f.Text, c.text) {
				t.Errorf("%s: the finding %s is %+v", c.what, name, f)
			}
		}
	}
}

// In an earlier version, a codelab that nobody could join was reported as large enough.
func TestSkippedChecksAreNotOK(t *testing.T) {
	var b strings.Builder
	all := []Finding{fine("all is well"), untried("import a codelab", "there is none"), bad("do it", "it is missing")}
	if err := Write(&b, all); err != nil {
		t.Fatal(err)
	}
	for i, line := range []string{"ok  ", "skip", "      ", "FAIL"} {
		if got := strings.Split(b.String(), "\n")[i]; !strings.HasPrefix(got, line) {
			t.Errorf("line %d is %q", i, got)
		}
	}
	if !strings.Contains(b.String(), "→ import a codelab") {
		t.Errorf("the output contains no remedy: %s", b.String())
	}
}

func TestAnUnreachableServerIsReported(t *testing.T) {
	s := site(nil)
	s.Close()
	if f := examine(t, Options{Address: s.URL, Password: "p"}); f["address"].OK || !strings.HasPrefix(f["socket"].Text, "not tried") {
		t.Errorf("the findings for an unreachable server are %+v", f)
	}
	if f := examine(t, Options{}); f["address"].OK || !strings.Contains(f["address"].Remedy, "public_url") {
		t.Errorf("without an address, the finding is %+v", f["address"])
	}
	s = site(nil)
	defer s.Close()
	if f := examine(t, Options{Address: s.URL, Open: true}); f["address"].OK || !strings.Contains(f["address"].Text, "not https") {
		t.Errorf("for a public server without https, the finding is %+v", f["address"])
	}
}

func TestAnExpiringCertificateIsReported(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for days, ok := range map[int]bool{-1: false, 13: false, 15: true} {
		cert := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: now.Add(time.Duration(days) * 24 * time.Hour)}
		der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "cert.pem")
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		if f := examine(t, Options{TLSCert: path})["certificate"]; f.OK != ok {
			t.Errorf("with %d days left, the finding is %+v", days, f)
		}
	}
	if f := examine(t, Options{TLSCert: "none.pem"})["certificate"]; f.OK {
		t.Errorf("for a missing file, the finding is %+v", f)
	}
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	if f := examine(t, Options{Address: s.URL})["certificate"]; f.OK {
		t.Errorf("for a certificate of an unknown authority, the finding is %+v", f)
	}
}

func TestAMissingOldOrDamagedBackupIsReported(t *testing.T) {
	data := t.TempDir()
	file := filepath.Join(data, "b.atelier")
	check := func() Finding { return examine(t, Options{Data: data})["backup"] }
	if f := check(); f.OK || !strings.Contains(f.Text, "no backup") {
		t.Errorf("without a backup, the finding is %+v", f)
	}
	note := func(age time.Duration, size int64) {
		if err := Note(data, Backup{At: now.Add(-age), File: file, Bytes: size}); err != nil {
			t.Fatal(err)
		}
	}
	note(27*time.Hour, 3)
	if f := check(); f.OK || !strings.Contains(f.Text, "27 h old") {
		t.Errorf("for an old backup, the finding is %+v", f)
	}
	note(time.Hour, 3)
	if f := check(); !f.OK || !strings.Contains(f.Text, "no longer at") {
		t.Errorf("for a moved backup, the finding is %+v", f)
	}
	if err := os.WriteFile(file, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := check(); !f.OK || !strings.Contains(f.Text, "1 h ago") {
		t.Errorf("for a recent backup, the finding is %+v", f)
	}
	note(time.Hour, 4)
	if f := check(); f.OK {
		t.Errorf("for a truncated backup, the finding is %+v", f)
	}
	if err := os.WriteFile(filepath.Join(data, lastBackup), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := check(); f.OK {
		t.Errorf("for a damaged record of the backup, the finding is %+v", f)
	}
}

func TestMissingDiskSpaceAndDescriptorsAreReported(t *testing.T) {
	data := t.TempDir()
	found := examine(t, Options{Data: data})
	if !found["space"].OK || !strings.Contains(found["disk"].Text, "a write is on the disk after") {
		t.Errorf("on this machine, the findings are %+v", found)
	}
	if left, err := os.ReadDir(data); err != nil || len(left) > 0 {
		t.Errorf("the check left the files %v, %v", left, err)
	}
	if f := examine(t, Options{Data: data, MinFree: 1 << 60})["space"]; f.OK {
		t.Errorf("for a full disk, the finding is %+v", f)
	}
	if f := examine(t, Options{Data: data, People: 1 << 30})["descriptors"]; f.OK || !strings.Contains(f.Remedy, "LimitNOFILE") {
		t.Errorf("for 2^30 people, the finding is %+v", f)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("# HELP process_max_fds x\nprocess_max_fds 1024\n"))
	}))
	defer s.Close()
	if f := examine(t, Options{Data: data, Metrics: strings.TrimPrefix(s.URL, "http://"), People: 300})["descriptors"]; f.OK || !strings.Contains(f.Text, "the running server can open 1024") {
		t.Errorf("with the metrics of the running server, the finding is %+v", f)
	}
	if f := examine(t, Options{Data: filepath.Join(data, "none")}); f["disk"].OK || f["space"].OK {
		t.Errorf("for a missing folder, the findings are %+v", f)
	}
}

func TestFindingsAreWrittenAsLines(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, []Finding{{Name: "disk", OK: true, Text: "fine"}, {Name: "clock", Text: "wrong", Remedy: "set it"}}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != "ok    disk         fine\nFAIL  clock        wrong\n                   → set it\n" {
		t.Errorf("the output is %q", got)
	}
}
