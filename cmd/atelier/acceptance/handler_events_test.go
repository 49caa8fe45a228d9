package acceptance

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// log returns the participant's own log.
func (p *member) log(query string) []record {
	p.t.Helper()
	return p.do(http.MethodGet, "/events"+query, nil).want(200).list()
}

// A participant reads every use of its tokens, by any participant, and its own actions. In both
// environments it reads nothing about others.
func TestAParticipantReadsItsOwnLog(t *testing.T) {
	t.Parallel()
	for _, base := range []string{production, sandbox} {
		m := newMarket(t, common.get(t).Addr(), base)
		token := m.tokenize("c1")
		last := token[len(token)-4:]
		m.psp.post("/detokenize", record{"token": token, "binding": m.binding("c1")}).want(200)
		m.business.post("/detokenize", use(token, "c1")).wantError(410, "token_used")
		m.business.post("/sessions/c9/end", nil).want(204)
		public, _ := encryptionKeys(t)
		m.business.do(http.MethodPut, "/keys", public).want(200)
		stranger := m.add("business", "detokenize")

		all := m.business.log("")
		want := [][5]string{ // type, last four, checkout, policy, by
			{"participant_encryption_key", "", "", "", m.business.id},
			{"token_session_end", "", "c9", "session", m.business.id},
			{"token_reuse", last, "c1", "single_use", m.business.id},
			{"token_detokenize", last, "c1", "single_use", m.psp.id},
			{"token_create", last, "c1", "single_use", m.platform.id},
		}
		text := func(v any) string { s, _ := v.(string); return s }
		var got [][5]string
		for _, e := range all {
			got = append(got, [5]string{e.text("type"), text(e["token_last_four"]), text(e["checkout_id"]), text(e["policy"]), e.text("by")})
		}
		if common.nodes != nil {
			// Records that two nodes write in the same millisecond have no defined order.
			inOrder := func(a, b [5]string) int { return slices.Compare(a[:], b[:]) }
			slices.SortFunc(got, inOrder)
			slices.SortFunc(want, inOrder)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the log has\n%v, want\n%v", got, want)
		}
		// Each node reads its clock before it commits, so with two nodes the order can be off by a
		// millisecond.
		if at := texts(all, "at"); common.nodes == nil && !slices.IsSortedFunc(at, func(a, b string) int { return strings.Compare(b, a) }) {
			t.Errorf("the newest is not first: %v", at)
		}
		if got := texts(m.platform.log(""), "type"); len(got) != 1 || got[0] != "token_create" {
			t.Errorf("the platform reads %v", got)
		}
		if got := texts(m.psp.log(""), "type"); len(got) != 1 || got[0] != "token_detokenize" {
			t.Errorf("the PSP reads %v", got)
		}
		if got := stranger.log(""); len(got) != 0 {
			t.Errorf("a stranger reads %v", got)
		}

		// The whole log can be read page by page.
		var ids []string
		for at := ""; ; {
			page := m.business.log("?limit=2" + at)
			if len(page) == 0 {
				break
			}
			ids = append(ids, texts(page, "id")...)
			at = "&before=" + ids[len(ids)-1]
		}
		if strings.Join(ids, " ") != strings.Join(texts(all, "id"), " ") {
			t.Errorf("the pages have %v", ids)
		}

		for _, bad := range []string{"limit=0", "limit=201", "limit=x", "limit=", "before=x", "before=", "before=" + url.QueryEscape("../"+ids[0])} {
			m.business.do(http.MethodGet, "/events?"+bad, nil).wantError(400, "invalid_request")
		}
		nobody := *m.business
		nobody.bearer = ""
		nobody.do(http.MethodGet, "/events", nil).wantError(401, "unauthorized")
		elsewhere := *m.business
		elsewhere.base = strings.Replace(elsewhere.base, base, map[string]string{production: sandbox, sandbox: production}[base], 1)
		elsewhere.do(http.MethodGet, "/events", nil).wantError(401, "unauthorized")
	}
}
