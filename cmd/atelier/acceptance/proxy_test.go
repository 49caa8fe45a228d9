package acceptance

import (
	"net/http"
	"testing"
)

// loggedInFrom returns the address in the audit record of the newest login.
func loggedInFrom(t *testing.T, b *browser) string {
	t.Helper()
	return b.get("/admin/audit-logs?action=admin_login_success&limit=1").list()[0].text("ip")
}

func TestOnlyATrustedProxySetsTheClientAddress(t *testing.T) {
	t.Parallel()
	trusting := testConfig(t)
	trusting.Server.TrustedProxies = []string{"127.0.0.0/8", "10.0.0.0/8"}
	for name, s := range map[string]struct {
		addr string
		ips  map[string]string
	}{
		"no proxy is trusted": {startServer(t, testConfig(t)).Addr(), map[string]string{"192.0.2.1": "127.0.0.1", "": "127.0.0.1"}},
		"loopback is trusted": {startServer(t, trusting).Addr(), map[string]string{
			"": "127.0.0.1", "192.0.2.1": "192.0.2.1",
			// A client can forge everything to the left of the last address that does not belong to
			// a trusted proxy.
			"6.6.6.6, 192.0.2.1": "192.0.2.1", "6.6.6.6, 192.0.2.1, 10.1.2.3": "192.0.2.1", "10.9.9.9": "10.9.9.9",
			"rubbish": "127.0.0.1", "192.0.2.1, rubbish, 10.1.2.3": "10.1.2.3", "2001:db8::7": "2001:db8::7", "192.0.2.1:4711": "192.0.2.1", "[2001:db8::7]:80": "2001:db8::7", "[2001:db8::8]": "2001:db8::8", "::ffff:192.0.2.9": "192.0.2.9", ",,": "127.0.0.1",
			// Zones are removed, because otherwise one address could count as many.
			"2001:db8::7%eth0": "2001:db8::7", "fe80::1%<script>": "fe80::1", "6.6.6.6, 192.0.2.1, ::ffff:10.1.2.3%1": "192.0.2.1",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for forwarded, want := range s.ips {
				b := open(t, s.addr)
				b.from = forwarded
				b.login("")
				if got := loggedInFrom(t, b); got != want {
					t.Errorf("X-Forwarded-For %q: audited as %q, want %q", forwarded, got, want)
				}
			}
		})
	}
}

// A header on several lines means the same as one line with commas, because some proxies add a line
// after the client's own line. An earlier version read only the first line, so clients could choose
// their address.
func TestForwardedAddressesInSeveralLinesAreOneList(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Server.TrustedProxies = []string{"127.0.0.0/8"}
	b := open(t, startServer(t, cfg).Addr())
	b.post("/login", record{"admin_id": adminID, "admin_pw": adminPW}, func(r *http.Request) {
		r.Header["X-Forwarded-For"] = []string{"6.6.6.6", "192.0.2.1"}
	}).want(200)
	if got := loggedInFrom(t, b); got != "192.0.2.1" {
		t.Errorf("the audited address is %q, want 192.0.2.1", got)
	}
}
