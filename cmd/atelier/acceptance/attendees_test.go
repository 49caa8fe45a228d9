package acceptance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestRegisteringWithTheSameNameAndCodeIsARejoin(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	first := c.join(open(t, c.addr), record{"name": "  Élodie Straße ", "code": "4711"})
	if first.name != "Élodie Straße" {
		t.Errorf("the name is %q, want \"Élodie Straße\"", first.name)
	}
	first.post(c.path+"/messages", record{"type": "step_progress", "step_number": 3}).want(200)
	// A name counts as the same if it is decomposed, in capitals or surrounded by spaces.
	again := open(t, c.addr).post(c.path+"/register", record{"name": "E\u0301LODIE STRASSE\t", "code": " 4711 ", "email": "el@example.org"}).object()
	if again.text("id") != first.id || again.number("current_step") != 3 || again.text("email") != "el@example.org" || again.text("name") != "Élodie Straße" {
		t.Errorf("the rejoin returned %v", again)
	}
	// The e-mail address is set once. A rejoin does not change it.
	again = open(t, c.addr).post(c.path+"/register", record{"name": "Élodie Straße", "code": "4711", "email": "other@example.org"}).object()
	if again.text("email") != "el@example.org" {
		t.Errorf("the e-mail is now %q", again.text("email"))
	}
	if got := c.audited(); !slices.Contains(got, "attendee_register") || !slices.Contains(got, "attendee_rejoin") {
		t.Errorf("the audited actions are %v", got)
	}
}

func TestATakenNameWithoutTheRightCodeIsAConflict(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.join(open(t, c.addr), record{"name": "Lin", "code": "4711"})
	c.join(open(t, c.addr), record{"name": "Max"})
	for _, who := range []record{
		{"name": "lin"}, {"name": "Lin", "code": ""}, {"name": "LIN", "code": "4712"}, {"name": "Max"}, {"name": "Max", "code": ""}, {"name": "Max", "code": "1"},
	} {
		b := open(t, c.addr)
		b.post(c.path+"/register", who).refused(409, "taken")
		b.get("/session").refused(401)
	}
}

func TestWrongCodesAreLimitedPerCodelabAndName(t *testing.T) {
	t.Parallel()
	onOneServer(t)
	c := newClass(t)
	c.join(open(t, c.addr), record{"name": "Lin", "code": "4711"})
	c.join(open(t, c.addr), record{"name": "Max", "code": "4711"})
	b := open(t, c.addr)
	for i := range 10 {
		b.post(c.path+"/register", record{"name": []string{"Lin", "LIN", strings.Repeat(" ", 200) + "lin", "L\u200bin\u202e"}[i%4], "code": strconv.Itoa(i)}).refused(409)
	}
	// Now even the right code is refused.
	b.post(c.path+"/register", record{"name": strings.Repeat("\t", 300) + "Lin", "code": "4711"}).refused(429)
	got := b.post(c.path+"/register", record{"name": "Lin", "code": "4711"})
	got.refused(429)
	if n, _ := strconv.Atoi(got.header.Get("Retry-After")); n < 1 || n > 600 {
		t.Errorf("Retry-After is %q", got.header.Get("Retry-After"))
	}
	b.post(c.path+"/register", record{"name": "Max", "code": "4711"}).want(200)
}

// Each known browser has its own limit of attempts, so that failed attempts by strangers cannot
// lock out a person in this browser.
func TestStrangersCannotLockOutAttendees(t *testing.T) {
	t.Parallel()
	onOneServer(t)
	c := newClass(t)
	lin := c.join(open(t, c.addr), record{"name": "Lin", "code": "4711"})
	max := c.join(open(t, c.addr), record{"name": "Max", "code": "4711"})
	stranger := open(t, c.addr)
	guess := func(b *browser) {
		t.Helper()
		for i := range 10 {
			b.post(c.path+"/register", record{"name": "Lin", "code": strconv.Itoa(i)}).refused(409)
		}
		b.post(c.path+"/register", record{"name": "Lin", "code": "4711"}).refused(429)
	}
	guess(stranger)
	for _, b := range []*browser{lin.browser, max.browser} {
		b.post("/logout", nil).want(204)
	}
	max.post(c.path+"/register", record{"name": "Lin", "code": "4711"}).refused(429) // this browser is known for another person
	lin.post(c.path+"/register", record{"name": "LIN ", "code": "4711"}).want(200)
	// Wrong codes in the known browser itself count.
	lin.post("/logout", nil).want(204)
	guess(lin.browser)
	// A browser that registered with a code that was reset is unknown again.
	c.admin.post(c.path+"/attendees/"+max.id+"/reset-pin", record{"code": "new"}).want(200)
	for i := range 10 {
		stranger.post(c.path+"/register", record{"name": "Max", "code": strconv.Itoa(i)}).refused(409)
	}
	max.post(c.path+"/register", record{"name": "Max", "code": "new"}).refused(429)
}

