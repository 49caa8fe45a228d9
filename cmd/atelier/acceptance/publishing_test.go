package acceptance

import (
	"fmt"
	"strings"
	"testing"
)

// chapters returns a claat file with steps given as "Title" or "Title=text".
func chapters(id string, steps ...string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "id: %s\nsummary: S\n\n# Guided tour\n", id)
	for _, s := range steps {
		title, text, _ := strings.Cut(s, "=")
		fmt.Fprintf(&b, "\n## %s\nDuration: 5\n\n%s\n", title, text)
	}
	return []byte(b.String())
}

func (b *browser) publish(query string, file []byte) answer {
	b.t.Helper()
	return b.sendFile("/codelabs/import?"+query, "tour.md", file)
}

// changes returns the steps of a response in short form: "Title change".
func changes(r record) string {
	var out []string
	for _, s := range r["steps"].([]any) {
		st := record(s.(map[string]any))
		out = append(out, st.text("title")+" "+st.text("change"))
	}
	return strings.Join(out, ", ")
}

func TestPublishingAFileUpdatesItsCodelab(t *testing.T) {
	t.Parallel()
	b := facilitator(t, common.get(t).Addr(), "")
	tour := fmt.Sprint("tour-", t.Name())
	first := b.publish("match=1", chapters(tour, "One", "Two", "Three")).object()
	if first["created"] != true || first.text("slug") != tour {
		t.Fatalf("the first publication returned %v", first)
	}
	c := &class{t: t, addr: common.get(t).Addr(), admin: b, id: first.text("id"), path: "/codelabs/" + first.text("id")}
	if c.meta().text("slug") != tour {
		t.Error("GET does not return the slug")
	}
	steps := c.readSteps()
	lin, max := c.attendee("Lin"), c.attendee("Max")
	lin.post(c.path+"/messages", record{"type": "step_progress", "step_number": 3}).want(200)
	max.post(c.path+"/messages", record{"type": "step_progress", "step_number": 2}).want(200)
	watch := lin.connect(c.id, "")

	next := chapters(tour, "Zero=new", "One", "Three=other")
	dry := b.publish("match=1&dry_run=1", next).object()
	if got := changes(dry); got != "Zero changed, One moved, Three changed" && got != "Zero added, One same, Three changed, Two removed" {
		t.Errorf("the dry run reports %s", got)
	}
	// The dry run names the step that a new step replaces, and the previous id of the codelab.
	dry = b.publish("into="+c.id+"&dry_run=1", chapters(tour+"-2", "One", "Brand new", "Three")).object()
	if st := record(dry["steps"].([]any)[1].(map[string]any)); st.text("was") != "Two" || dry.text("slug_was") != tour || dry["title_was"] != nil {
		t.Errorf("the dry run reports %v", dry)
	}
	next = chapters(tour, "One", "Three=other")
	dry = b.publish("into="+c.id+"&dry_run=1", next).object()
	if got := changes(dry); got != "One same, Three changed, Two removed" || dry.number("people_on_removed_steps") != 1 || dry["created"] != false {
		t.Errorf("the dry run reports %s: %v", got, dry)
	}
	if got := c.readSteps(); len(got) != 3 {
		t.Fatal("a dry run changed the steps")
	}
	done := b.publish("into="+c.id, next).object()
	if changes(done) != changes(dry) || done["created"] != false || done.text("id") != c.id {
		t.Errorf("the publication returned %v", done)
	}
	watch.next("steps_changed")
	after := c.readSteps()
	if len(after) != 2 || after[0].text("id") != steps[0].text("id") || after[1].text("id") != steps[2].text("id") {
		t.Errorf("the steps are %v", after)
	}
	for _, a := range b.get(c.path + "/attendees").list() {
		if want := map[string]int{"Lin": 2, "Max": 1}[a.text("name")]; a.number("current_step") != want {
			t.Errorf("%s is on step %v, want %v", a.text("name"), a["current_step"], want)
		}
	}
	if again := b.publish("match=1", next).object(); changes(again) != "One same, Three same" || again.text("id") != c.id {
		t.Errorf("publishing the same again returned %v", again)
	}
	if got := c.audited(); got[0] != "codelab_publish" {
		t.Errorf("the audited actions are %v", got)
	}
}

