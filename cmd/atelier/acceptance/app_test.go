package acceptance

import (
	"reflect"
	"testing"

	"atelier/cmd/atelier/config"
	"atelier/transport/ai/upstream/upstreamtest"
)

func TestTheAppEndpointServesTheSettingsOfTheApp(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Server.Mode = "serverless"
	cfg.AI.BaseURL = upstreamtest.New(t).URL
	cfg.Live.IceServers = []config.IceServer{
		{URLs: []string{"stun:stun.example.org:3478"}},
		{URLs: []string{"turn:turn.example.org", "turns:turn.example.org"}, Username: "u", Credential: "c"},
	}
	cfg.Web.Embed = []string{"player.example.org"}
	addr := startServer(t, cfg).Addr()
	b, admin := open(t, addr), facilitator(t, addr, "")
	app := b.get("/app").object()
	if app.text("mode") != "serverless" || app["ai"] != false || len(app) != 8 || !reflect.DeepEqual(app["embed"], []any{"player.example.org"}) {
		t.Errorf("the app settings are %v", app)
	}
	want := []any{
		map[string]any{"urls": []any{"stun:stun.example.org:3478"}},
		map[string]any{"urls": []any{"turn:turn.example.org", "turns:turn.example.org"}, "username": "u", "credential": "c"},
	}
	if !reflect.DeepEqual(app["ice_servers"], want) {
		t.Errorf("the ICE servers are %v", app["ice_servers"])
	}
	for name, most := range map[string]int{
		"name": 80, "message": 2000, "step_content": 50_000, "image_bytes": 5 << 20, "material_bytes": 50 << 20,
		"submission_bytes": 10 << 20, "attendee_bytes": 50 << 20, "import_bytes": 256 << 20,
	} {
		if got := record(app["limits"].(map[string]any)).number(name); got != most {
			t.Errorf("limits.%s is %d, want %d", name, got, most)
		}
	}
	admin.post("/admin/settings", record{"ai_api_key": encryptedKey(t)}).want(200)
	if app := b.get("/app").object(); app["ai"] != true {
		t.Errorf("with an AI key, the app settings are %v", app)
	}
	// Without configured values, the lists are empty.
	if got := open(t, common.get(t).Addr()).get("/app").object(); !reflect.DeepEqual(got["ice_servers"], []any{}) || !reflect.DeepEqual(got["embed"], []any{}) {
		t.Errorf("without ICE servers, the app settings are %v", got)
	}
}
