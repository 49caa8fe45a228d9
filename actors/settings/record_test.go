package settings

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"atelier/actors/audit"
	"atelier/actors/clock"
	"atelier/actors/durable"
	"atelier/actors/usage"
	"atelier/persistence/memory"
)

// The audit trail records each change to the settings with its kind, so that removing a key can be
// distinguished from setting one. It records neither refused changes nor uses of the AI.
func TestTheAuditTrailRecordsEachChange(t *testing.T) {
	journal := memory.New()
	defer journal.Close()
	trail := audit.New(journal, clock.System, time.Hour)
	s := Kind(trail).New(ID)
	seen, token := 0, ""
	for i, tc := range []struct {
		body func() Body
		want string // action, target, and metadata; "" for no record
	}{
		{func() Body { return CreateToken{Name: "one", Scope: ScopeRead} }, "api_token_create TOKEN map[scope:read]"},
		{func() Body { return CreateToken{Name: "two"} }, "api_token_create TOKEN map[scope:all]"},
		{func() Body { return CreateToken{} }, ""},
		{func() Body { return RevokeToken{ID: token} }, "api_token_revoke TOKEN map[]"},
		{func() Body { return RevokeToken{ID: token} }, ""},
		{func() Body { return SetAIKey{Sealed: []byte("key")} }, "settings_update  map[ai_api_key:set]"},
		{func() Body { return SetAIKey{Sealed: []byte("another")} }, "settings_update  map[ai_api_key:set]"},
		{func() Body { return SetAIKey{Sealed: make([]byte, maxSealed+1)} }, ""},
		{func() Body { return NoteAIUse{Usage: &usage.AIUsage{Model: "m"}} }, ""},
		{func() Body { return SetAIKey{} }, "settings_update  map[ai_api_key:removed]"},
	} {
		d, _ := s.Decide(Command{Caller: Caller{Type: "admin", ID: "admin", IP: "192.0.2.1", UserAgent: "browser"}, Body: tc.body()}, durable.Env{Now: time.UnixMilli(int64(1000 + i))})
		for _, e := range d.Events {
			s.Apply(uint64(i+1), e)
			if made := e.GetTokenCreated(); made != nil {
				token = made.Id
			}
		}
		if len(d.Rows) > 0 {
			if err := durable.Commit(journal, d.Rows); err != nil {
				t.Fatal(err)
			}
		}
		found, err := trail.Find(audit.Query{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if n := len(found) - seen; n > 0 {
			r := found[0]
			got = fmt.Sprint(r.Action, " ", strings.Replace(r.TargetId, token, "TOKEN", 1), " ", r.Metadata)
			if n > 1 || r.ActorType != "admin" || r.ActorId != "admin" || r.Ip != "192.0.2.1" || r.UserAgent != "browser" || r.CreatedAt != int64(1000+i) {
				t.Errorf("command %d: audit records %v", i, found[:n])
			}
		}
		if seen = len(found); got != tc.want {
			t.Errorf("command %d: audit record %q, want %q", i, got, tc.want)
		}
	}
}

// Values up to each limit of an API token are accepted. Values beyond it, and malformed ones, are
// refused.
func TestAPITokensAreBounded(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000).UTC()
	for name, tc := range map[string]struct {
		CreateToken
		there int // tokens that already exist
		ok    bool
	}{
		"the longest name":   {CreateToken{Name: strings.Repeat("ä", 80)}, 0, true},
		"a longer name":      {CreateToken{Name: strings.Repeat("ä", 81)}, 0, false},
		"two lines":          {CreateToken{Name: "a\nb"}, 0, false},
		"a day":              {CreateToken{Name: "a", Days: 1}, 0, true},
		"the longest time":   {CreateToken{Name: "a", Days: 3650}, 0, true},
		"too long a time":    {CreateToken{Name: "a", Days: 3651}, 0, false},
		"a negative time":    {CreateToken{Name: "a", Days: -1}, 0, false},
		"an unknown scope":   {CreateToken{Name: "a", Scope: "some"}, 0, false},
		"the last token":     {CreateToken{Name: "a"}, 199, true},
		"one token too many": {CreateToken{Name: "a"}, 200, false},
	} {
		s := Kind(audit.New(nil, clock.System, 0)).New(ID)
		for i := range tc.there {
			s.Apply(uint64(i+1), &Event{Body: &Event_TokenCreated{TokenCreated: &ApiToken{Id: fmt.Sprint(i)}}})
		}
		d, err := s.Decide(Command{Body: tc.CreateToken}, durable.Env{Now: now})
		if (err == nil) != tc.ok {
			t.Errorf("%s: CreateToken returned %v", name, err)
		}
		if made, _ := d.Reply.(*ApiToken); tc.ok {
			if want := now.Add(time.Duration(tc.Days) * 24 * time.Hour).UnixMilli(); made.ExpiresAt != want && (tc.Days != 0 || made.ExpiresAt != 0) {
				t.Errorf("%s: the token expires at %v, want %v", name, time.UnixMilli(made.ExpiresAt), time.UnixMilli(want))
			}
		}
	}
}