func TestInvalidPublicationsAreRefused(t *testing.T) {
	t.Parallel()
	b := facilitator(t, common.get(t).Addr(), "")
	one := b.publish("match=1", chapters("one-"+t.Name(), "One")).object()
	file := chapters("two-"+t.Name(), "Two")
	b.publish("match=1&into="+one.text("id"), file).refused(400, "not both")
	b.publish("dry_run=1", file).refused(400, "into or match")
	b.publish("match=perhaps", file).refused(400, "match")
	// A request with a misspelt dry_run is refused and publishes nothing.
	b.publish("match=1&dryrun=1", file).refused(400, "dryrun", "dry_run")
	b.publish("into=00000000-0000-0000-0000-000000000000", file).refused(404)
	b.publish("match=1", packed(t, "codelab.json", `{"format":"atelier-codelab","format_version":1,"title":"T"}`, "steps/01.md", "---\ntitle: A\n---\nx")).refused(400, "no id")
	b.publish("into="+one.text("id"), []byte("not a tutorial")).refused(400)

	// If the id belongs to another codelab, the file is published without the id.
	other := b.upload(chapters("three-"+t.Name(), "Three")).object()
	into := b.publish("into="+other.text("id"), chapters("one-"+t.Name(), "Four")).object()
	if into.text("slug") != "three-"+t.Name() || len(into["left_out"].([]any)) != 1 {
		t.Errorf("the publication returned %v", into)
	}
	// A second import of the same file creates another codelab, which has no id and cannot be
	// matched.
	twice := b.upload(chapters("one-"+t.Name(), "One")).object()
	if twice["slug"] != nil || twice.text("id") == one.text("id") {
		t.Errorf("the import returned %v", twice)
	}
	// After the codelab is deleted, its id is available.
	b.delete("/codelabs/" + one.text("id")).want(204)
	if again := b.publish("match=1", chapters("one-"+t.Name(), "One")).object(); again["created"] != true {
		t.Errorf("the publication returned %v", again)
	}
	lin := open(t, common.get(t).Addr())
	lin.post("/codelabs/"+other.text("id")+"/register", record{"name": "Lin", "code": "x"}).want(200)
	lin.publish("into="+other.text("id"), file).refused(403)
}

// If two pipelines publish a new file at the same time, one of them creates the codelab.
func TestOneOfTwoPipelinesCreatesTheCodelab(t *testing.T) {
	t.Parallel()
	addr := common.get(t).Addr()
	leads := make([]*browser, 6)
	for i := range leads {
		leads[i] = facilitator(t, addr, "")
	}
	status := make([]int, len(leads))
	together(len(leads), func(i int) {
		status[i] = leads[i].publish("match=1", chapters("race-"+t.Name(), "One")).status
	})
	n := 0
	for _, m := range leads[0].get("/codelabs").list() {
		if m["slug"] == "race-"+t.Name() {
			n++
		}
	}
	if n != 1 {
		t.Errorf("there are %d codelabs with one id, statuses %v", n, status)
	}
}

// A picture keeps its address, so a version with the same pictures causes no changes.
func TestUnchangedPicturesKeepTheirAddress(t *testing.T) {
	t.Parallel()
	b := facilitator(t, common.get(t).Addr(), "")
	file := packed(t, "tour.md", string(chapters("pictures-"+t.Name(), "One=![](a.png)", "Two")), "a.png", string(onePixel))
	first := b.publish("match=1", file).object()
	if again := b.publish("match=1", file).object(); changes(again) != "One same, Two same" {
		t.Errorf("publishing again returned %v", again)
	}
	export := b.get("/codelabs/" + first.text("id") + "/export").want(200).body
	if again := b.publish("match=1&dry_run=1", export).object(); changes(again) != "One same, Two same" {
		t.Errorf("the codelab's own export counts as another version: %v", again)
	}
}

// If a picture occurs under two names, each name is a separate file that stays in its place.
func TestAPictureUnderTwoNamesStaysInBothPlaces(t *testing.T) {
	t.Parallel()
	b := facilitator(t, common.get(t).Addr(), "")
	id := "twins-" + t.Name()
	text := chapters(id, "One=![](b.png)", "Two=![](a.png)", "Three=![](c.png)")
	file := packed(t, "tour.md", string(text), "a.png", string(onePixel), "b.png", string(onePixel), "c.png", string(onePixel))
	made := b.publish("match=1", file).object()
	for range 2 {
		if again := b.publish("match=1", file).object(); changes(again) != "One same, Two same, Three same" {
			t.Errorf("publishing again returned %s", changes(again))
		}
	}
	export := b.get("/codelabs/" + made.text("id") + "/export").want(200).body
	if again := b.publish("match=1&dry_run=1", export).object(); changes(again) != "One same, Two same, Three same" {
		t.Errorf("the codelab's own export counts as another version: %s", changes(again))
	}
}