func TestAPrivateCodelabNeedsItsJoinCode(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, common.get(t).Addr(), record{"is_public": false})
	code := c.meta().text("join_code")
	b := open(t, c.addr)
	b.get(c.path).refused(401)
	b.post(c.path+"/register", record{"name": "Lin"}).refused(403, "join_code")
	b.post(c.path+"/register", record{"name": "Lin", "join_code": "AAAAAA"}).refused(403, "join_code")
	if slices.Contains(texts(b.get("/codelabs").list(), "id"), c.id) {
		t.Error("strangers see the private codelab in the list")
	}
	// People type the code as they like, as on the page that finds the codelab.
	c.join(open(t, c.addr), record{"name": "Typed", "join_code": strings.ToLower(code[:3]) + " - " + code[3:]})
	lin := c.join(b, record{"name": "Lin", "join_code": code})
	if list := lin.get("/codelabs"); !slices.Contains(texts(list.list(), "id"), c.id) || strings.Contains(string(list.body), code) {
		t.Error("attendees do not see the codelab in the list, or see the join code")
	}
	if got := lin.get(c.path).want(200); strings.Contains(string(got.body), "join_code") {
		t.Error("attendees see the join code")
	}
	newClass(t).attendee("Max").get(c.path).refused(403)
	if c.join(c.admin, record{"name": "Guest"}).id == "" {
		t.Error("an admin cannot register somebody without the code")
	}
}

func TestAttendeesSeeOnlyTheirOwnEmailAndCompletionTime(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.join(open(t, c.addr), record{"name": "Lin", "email": "lin@example.org"})
	max := c.join(open(t, c.addr), record{"name": "Max", "email": "max@example.org"})
	for _, p := range []*person{lin, max} {
		p.post(c.path+"/complete", nil).want(200)
	}
	for _, who := range []*browser{lin.browser, max.browser, c.admin} {
		for _, a := range who.get(c.path + "/attendees").list() {
			sees := who == c.admin || who == lin.browser && a.text("id") == lin.id || who == max.browser && a.text("id") == max.id
			if a["is_completed"] != true || (a.text("email") != "") != sees || (a["completed_at"] != nil) != sees {
				t.Errorf("the record shown is %v, want private fields: %v", a, sees)
			}
		}
	}
	if got := open(t, c.addr).get(c.path + "/attendees"); got.status != 401 {
		t.Errorf("a stranger gets %d, want 401", got.status)
	}
}

func TestCompletionIssuesTheCertificate(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, common.get(t).Addr(), record{"title": "Go", "author": "Ada"})
	lin := c.attendee("Lin")
	anyone := open(t, c.addr)
	anyone.get("/certificates/" + unknownID).refused(404)
	anyone.get("/certificates/" + lin.id).refused(403)
	lin.post(c.path+"/complete", nil).want(200)
	first := anyone.get("/certificates/" + lin.id).object()
	lin.post(c.path+"/complete", nil).want(200)
	again := anyone.get("/certificates/" + lin.id).object()
	if first.text("completed_at") != again.text("completed_at") {
		t.Error("a second completion changes the time")
	}
	if first.text("attendee_name") != "Lin" || first.text("codelab_title") != "Go" || first.text("author") != "Ada" || first.text("verification_url") != "/verify/"+lin.id {
		t.Errorf("the certificate is %v", first)
	}
}

