package acceptance

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"atelier/cmd/atelier/doctor"
	"atelier/cmd/atelier/service"
	"atelier/persistence/postgres/postgrestest"
	"atelier/transport/control"
)

// part returns one part of the health response. On a busy machine, a check can take longer than the
// response waits. part then repeats the request.
func part(t *testing.T, b *browser, name string) (p record) {
	t.Helper()
	eventual(t, "the part "+name+" of the health response", func() bool {
		object, ok := b.get("/admin/health").want(200).object()[name].(map[string]any)
		if !ok {
			t.Fatalf("health has no part %s", name)
		}
		p = object
		return !strings.Contains(p.text("text"), "does not respond")
	})
	return p
}

func TestTheOwnerSeesTheStateOfTheServer(t *testing.T) {
	t.Parallel()
	onOneServer(t)
	cfg := testConfig(t)
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	lin := c.join(open(t, c.addr), record{"name": "Lin"})
	live := lin.connect(c.id, "")
	live.acked(record{"type": "chat", "message": "hello"}, "c")

	all := c.admin.get("/admin/health").want(200).object()
	people, commit := record(all["people"].(map[string]any)), record(all["commit"].(map[string]any))
	if people.number("here") != 1 || people.number("all") != 1 || people.number("sockets") != 1 || people["ok"] != true {
		t.Errorf("with one person connected, people is %v", people)
	}
	middle, _ := commit["p50_ms"].(float64)
	if tail, _ := commit["p99_ms"].(float64); middle <= 0 || tail < middle || commit.number("p50_bound_ms") != 20 {
		t.Errorf("after a commit, commit is %v", commit)
	}
	var disk record
	eventual(t, "the size of the data folder", func() bool {
		disk = part(t, c.admin, "disk")
		return disk["data_bytes"] != nil
	})
	if free, total, data := disk.number("free_bytes"), disk.number("total_bytes"), disk.number("data_bytes"); free <= 0 || free > total || data <= 0 || data > total {
		t.Errorf("disk is %v", disk)
	}
	if all["certificate"] != nil || all["nodes"] != nil {
		t.Errorf("without TLS and other nodes, health is %v", all)
	}
	// Waiting times are measured for one in eight commands of an actor.
	for range 8 {
		c.admin.post(c.path+"/messages", record{"type": "chat", "message": "again"}).want(200)
	}
	if queue := part(t, c.admin, "queue"); queue["p50_ms"] == nil || queue.number("p99_bound_ms") != 250 {
		t.Errorf("after commands have waited, queue is %v", queue)
	}

	// The operator reads the same data through the socket. rights.txt lists the other roles with
	// access.
	client, err := control.Dial(cfg.Server.Data)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var health struct{ People record }
	if err := client.Call("GET", "/api/admin/health", nil, &health); err != nil || health.People.number("here") != 1 {
		t.Errorf("the operator's socket returned %v, %v", health, err)
	}
}

