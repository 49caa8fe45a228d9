package acceptance

import (
	"testing"

	"atelier/transport/control"
)

// A user with access to the data folder is an admin at its socket, without a login and without
// limits. At the public address, the same user is anonymous.
func TestTheLocalSocketGivesAdminAccess(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.WritesPerMinute = 5
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	client, err := control.Dial(cfg.Server.Data)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for n := range 20 {
		var made struct{ ID string }
		if err := client.Call("POST", "/api/admin/participants", record{"name": "Shop", "kind": "business", "scopes": []string{"detokenize"}}, &made); err != nil || made.ID == "" {
			t.Fatalf("adding participant %d returned %v", n, err)
		}
	}
	open(t, c.addr).get("/admin/participants").refused(401)
	// The audit trail records each action as an action of an admin, without an address.
	rows := c.admin.get("/admin/audit-logs?action=participant_add&limit=1").list()
	if len(rows) != 1 || rows[0].text("actor_type") != "admin" || rows[0].text("ip") != "" {
		t.Errorf("the audit trail has %v", rows)
	}
}
