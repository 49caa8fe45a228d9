package acceptance

import (
	"fmt"
	"slices"
	"testing"
)

// class is a codelab with its facilitator. Most tests use a class.
type class struct {
	t     testing.TB
	addr  string
	admin *browser
	id    string
	path  string   // of the codelab, below /api
	steps []string // ids of its three steps
}

// person is an attendee with a browser.
type person struct {
	*browser
	id, name string
}

// newClass creates a public codelab on the common server.
func newClass(t testing.TB) *class {
	t.Helper()
	return newClassOn(t, common.get(t).Addr(), record{})
}

// newClassOn creates a codelab with the given settings on the given server.
func newClassOn(t testing.TB, addr string, settings record) *class {
	t.Helper()
	c := &class{t: t, addr: addr, admin: facilitator(t, addr, "")}
	if settings["title"] == nil {
		settings["title"] = "Codelab of " + t.Name()
	}
	c.id = c.admin.post("/codelabs", settings).object().text("id")
	c.path = "/codelabs/" + c.id
	c.setSteps("one", "two", "three")
	return c
}

// setSteps replaces the steps. The content of each new step is its title.
func (c *class) setSteps(titles ...string) {
	c.t.Helper()
	var steps []record
	for _, title := range titles {
		steps = append(steps, record{"title": title, "content_markdown": "About " + title})
	}
	c.admin.put(c.path+"/steps", record{"steps": steps}).want(200)
	c.steps = texts(c.readSteps(), "id")
}

func (c *class) readSteps() []record {
	c.t.Helper()
	var both []any
	c.admin.get(c.path).into(&both)
	var out []record
	for _, s := range both[1].([]any) {
		out = append(out, record(s.(map[string]any)))
	}
	return out
}

// meta returns the codelab's record as the admin sees it.
func (c *class) meta() record {
	c.t.Helper()
	var both []any
	c.admin.get(c.path).into(&both)
	return record(both[0].(map[string]any))
}

// facilitator returns a browser that has logged in.
func facilitator(t testing.TB, addr, displayName string) *browser {
	t.Helper()
	b := open(t, addr)
	b.login(displayName)
	return b
}

func (b *browser) login(displayName string) {
	b.t.Helper()
	b.post("/login", record{"admin_id": adminID, "admin_pw": adminPW, "display_name": displayName}).want(200)
}

// attendee registers an attendee in a new browser.
func (c *class) attendee(name string) *person {
	c.t.Helper()
	return c.join(open(c.t, c.addr), record{"name": name})
}

// join registers an attendee in an existing browser.
func (c *class) join(b *browser, who record) *person {
	c.t.Helper()
	got := b.post(c.path+"/register", who).object()
	return &person{b, got.text("id"), got.text("name")}
}

// anchor returns the body of a comment that is attached to a range of a step's text.
func (c *class) anchor(step string, start, end int, text string) record {
	return record{
		"anchor_key": fmt.Sprintf("step|%s|abc123|%d|%d", step, start, end), "target_type": "step", "target_step_id": step,
		"start_offset": start, "end_offset": end, "selected_text": "some text", "content_hash": "abc123", "message": text,
	}
}

// audited returns the actions of the codelab's audit records, newest first. It omits the sums of
// refusals, because the server writes them at the end of each minute.
func (c *class) audited() []string {
	c.t.Helper()
	actions := texts(c.admin.get("/admin/audit-logs?limit=1000&codelab_id="+c.id).list(), "action")
	return slices.DeleteFunc(actions, func(action string) bool { return action == "access_denied" })
}

// newest returns the codelab's newest audit record of an action.
func (c *class) newest(action string) record {
	c.t.Helper()
	rows := c.admin.get("/admin/audit-logs?limit=1&action=" + action + "&codelab_id=" + c.id).list()
	if len(rows) == 0 {
		c.t.Fatalf("%s is not audited", action)
	}
	return rows[0]
}