// The page with the server's health and atelier doctor describe the last backup with the same
// words.
func TestHealthAndDoctorJudgeBackupsAlike(t *testing.T) {
	t.Parallel()
	onOneServer(t)
	cfg := testConfig(t)
	data := cfg.Server.Data
	for _, c := range []struct {
		what string
		made time.Duration // the age of the backup; 0 means that no backup exists
		ok   bool
	}{
		{"no backup", 0, false},
		{"a backup of five hours ago", 5 * time.Hour, true},
		{"a backup of 27 hours ago", 27 * time.Hour, false},
	} {
		if c.made > 0 {
			note, err := json.Marshal(doctor.Backup{At: time.Now().Add(-c.made), File: filepath.Join(data, "none"), Bytes: 9})
			if err == nil {
				err = os.WriteFile(filepath.Join(data, "backup.last"), note, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		func() {
			s := startUntilStopped(t, cfg) // a running server would return its cached result
			defer stop(t, s)
			b := part(t, facilitator(t, s.Addr(), ""), "backup")
			found := doctor.Examine(t.Context(), doctor.Options{Data: data, People: doctor.People, BackupAge: doctor.BackupAge, Now: time.Now})
			i := slices.IndexFunc(found, func(f doctor.Finding) bool { return f.Name == "backup" })
			if i < 0 {
				t.Fatal("the doctor does not check backups")
			}
			if b["ok"] != c.ok || b["ok"] != found[i].OK || b.text("text") != found[i].Text || b.text("remedy") != found[i].Remedy {
				t.Errorf("%s: health reports %v, but the doctor reports %+v", c.what, b, found[i])
			}
			if made := c.made > 0; (b["at"] != nil) != made || (b["age_seconds"] != nil) != made || made && b.number("age_seconds") < int(c.made.Seconds()) {
				t.Errorf("%s: the backup part is %v", c.what, b)
			}
		}()
	}
}

func stop(t *testing.T, s *service.Service) {
	t.Helper()
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

func TestHealthShowsWhenTheCertificateExpires(t *testing.T) {
	t.Parallel()
	onOneServer(t)
	cfg := testConfig(t)
	cert, key, roots := selfSigned(t, t.TempDir()) // valid for an hour
	cfg.Server.TLSCert, cfg.Server.TLSKey = cert, key
	admin := openWith(t, "https://"+startServer(t, cfg).Addr(), &tls.Config{RootCAs: roots})
	admin.login("")
	c := part(t, admin, "certificate")
	if c["ok"] != false || c.number("days_left") != 0 || c.text("not_after") == "" || !strings.Contains(c.text("remedy"), "renew") {
		t.Errorf("the certificate part is %v", c)
	}
}

// On one node, an owner reads the total number of people on all nodes and the state of each node.
func TestHealthCoversSeveralNodes(t *testing.T) {
	t.Parallel()
	cfgs := nodeConfigs(t, 2, postgrestest.Database(t), testConfig(t))
	nodes := startLasting(t, cfgs[:1])
	other := startUntilStopped(t, cfgs[1])
	leave := sync.OnceFunc(func() { stop(t, other) })
	t.Cleanup(leave)
	c := newClassOn(t, nodes[0].Addr(), record{})
	here, there := c.attendee("Here"), c.attendee("There")
	there.base = "http://" + other.Addr()
	here.connect(c.id, "")
	there.connect(c.id, "")
	eventual(t, "the number of people on both nodes", func() bool {
		people := part(t, c.admin, "people")
		return people.number("here") == 1 && people["all"] != nil && people.number("all") == 2
	})
	// both returns the verdict and the two nodes. While the database does not respond, it returns no
	// nodes.
	both := func() (verdict, first, second record) {
		verdict = part(t, c.admin, "nodes")
		if list, _ := verdict["list"].([]any); len(list) == 2 {
			first, second = list[0].(map[string]any), list[1].(map[string]any)
		}
		return verdict, first, second
	}
	// The state of the nodes is read separately from the connected people, and perhaps later.
	eventual(t, "both nodes without problems", func() bool {
		verdict, first, second := both()
		return verdict["ok"] == true && first["alive"] == true && second["alive"] == true
	})
	eventual(t, "the load of both nodes", func() bool {
		_, first, second := both()
		return first["state"] == "alive" && first["load"] != nil && second["load"] != nil
	})
	if b := part(t, c.admin, "backup"); b["ok"] != nil || b["at"] != nil {
		t.Errorf("although another node can make the backups, backup is %v", b)
	}
	// A node that was stopped properly does not count as dead.
	leave()
	eventual(t, "one node that has stopped", func() bool {
		verdict, _, second := both()
		return verdict["ok"] == true && second["stopped"] == true && second["state"] == "stopped" && second["alive"] == false
	})
	eventual(t, "the people of the remaining node", func() bool { return part(t, c.admin, "people").number("all") == 1 })
}

// A node whose database accepts no writes loses its lease, and reports the reason.
func TestHealthReportsAReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.Database(t)
	nodes := startShort(t, nodeConfigs(t, 1, dsn, testConfig(t)))
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		"do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$",
		"select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	eventual(t, "the reason", func() bool {
		res, err := http.Get("http://" + nodes[0].InternalAddr() + "/readyz")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return res.StatusCode == 503 && strings.Contains(string(text), "the database takes no writes") && strings.Contains(string(text), `"read_only":true`)
	})
	if _, err := conn.Exec(t.Context(), "set default_transaction_read_only = off"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "do $$ begin execute format('alter database %I reset default_transaction_read_only', current_database()); end $$"); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close(t.Context())
	eventual(t, "a node that is back", func() bool { return ready(nodes[0]) })
}
