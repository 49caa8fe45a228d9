package acceptance

import (
	"slices"
	"strings"
	"testing"
)

func TestAnAPITokenActsAsAnAdminWithoutCSRF(t *testing.T) {
	t.Parallel()
	onOneServer(t)
	c := newClass(t)
	made := c.admin.post("/admin/tokens", record{"name": "nightly"}).object()
	robot := open(t, c.addr)
	robot.token = made.text("token")
	robot.put(c.path, record{"author": "robot"}).want(200)
	if s := robot.get("/session").object(); s.text("role") != "admin" || s.number("exp") != 0 {
		t.Errorf("the session of a token is %v", s)
	}
	live := robot.connect(c.id, "")
	live.acked(record{"type": "chat", "message": "beep"}, "r")
	robot.post(c.path+"/complete", nil).refused(403)

	// The list contains the token without its secret.
	robot.get("/admin/tokens").refused(403)
	list := c.admin.get("/admin/tokens").want(200)
	if i := slices.Index(texts(list.list(), "id"), made.text("id")); i < 0 || strings.Contains(string(list.body), robot.token) {
		t.Errorf("the list is %s", list.body)
	}
	robot.delete("/admin/tokens/" + made.text("id")).refused(403)
	c.admin.delete("/admin/tokens/" + made.text("id")).want(204)
	robot.get("/session").refused(401)
	if code := live.closed(); code != 1008 {
		t.Errorf("the connection of a revoked token is closed with %d, want 1008", code)
	}
	c.admin.delete("/admin/tokens/" + made.text("id")).refused(404)
}

func TestAnUnknownTokenIsRefusedEvenWithAValidCookie(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.admin.get("/admin/tokens", header("Authorization", "Bearer atl_unknown")).refused(401)
	c.admin.get(c.path+"/chat", header("Authorization", "Bearer ")).refused(401)
}