func TestCompletionNeedsTheRequiredQuizAndFeedback(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, common.get(t).Addr(), record{"require_quiz": true, "require_feedback": true})
	lin := c.attendee("Lin")
	lin.post(c.path+"/complete", nil).refused(409, "feedback") // the quiz is required only while it is enabled
	c.admin.put(c.path, record{"quiz_enabled": true}).want(200)
	quiz := c.admin.put(c.path+"/quizzes", []record{
		{"question": "1 or 2?", "quiz_type": "multiple_choice", "options": []string{"1", "2"}, "correct_answer": 1},
		{"question": "Why?", "quiz_type": "descriptive"},
	}).list()
	submit := func(answers ...string) {
		t.Helper()
		var s []record
		for i, a := range answers {
			s = append(s, record{"quiz_id": quiz[i].text("id"), "answer": a})
		}
		lin.post(c.path+"/quizzes/submit", record{"submissions": s}).want(200)
	}
	lin.post(c.path+"/complete", nil).refused(409, "quiz")
	submit("1")
	lin.post(c.path+"/complete", nil).refused(409, "quiz")
	submit("0", "because")
	lin.post(c.path+"/complete", nil).refused(409, "quiz")
	submit("1")
	lin.post(c.path+"/complete", nil).refused(409, "feedback")
	lin.post(c.path+"/feedback", record{"difficulty": "3", "satisfaction": "5"}).want(200)
	lin.post(c.path+"/complete", nil).want(200)
	if a := c.admin.get(c.path + "/attendees").list()[0]; a["is_completed"] != true || a.number("current_step") != 1 {
		t.Errorf("the record is %v", a)
	}
	c.admin.put(c.path, record{"require_submission": true}).want(200)
	c.attendee("Max").post(c.path+"/complete", nil).refused(409)
}

// In an earlier version, the list checked only the grant in the session, which still existed after
// the removal.
func TestRemovedAttendeesNoLongerSeeThePrivateCodelabInTheList(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, common.get(t).Addr(), record{"is_public": false})
	lin := c.join(open(t, c.addr), record{"name": "Lin", "join_code": c.meta().text("join_code")})
	c.admin.delete(c.path + "/attendees/" + lin.id).want(204)
	if slices.Contains(texts(lin.get("/codelabs").list(), "id"), c.id) {
		t.Error("the codelab is still listed")
	}
	lin.get(c.path).refused(403)
}

// Names that differ only in invisible characters count as the same, because people could not
// distinguish them.
func TestNamesThatDifferOnlyInInvisibleCharactersAreTheSame(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.join(open(t, c.addr), record{"name": "\u202eLi\u200bn Ho\u2069", "code": "4711"})
	if lin.name != "Lin Ho" {
		t.Errorf("the name is %q, want \"Lin Ho\"", lin.name)
	}
	for _, same := range []string{"Lin Ho", "\u200fLin Ho", "Lin\u00a0 Ho", "LIN\ufe0f HO", "Lin Ho\u3164"} {
		open(t, c.addr).post(c.path+"/register", record{"name": same}).refused(409, "taken")
		if got := open(t, c.addr).post(c.path+"/register", record{"name": same, "code": "4711"}).object(); got.text("id") != lin.id || got.text("name") != "Lin Ho" {
			t.Errorf("registering as %q returned %v", same, got)
		}
	}
	max := c.attendee("Max")
	c.admin.put(c.path+"/attendees/"+max.id, record{"name": "lin ho\u200d"}).refused(409)
	if got := c.admin.put(c.path+"/attendees/"+max.id, record{"name": "\u2066Max\u202d Mo"}).object(); got.text("name") != "Max Mo" {
		t.Errorf("after the rename, the record is %v", got)
	}
	for _, none := range []string{"\u200b", "\u2800 \u3164", "\u202e\u202c", "a\u2028b", "\u200d\u200d"} {
		open(t, c.addr).post(c.path+"/register", record{"name": none}).refused(400, "name")
	}
}

func TestAttendeesCannotTakeTheNameOfAFacilitator(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, startServer(t, testConfig(t)).Addr(), record{}) // the common server has other logged-in people
	another := func() string { return newClassOn(t, c.addr, record{}).path }
	grace := c.join(open(t, c.addr), record{"name": "Grace Hopper", "code": "1"}) // before the facilitator logs in
	max := c.attendee("Max")
	boss := facilitator(t, c.addr, "  Grace\u202e Hopper ")
	facilitator(t, c.addr, "Ada")
	c.admin.put(c.path+"/attendees/"+max.id, record{"name": "ADA"}).refused(409, "facilitator")
	c.attendee("Grace") // allowed, because only the whole name is compared
	for _, name := range []string{"Facilitator", "\u200bFACILITATOR", "Fаcilitator", "FaciIitat0r", "Grаce Hoppеr", "grace  hopper\u200f"} {
		open(t, c.addr).post(another()+"/register", record{"name": name, "code": "1"}).refused(409)
		c.admin.post(another()+"/register", record{"name": name}).refused(409, "facilitator")
		c.admin.put(c.path+"/attendees/"+max.id, record{"name": name}).refused(409)
	}
	if got := open(t, c.addr).post(c.path+"/register", record{"name": "Grace Hopper", "code": "1"}).object(); got.text("id") != grace.id {
		t.Errorf("the rejoin of Grace Hopper returned %v", got)
	}
	c.admin.put(c.path+"/attendees/"+grace.id, record{"name": "GRACE HOPPER"}).want(200)
	boss.post(c.path+"/messages", record{"type": "chat", "message": "who am I"}).want(200)
	if m := boss.get(c.path + "/chat").list()[0]; m.text("sender_name") != "Grace Hopper" {
		t.Errorf("the facilitator's message is %v", m)
	}
	boss.post("/logout", nil).want(204)
	open(t, c.addr).post(another()+"/register", record{"name": "Grace Hopper"}).want(200)
	open(t, c.addr).post("/login", record{"admin_id": adminID, "admin_pw": adminPW, "display_name": "a\u2028b"}).refused(400, "display_name")
}