func TestARunIsUpdatedFromItsSource(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.setSteps("One", "Two")
	c.quizzes(choice("q", 1))
	c.workspace("branch", record{"path": "a.txt", "content": "first"})
	run := c.copied()
	if run.meta().text("source_id") != c.id || c.meta()["source_id"] != nil {
		t.Error("the copy has no source_id, or the source has one")
	}
	if got := c.admin.get("/codelabs?source_id=" + c.id).list(); len(got) != 1 || got[0].text("id") != run.id {
		t.Errorf("the runs are %v", got)
	}
	lin := run.attendee("Lin")
	lin.post(run.path+"/quizzes/submit", record{"submissions": []record{{"quiz_id": run.admin.get(run.path + "/quizzes").list()[0].text("id"), "answer": "1"}}}).want(200)

	c.admin.put(c.path, record{"title": "Newer"}).want(200)
	c.setSteps("One", "Two", "Three")
	c.quizzes(choice("q", 1), choice("r", 1))
	c.admin.post(c.code()+"/branches/main/files", record{"files": []record{{"path": "a.txt", "content": "second"}}}).want(200)
	run.admin.post(run.code()+"/branch", record{"step_number": 1, "branch_type": "end", "from": "main"}).want(200)
	c.admin.post(c.code()+"/branch", record{"step_number": 1, "branch_type": "start", "from": "main"}).want(200)
	run.admin.post(run.path+"/update-from-source?dryrun=1", nil).refused(400, "dryrun")
	dry := run.admin.post(run.path+"/update-from-source?dry_run=1", nil).object()
	if got := changes(dry); !strings.HasSuffix(got, "Three added") || len(run.readSteps()) != 2 || dry["title_was"] == nil {
		t.Errorf("the dry run reports %s: %v", got, dry)
	}
	if got := fmt.Sprint(dry["code"]); got != "[map[change:changed name:main] map[change:added name:step-1-start] map[change:removed name:step-1-end]]" {
		t.Errorf("the dry run reports the code changes %s", got)
	}
	run.admin.post(run.path+"/update-from-source", nil).want(200)
	if len(run.readSteps()) != 3 || run.meta().text("title") != "Newer" {
		t.Errorf("the run is %v", run.meta())
	}
	if got := string(run.admin.get(run.code() + "/branches/main/file?file=a.txt").want(200).body); got != "second" {
		t.Errorf("the code of the run is %q, want second", got)
	}
	runs := c.admin.get(c.path + "/runs").list()
	if len(runs) != 1 || runs[0].number("attendees") != 1 || len(runs[0]["quizzes"].([]any)) != 2 {
		t.Errorf("the runs are %v", runs)
	}
	if share := record(runs[0]["quizzes"].([]any)[0].(map[string]any))["share_right"]; share != 1.0 {
		t.Errorf("the share of right answers is %v", share)
	}
	if both := c.admin.get(c.path + "/runs?itself=1").list(); len(both) != 2 || both[1].text("id") != c.id {
		t.Errorf("with itself=1, the runs are %v", both)
	}
	c.admin.post(c.path+"/update-from-source", nil).refused(409, "not a copy")
	c.admin.delete(c.path).want(204)
	// Another node receives the change a moment later.
	c.eventually("the source is deleted and not listed", func() bool { return run.meta()["source_id"] == nil })
	run.admin.post(run.path+"/update-from-source", nil).refused(409, "no longer exists")
}

// A refused file can be corrected and sent again, because its id is still available.
func TestARefusedFileDoesNotReserveItsID(t *testing.T) {
	t.Parallel()
	b := facilitator(t, common.get(t).Addr(), "")
	id := "mended-" + t.Name()
	b.publish("match=1", chapters(id, "One="+strings.Repeat("x", 50_001))).refused(400, "more than the limit of 50000")
	if made := b.publish("match=1", chapters(id, "One=x")).object(); made["created"] != true || made.text("slug") != id {
		t.Errorf("the publication returned %v", made)
	}

	// A refused file does not give its id to the codelab into which it was published.
	id = "elsewhere-" + t.Name()
	c := newClass(t)
	b.publish("into="+c.id, chapters(id, "One="+strings.Repeat("x", 50_001))).refused(400, "more than the limit of 50000")
	if made := b.publish("match=1", chapters(id, "One=x")).object(); made["created"] != true || made.text("id") == c.id {
		t.Errorf("the publication returned %v", made)
	}
}

func TestSurveysBecomePollsOnce(t *testing.T) {
	t.Parallel()
	b := facilitator(t, common.get(t).Addr(), "")
	const form = "<form>\n<name>%s</name>\n<input type=\"radio\" value=\"Yes\">\n<input type=\"radio\" value=\"No\">\n</form>"
	ready, again := fmt.Sprintf(form, "Ready?"), fmt.Sprintf(form, "Again?")
	tour := "tour-" + t.Name()
	first := b.publish("match=1", chapters(tour, "One", "Two="+ready)).object()
	if left := fmt.Sprint(first["left_out"]); left != "[]" && left != "<nil>" {
		t.Errorf("the publication left out %s", left)
	}
	c := &class{t: t, addr: common.get(t).Addr(), admin: b, id: first.text("id"), path: "/codelabs/" + first.text("id")}
	polls := b.get(c.path + "/polls").list()
	if len(polls) != 1 || polls[0].text("question") != "Ready?" || polls[0].text("kind") != "choice" || polls[0].text("state") != "draft" || polls[0].text("step_id") != c.readSteps()[1].text("id") {
		t.Fatalf("the polls are %v", polls)
	}
	if text := c.readSteps()[1].text("content_markdown"); strings.Contains(text, "Ready?") {
		t.Errorf("the step still contains %q", text)
	}
	for text, left := range map[string]int{ready: 0, ready + "\n\n" + again: 1} {
		leftOut := b.publish("match=1", chapters(tour, "One", "Two="+text)).object()["left_out"]
		if list, _ := leftOut.([]any); len(list) != left {
			t.Errorf("for %q, the left-out parts are %v", text, leftOut)
		}
		if n := len(b.get(c.path + "/polls").list()); n != 1 {
			t.Errorf("there are %d polls, want 1", n)
		}
	}
}
