package acceptance

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/cmd/atelier/service"
)

// poll creates a draft and opens it.
func (c *class) poll(p record) record {
	c.t.Helper()
	made := c.admin.post(c.path+"/polls", p).want(200).object()
	return c.admin.post(c.path+"/polls/"+made.text("id")+"/open", nil).want(200).object()
}

func (p *person) vote(c *class, poll record, vote record) answer {
	p.t.Helper()
	vote["round"] = poll["round"]
	return p.put(c.path+"/polls/"+poll.text("id")+"/vote", vote)
}

func TestAttendeesVoteInAPoll(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	boss, own := c.admin.connect(c.id, ""), lin.connect(c.id, "")
	draft := c.admin.post(c.path+"/polls", record{"lines": "Which editor?\n- vim\n- another", "right": []int{0}}).want(200).object()
	if draft.text("kind") != "choice" || draft.text("state") != "draft" || fmt.Sprint(draft["options"]) != "[vim another]" {
		t.Errorf("the draft is %v", draft)
	}
	if n := len(lin.get(c.path + "/polls").list()); n != 0 {
		t.Errorf("an attendee sees %d drafts, want 0", n)
	}
	at := c.path + "/polls/" + draft.text("id")
	lin.post(at+"/open", nil).refused(403)
	poll := c.admin.post(at+"/open", record{"seconds": 600}).want(200).object()
	if poll["ends_at"] == nil || poll["of"] != float64(1) || poll["opened_at"] == nil {
		t.Errorf("the opened poll is %v", poll)
	}
	// With several nodes, the node that answers can be unaware of a connection to another node. The
	// count is therefore not checked.
	asked := func(m message) bool { return m["of"] == float64(1) || common.nodes != nil }
	boss.until("the poll is open, and asks one person", func(m message) bool {
		x, _ := m["poll"].(map[string]any)
		return m["type"] == "poll_changed" && x["state"] == "open" && asked(x)
	})
	if x := message(own.next("poll_changed")["poll"].(map[string]any)); x["right"] != nil || !asked(x) {
		t.Errorf("an attendee received the right answers, or the poll counts the wrong number of people: %v", x)
	}
	mine := lin.vote(c, poll, record{"choice": []int{1}}).want(200).object()
	if fmt.Sprint(mine["mine"]) != "map[choice:[1]]" || mine["counts"] != nil {
		t.Errorf("after voting, the poll is %v", mine)
	}
	max.vote(c, poll, record{"choice": []any{nil}}).refused(400, "choice") // in an earlier version, null counted as option 0
	c.admin.put(at, record{"right": []any{nil}}).refused(400, "right")
	max.vote(c, poll, record{"choice": []int{0}}).want(200)
	boss.until("two votes", func(m message) bool { return m["type"] == "poll_counts" && fmt.Sprint(m["counts"]) == "[1 1]" })
	seen := c.admin.get(c.path + "/polls").list()[0]
	if fmt.Sprint(seen["counts"]) != "[1 1]" || fmt.Sprint(seen["missing"]) != "[]" || seen["votes"] != float64(2) {
		t.Errorf("facilitators see %v", seen)
	}
	if meta := c.meta(); meta["poll"].(map[string]any)["id"] != poll["id"] {
		t.Errorf("the codelab has the poll %v", meta["poll"])
	}
	c.admin.post(at+"/show", record{"shown": true}).want(200)
	own.until("the counts", func(m message) bool { return m["type"] == "poll_counts" && fmt.Sprint(m["counts"]) == "[1 1]" })
	c.admin.post(at+"/close", nil).want(200)
	lin.vote(c, poll, record{"choice": []int{1}}).refused(409, "closed")
	if got := lin.get(c.path + "/polls").list()[0]; fmt.Sprint(got["right"]) != "[0]" || fmt.Sprint(got["counts"]) != "[1 1]" {
		t.Errorf("the closed and shown poll is %v", got)
	}
	rows := c.table("polls")
	if len(rows) != 2 || rows[0]["name"] != "Lin" || rows[0]["answer"] != "another" {
		t.Errorf("the table is %v", rows)
	}
	c.admin.post(at+"/reset", nil).want(200)
	c.admin.delete(at).want(204)
	own.until("the poll is no longer shown", func(m message) bool { return m["type"] == "poll_changed" && m["poll"] == nil })
	actions := c.audited()
	for _, action := range []string{"poll_create", "poll_open", "poll_show", "poll_close", "poll_reset", "poll_delete"} {
		if !slices.Contains(actions, action) {
			t.Errorf("%s is not audited", action)
		}
	}
	c.admin.post(c.path+"/polls", record{"kind": "colours", "question": "Q"}).refused(400, "kind")
	c.admin.post(c.path+"/polls", record{"lines": "Q", "quiz_id": unknownID, "kind": "words"}).want(200)
	c.admin.post(c.path+"/polls", record{"quiz_id": unknownID}).refused(400, "quiz_id")
}