func TestDirectionOverridesAreRemovedFromTitlesAndNames(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, common.get(t).Addr(), record{"title": "\u202eTitle\u2067", "author": "A\u202d"})
	if m := c.meta(); m.text("title") != "Title" || m.text("author") != "A" {
		t.Errorf("the codelab is %v", m)
	}
	token := c.admin.post("/admin/tokens", record{"name": "a\u202eb"}).object()
	for _, x := range c.admin.get("/admin/tokens").list() {
		if x.text("id") == token.text("id") && x.text("name") != "ab" {
			t.Errorf("the API token is %v", x)
		}
	}
	c.admin.delete("/admin/tokens/" + token.text("id")).want(204)
	c.admin.post("/admin/tokens", record{"name": "a\nb"}).refused(400, "name")
	c.admin.post("/admin/participants", record{"name": "a\nb", "kind": "psp", "scopes": []string{"detokenize"}}).refused(400, "name")
}

func TestFacilitatorsSeeTheStepTimesAndQuizResultOfAnAttendee(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.setSteps("one", "two", "three", "four")
	questions := c.quizzes(choice("first", 1), choice("second", 2), choice("third", 0))
	lin, max := c.attendee("Lin"), c.attendee("Max")
	live := lin.connect(c.id, "")
	live.acked(record{"type": "step_progress", "step_number": 3}, "1")
	lin.post(c.path+"/quizzes/submit", record{"submissions": []record{
		{"quiz_id": questions[0].text("id"), "answer": "1"},
		{"quiz_id": questions[1].text("id"), "answer": "1"},
	}}).want(200)

	read := func(b *browser, query string) record { return b.get(c.path + "/attendees/" + lin.id + query).object() }
	now := read(c.admin, "?details=true")
	// Step 2 was skipped, and Lin has not yet moved on from step 3.
	if got := fmt.Sprint(stepsReached(now)); got != "[1 some 2 0 3 none]" {
		t.Errorf("the times are %s: %v", got, now["steps"])
	}
	if got := fmt.Sprint(now["quiz"]); got != "map[answered:2 of:3 right:1]" {
		t.Errorf("the quiz is %s, want \"map[answered:2 of:3 right:1]\"", got)
	}
	own := read(lin.browser, "?details=true&missing=true")
	if fmt.Sprint(own["steps"], own["quiz"]) != fmt.Sprint(now["steps"], now["quiz"]) || own["missing"] == nil {
		t.Errorf("Lin reads %v", own)
	}
	for who, r := range map[string]record{
		"Max": read(max.browser, "?details=true"), "Lin, without details": read(lin.browser, ""), "a facilitator, without details": read(c.admin, "?details=false"),
	} {
		if r["steps"] != nil || r["quiz"] != nil {
			t.Errorf("%s reads %v", who, r)
		}
	}
	c.admin.get(c.path + "/attendees/" + lin.id + "?details=perhaps").refused(400)

	lin.post(c.path+"/complete", nil).want(200)
	if got := fmt.Sprint(stepsReached(read(c.admin, "?details=true"))); got != "[1 some 2 0 3 some]" {
		t.Errorf("after completion, the times are %s, want \"[1 some 2 0 3 some]\"", got)
	}
	// A codelab without questions has no score.
	if r := newClass(t); r.admin.get(r.path + "/attendees/" + r.attendee("Ada").id + "?details=true").object()["quiz"] != nil {
		t.Error("a codelab without questions has a quiz score")
	}
}

// stepsReached returns each step's number, followed by "some", "0" or "none" for its time.
func stepsReached(a record) (out []string) {
	steps, _ := a["steps"].([]any)
	for _, x := range steps {
		s := record(x.(map[string]any))
		word := "some"
		switch seconds, known := s["seconds"].(float64); {
		case !known:
			word = "none"
		case seconds == 0:
			word = "0"
		}
		out = append(out, fmt.Sprint(s.number("step_number")), word)
	}
	return out
}
