package acceptance

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"atelier/transport/ai"
	"atelier/transport/messages"
	"atelier/transport/rest"
)

// rightsFile is the handwritten table of permissions, with a line per operation and a column per
// role. The test calls each operation in each role, so that only the permission matters for the
// result. It fails if an operation has no line.
const rightsFile = "testdata/rights.txt"

var showRights = flag.Bool("show-rights", false, "print the table of permissions that the server grants")

// rightsRoles contains the roles in the order of the columns. Roles with few rights come first,
// because calls of the last roles change data.
var rightsRoles = []string{
	"nobody", "attendee-elsewhere", "attendee", "assistant-elsewhere", "assistant", "helper", "token-import", "token-read", "token-all", "facilitator", "owner",
}

func TestEveryRoleHasTheRightsInTheTable(t *testing.T) {
	t.Parallel()
	onOneServer(t)
	documented := readRightsOf(t, rightsFile, 2)
	var ops []rest.Operation
	ops = append(ops, rest.Operations()...)
	ops = append(ops, (&messages.Gateway{}).Operations()...)
	ops = append(ops, (&ai.Service{}).Operations()...)
	// Operations that end attendees' sessions, or the codelab, come last.
	last := []string{"POST /codelabs/{id}/reset-pins", "DELETE /codelabs/{id}"}
	slices.SortStableFunc(ops, func(a, b rest.Operation) int {
		return slices.Index(last, a.Method+" "+a.Path) - slices.Index(last, b.Method+" "+b.Path)
	})
	w := newRightsWorld(t)
	for _, op := range ops {
		name := op.Method + " " + op.Path
		want, there := documented[name]
		if !there {
			t.Errorf("%s has no line in %s", name, rightsFile)
		}
		delete(documented, name)
		var got []string
		for i, role := range rightsRoles {
			may := "-"
			if w.may(role, op) {
				may = "yes"
			}
			got = append(got, may)
			if there && want[i] != may {
				t.Errorf("%s: %s has %q, but %q in the table", name, role, may, want[i])
			}
		}
		if *showRights {
			fmt.Printf("%-96s %s\n", name, strings.Join(got, " "))
		}
	}
	for name := range documented {
		t.Errorf("%s has a line, but is not an operation", name)
	}
}

// readRightsOf reads a table whose lines begin with a name of n words.
func readRightsOf(t *testing.T, file string, words int) map[string][]string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if len(f) != words+len(rightsRoles) {
			t.Fatalf("%s: %q has %d columns, want %d", file, line, len(f), words+len(rightsRoles))
		}
		out[strings.Join(f[:words], " ")] = f[words:]
	}
	return out
}

// rightsWorld contains a browser for each role, and their codelab.
type rightsWorld struct {
	c   *class
	who map[string]*browser
}

func newRightsWorld(t *testing.T) *rightsWorld {
	cfg := testConfig(t)
	cfg.Limits.WritesPerMinute, cfg.Limits.UploadsPerMinute, cfg.Limits.JoinsAtOnce = 0, 0, 10_000
	addr := startServer(t, cfg).Addr()
	c := newClassOn(t, addr, record{"is_public": false})
	other := newClassOn(t, addr, record{"is_public": false})
	join := func(c *class) *browser {
		return c.join(open(t, addr), record{"name": "Lin", "join_code": c.meta().text("join_code")}).browser
	}
	robot := func(scope string) *browser {
		b := open(t, addr)
		b.token = c.admin.post("/admin/tokens", record{"name": scope, "scope": scope}).want(200).object().text("token")
		return b
	}
	return &rightsWorld{c, map[string]*browser{
		"nobody": open(t, addr), "attendee": join(c), "attendee-elsewhere": join(other),
		"assistant": c.assistant("assistant-here").browser, "assistant-elsewhere": other.assistant("assistant-elsewhere").browser, "helper": c.helper().browser,
		"facilitator": c.facilitator("facilitator").browser, "owner": c.admin,
		"token-all": robot("all"), "token-read": robot("read"), "token-import": robot("import"),
	}}
}

// may calls an operation and reports whether it was allowed.
func (w *rightsWorld) may(role string, op rest.Operation) bool {
	at := strings.ReplaceAll(op.Path, "{id}", w.c.id)
	for strings.Contains(at, "{") {
		before, rest, _ := strings.Cut(at, "{")
		_, after, _ := strings.Cut(rest, "}")
		at = before + unknownID + after
	}
	if strings.HasSuffix(at, "/events") {
		at += "?since=none" // an invalid position, because the response would otherwise be a stream without an end
	}
	var body any
	if op.Method != "GET" {
		body = "[" // an invalid body, which no operation accepts
	}
	var opts []option
	if b := w.who[role]; op.Basic && b.token != "" {
		opts = append(opts, func(r *http.Request) { r.SetBasicAuth("x", b.token) })
	}
	status := w.who[role].send(op.Method, at, body, opts...).status
	return status != 401 && status != 403
}

// rightsMessagesFile is the same table for messages that clients send in a codelab's room.
const rightsMessagesFile = "testdata/rights-messages.txt"

// The test sends the document's first example of each message to a private codelab, in each role.
func TestRolesCanSendOnlyTheMessagesInTheTable(t *testing.T) {
	t.Parallel()
	onOneServer(t)
	documented := readRightsOf(t, rightsMessagesFile, 1)
	w := newRightsWorld(t)
	w.c.setSteps("one", "two", "three", "four")
	var doc struct {
		Operations struct {
			Say struct{ Messages []reference }
		}
		Components struct {
			Messages map[string]struct {
				Name     string
				Examples []struct{ Payload record }
			}
		}
	}
	if err := json.Unmarshal(w.c.admin.get("/asyncapi.json").want(200).body, &doc); err != nil {
		t.Fatal(err)
	}
	for _, m := range doc.Operations.Say.Messages {
		msg := doc.Components.Messages[path.Base(m.Ref)]
		want, there := documented[msg.Name]
		delete(documented, msg.Name)
		if !there || len(msg.Examples) == 0 {
			t.Errorf("%s has no line in %s, or no example", msg.Name, rightsMessagesFile)
			continue
		}
		for i, role := range rightsRoles {
			body := maps.Clone(msg.Examples[0].Payload)
			delete(body, "ref")
			if body["target_id"] != nil {
				body["target_id"] = "facilitator"
			}
			may, status := "-", w.who[role].send("POST", w.c.path+"/messages", body).status
			if status != 401 && status != 403 {
				may = "yes"
			}
			if want[i] != may {
				t.Errorf("%s: %s has %q (%d), but %q in the table", msg.Name, role, may, status, want[i])
			}
		}
	}
	for name := range documented {
		t.Errorf("%s has a line, but is not a message", name)
	}
}

// reference is a position in a document.
type reference struct {
	Ref string `json:"$ref"`
}