// The test searches what the server sends and stores: responses, a facilitator's frames, the table,
// the audit trail, people's exports, and the server's files.
func TestAnonymousVotesStayAnonymous(t *testing.T) {
	t.Parallel()
	onOneServer(t) // the test reads the server's files
	c, dir := newClassOfItsOwn(t)
	boss := c.admin.connect(c.id, "")
	poll := c.poll(record{"kind": "text", "question": "What is still unclear?", "anonymous": true})
	secrets := func() (found []string) {
		files, _ := filepath.Glob(filepath.Join(dir, "secrets", "ballots-*"))
		return files
	}
	if len(secrets()) != 1 {
		t.Fatalf("the secrets are %v", secrets())
	}
	secret, err := os.ReadFile(secrets()[0])
	if err != nil {
		t.Fatal(err)
	}
	var people []*person
	for i := range 6 {
		p := c.attendee(fmt.Sprint("Voter ", i))
		people = append(people, p)
		got := p.vote(c, poll, record{"text": fmt.Sprint("ballot-of-", i)}).want(200)
		if fmt.Sprint(got.object()["mine"]) != "map[voted:true]" || bytes.Contains(got.body, []byte("ballot-of")) {
			t.Errorf("the response is %s", got.body)
		}
	}
	people[0].vote(c, poll, record{"text": "another"}).refused(409, "cannot be changed")
	people[0].delete(c.path+"/polls/"+poll.text("id")+"/vote").refused(409, "taken back")
	open := c.admin.get(c.path + "/polls").want(200)
	if bytes.Contains(open.body, []byte("ballot-of")) || open.list()[0]["missing"] != nil || open.list()[0]["votes"] != float64(6) {
		t.Errorf("while the poll is open, facilitators see %s", open.body)
	}
	if texts := c.admin.get(c.path + "/polls/" + poll.text("id") + "/texts").list(); len(texts) != 0 {
		t.Errorf("while the poll is open, facilitators see the texts %v", texts)
	}
	if in := filesWith(t, dir, []byte("What is still unclear?")); len(in) == 0 {
		t.Error("the search finds no question in the files")
	}
	inFiles(t, dir, "while the poll is open", []byte("ballot-of"))

	c.admin.post(c.path+"/polls/"+poll.text("id")+"/close", nil).want(200)
	texts := c.admin.get(c.path + "/polls/" + poll.text("id") + "/texts").list()
	if len(texts) != 6 {
		t.Fatalf("the texts are %v", texts)
	}
	if page := c.admin.get(c.path + "/polls/" + poll.text("id") + "/texts?after=" + texts[3].text("id")).list(); len(page) != 2 {
		t.Errorf("the texts after the fourth are %v", page)
	}
	c.eventually("the secret is destroyed", func() bool { return len(secrets()) == 0 })
	inFiles(t, dir, "after the poll was closed", secret)
	for _, m := range boss.stored() {
		if strings.Contains(fmt.Sprint(m), "ballot-of") {
			t.Errorf("a frame contains an anonymous text: %v", m)
		}
	}
	for _, a := range c.admin.get("/admin/audit-logs?limit=1000&codelab_id=" + c.id).list() {
		if strings.Contains(fmt.Sprint(a), "ballot") || strings.HasPrefix(a.text("action"), "poll_vote") {
			t.Errorf("the audit trail contains %v", a)
		}
	}
	for _, row := range c.table("polls") {
		if row["attendee_id"] != "" || row["name"] != "" || !strings.HasPrefix(row["answer"], "ballot-of-") {
			t.Errorf("the table has %v", row)
		}
	}
	for _, p := range people { // people's own exports do not contain the anonymous text either
		takeout := fmt.Sprint(p.takeOut(c.path + "/attendees/" + p.id + "/export").held)
		if !strings.Contains(takeout, p.name) || strings.Contains(takeout, "ballot-of") {
			t.Error("an export lacks the person, or contains an anonymous text")
		}
	}
	c.admin.post(c.path+"/polls/"+poll.text("id")+"/open", nil).refused(409, "reset")
}

// inFiles reports an error for each file of the data folder that contains the bytes.
func inFiles(t *testing.T, dir, when string, wanted []byte) {
	t.Helper()
	if in := filesWith(t, dir, wanted); len(in) > 0 {
		t.Errorf("%s, %v contain an anonymous text or the secret", when, in)
	}
}

// filesWith returns the files of a data folder that contain the bytes. It skips the files of the
// polls' secrets, and files that a running server removes meanwhile.
func filesWith(t *testing.T, dir string, wanted []byte) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil
		case err != nil || !d.Type().IsRegular() || strings.Contains(path, "ballots-"):
			return err
		}
		b, err := os.ReadFile(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil
		case bytes.Contains(b, wanted):
			found = append(found, strings.TrimPrefix(path, dir))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// newClassOfItsOwn returns a class on a server whose data folder can be read.
func newClassOfItsOwn(t *testing.T) (*class, string) {
	cfg := testConfig(t)
	return newClassOn(t, startServer(t, cfg).Addr(), record{}), cfg.Server.Data
}

// The clock of the restarted server is ahead, as if the restart had taken longer than the poll.
func TestAPollThatEndedWhileTheServerWasDownIsClosed(t *testing.T) {
	t.Parallel()
	onOneServer(t)
	cfg := testConfig(t)
	s := startUntilStopped(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	made := c.admin.post(c.path+"/polls", record{"lines": "Which?\n- a\n- b"}).object()
	c.admin.post(c.path+"/polls/"+made.text("id")+"/open", record{"seconds": 5}).want(200)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	poll := func(c *class) record { return c.admin.get(c.path + "/polls").want(200).list()[0] }
	again := *c
	later := service.Options{Clock: func() time.Time { return time.Now().Add(time.Minute) }}
	restarted := startWith(t, cfg, later)
	t.Cleanup(func() { _ = restarted.Stop() })
	again.addr = restarted.Addr()
	again.admin = facilitator(t, again.addr, "")
	again.eventually("the poll is closed", func() bool { return poll(&again).text("state") == "closed" })
}

func TestAttendeesAskAndVoteForQuestions(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, common.get(t).Addr(), record{"questions": "checked"})
	lin, max := c.attendee("Lin"), c.attendee("Max")
	boss, own, other := c.admin.connect(c.id, ""), lin.connect(c.id, ""), max.connect(c.id, "")
	asked := lin.post(c.path+"/questions", record{"text": "Does it work on Windows?", "anonymous": true}).want(200).object()
	if asked["author_id"] != nil || asked["mine"] != true || asked.text("state") != "waiting" {
		t.Errorf("the new question is %v", asked)
	}
	at := c.path + "/questions/" + asked.text("id")
	if n := len(max.get(c.path + "/questions").list()); n != 0 {
		t.Errorf("another attendee sees %d waiting questions, want 0", n)
	}
	for _, s := range []*socket{boss, own} {
		if m := s.next("question_changed"); strings.Contains(fmt.Sprint(m), lin.id) || strings.Contains(fmt.Sprint(m), "Lin") {
			t.Errorf("the frame reveals who asked: %v", m)
		}
	}
	if all := c.admin.get(c.path + "/questions").want(200); bytes.Contains(all.body, []byte(lin.id)) {
		t.Errorf("facilitators see who asked: %s", all.body)
	}
	max.put(at+"/vote", nil).refused(404)
	c.admin.put(at, record{"state": "open"}).want(200)
	if m := other.next("question_changed"); m["question"].(map[string]any)["state"] != "open" {
		t.Errorf("received %v", m)
	}
	if voted := max.put(at+"/vote", nil).want(200).object(); voted["votes"] != float64(1) || voted["voted"] != true {
		t.Errorf("after the vote, the question is %v", voted)
	}
	lin.put(at+"/vote", nil).refused(409, "your own")
	boss.until("one vote", func(m message) bool {
		votes, _ := m["votes"].(map[string]any)
		return m["type"] == "question_votes" && votes[asked.text("id")] == float64(1)
	})
	c.admin.put(c.path+"/spotlight", record{"kind": "question", "id": asked["id"]}).want(200)
	if m := other.next("spotlight_changed"); m.text("kind") != "question" {
		t.Errorf("received %v", m)
	}
	answered := c.admin.put(at, record{"answer": "Yes, with WSL."}).want(200).object()
	if answered.text("state") != "answered" || answered.text("answered_by") == "" {
		t.Errorf("the answered question is %v", answered)
	}
	max.post(c.path+"/messages", record{"type": "chat", "message": "Is there a pause?"}).want(200)
	chat := c.admin.get(c.path + "/chat").list()[0]
	taken := c.admin.post(c.path+"/questions/from", record{"chat_id": chat["id"]}).want(200).object()
	if taken.text("author_name") != "Max" || taken.text("text") != "Is there a pause?" {
		t.Errorf("the accepted question is %v", taken)
	}
	merged := c.admin.post(c.path+"/questions/"+taken.text("id")+"/merge", record{"into": asked["id"]}).want(200).object()
	if merged.text("id") != asked.text("id") || merged["votes"] != float64(1) {
		t.Errorf("the merged question is %v", merged)
	}
	c.admin.post(at+"/stop", nil).want(200)
	// A facilitator has stopped Lin's questions. They stay stopped if Lin registers again in the
	// same browser.
	again := c.join(lin.browser, record{"name": "Lin again"})
	again.post(c.path+"/questions", record{"text": "Why, again?"}).refused(409, "stopped your questions")
	again.post("/logout", record{"codelab_id": c.id}).want(204)
	c.join(again.browser, record{"name": "Lin once more"}).post(c.path+"/questions", record{"text": "Why?"}).refused(409, "stopped your questions")
	c.admin.put(at, record{"state": "hidden"}).want(200)
	other.until("the question is hidden", func(m message) bool {
		return m["type"] == "question_changed" && m["question"] == nil && m.text("question_id") == asked.text("id")
	})
	if n := len(max.get(c.path + "/questions").list()); n != 0 {
		t.Errorf("attendees see %d hidden questions, want 0", n)
	}
	for _, action := range []string{"question_answer", "question_merge", "question_stop", "question_hide"} {
		if !slices.Contains(c.audited(), action) {
			t.Errorf("%s is not audited", action)
		}
	}
	c.admin.put(c.path, record{"questions": "off"}).want(200)
	max.post(c.path+"/questions", record{"text": "Why?"}).refused(409, "switched off")
}

// A second question within ten seconds gets 429. A question that is refused for another reason
// does not count.
func TestQuestionsOfAPersonAreLimited(t *testing.T) {
	t.Parallel()
	onOneServer(t) // each node counts separately
	c := newClassOn(t, common.get(t).Addr(), record{"questions": "open", "questions_anonymous": false})
	lin, max := c.attendee("Lin"), c.attendee("Max")
	lin.post(c.path+"/questions", record{"text": "Why?", "anonymous": true}).refused(409, "anonymous questions")
	lin.post(c.path+"/questions", record{"text": "Why?"}).want(200)
	// On a busy machine, ten seconds can pass between two questions, so several questions are sent.
	var again answer
	n := 0
	c.eventually("a question is refused", func() bool {
		n++
		again = lin.post(c.path+"/questions", record{"text": fmt.Sprint("And how? ", n)})
		return again.status != 200
	})
	again.refused(429)
	if again.header.Get("Retry-After") == "" {
		t.Error("the response has no Retry-After")
	}
	max.post(c.path+"/questions", record{"text": "And how?"}).want(200)
	c.eventually("concurrent questions", func() bool {
		n++
		third := c.attendee(fmt.Sprint("Third ", n))
		var accepted atomic.Int32 // in an earlier version, all concurrent requests passed the limit
		var many sync.WaitGroup
		began := time.Now()
		for range 8 {
			b := third.with()
			many.Go(func() {
				if got := b.send("POST", c.path+"/questions", record{"text": "Now?"}); got.status == 200 {
					accepted.Add(1)
				}
			})
		}
		many.Wait()
		if time.Since(began) > 9*time.Second {
			return false // on such a busy machine a second question is allowed
		}
		if n := accepted.Load(); n != 1 {
			t.Errorf("%d concurrent questions of one person were accepted, want 1", n)
		}
		return true
	})
}

func TestAttendeesGetTheTimerAndTheServersTime(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	own := lin.connect(c.id, "")
	own.send(record{"type": "hello"})
	if now := own.next("welcome").text("now"); now == "" {
		t.Error("the welcome message does not contain the time")
	}
	c.admin.put(c.path+"/timer", record{"seconds": 600, "label": "Try it", "kind": "exercise"}).want(200)
	timer := own.next("timer_changed")["timer"].(map[string]any)
	if timer["label"] != "Try it" || timer["total_seconds"] != float64(600) {
		t.Errorf("received %v", timer)
	}
	seen := func(b *browser) record {
		var both []any
		b.get(c.path).into(&both)
		return record(both[0].(map[string]any))
	}
	if x := seen(lin.browser); fmt.Sprint(x["timer"]) != fmt.Sprint(timer) || x.text("now") == "" {
		t.Errorf("the codelab has %v", x)
	}
	if x := seen(open(t, c.addr)); x["timer"] != nil || x["now"] != nil {
		t.Errorf("a stranger sees %v", x)
	}
	for what, bad := range map[string]record{"seconds or ends_at is required": {}, "not both": {"seconds": 60, "ends_at": "2030-01-01T00:00:00Z"}, "kind": {"seconds": 60, "kind": "nap"}, "ends_at": {"ends_at": "soon"}} {
		c.admin.put(c.path+"/timer", bad).refused(400, what)
	}
	lin.put(c.path+"/timer", record{"seconds": 60}).refused(403)
	c.admin.put(c.path+"/timer", record{"seconds": nil}).want(200)
	if m := own.next("timer_changed"); m["timer"] != nil {
		t.Errorf("received %v", m)
	}
}

// A copied poll keeps its step, but has no votes. Questions of attendees are not copied.
func TestCopiesAndArchivesContainThePollsAsDrafts(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, common.get(t).Addr(), record{"questions": "open", "questions_anonymous": false})
	lin := c.attendee("Lin")
	poll := c.poll(record{"kind": "several", "question": "Which?", "options": []string{"a", "b"}, "step_id": c.steps[1], "right": []int{1}})
	lin.vote(c, poll, record{"choice": []int{0, 1}}).want(200)
	lin.post(c.path+"/questions", record{"text": "Why?"}).want(200)
	zip := c.admin.get(c.path + "/export").want(200).body
	for name, id := range map[string]string{
		"copy":   c.admin.post(c.path+"/copy", nil).want(200).object().text("id"),
		"import": c.admin.sendFile("/codelabs/import", "lab.zip", zip).want(200).object().text("id"),
	} {
		other := *c
		other.id, other.path = id, "/codelabs/"+id
		polls := c.admin.get(other.path + "/polls").want(200).list()
		if len(polls) != 1 || polls[0].text("state") != "draft" || polls[0]["votes"] != float64(0) || fmt.Sprint(polls[0]["right"]) != "[1]" {
			t.Fatalf("%s: the polls are %v", name, polls)
		}
		if steps := other.readSteps(); polls[0]["step_id"] != steps[1]["id"] {
			t.Errorf("%s: the poll belongs to the step %v", name, polls[0]["step_id"])
		}
		if meta := other.meta(); meta.text("questions") != "open" || meta["questions_anonymous"] != false {
			t.Errorf("%s: the settings are %v", name, meta)
		}
		if n := len(c.admin.get(other.path + "/questions").list()); n != 0 {
			t.Errorf("%s has %d questions, want 0", name, n)
		}
	}
}
