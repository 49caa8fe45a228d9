package acceptance

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// graduate registers an attendee who completes the codelab, and returns the attendee and the
// certificate.
func (c *class) graduate(name string) (*person, record) {
	c.t.Helper()
	p := c.attendee(name)
	p.post(c.path+"/complete", nil).want(200)
	return p, open(c.t, c.addr).get("/certificates/" + p.id).object()
}

// certified returns the certificate settings in a record.
func certified(m record) string {
	return fmt.Sprintf("%v|%v|%v|%v|%v|%v", m["organiser"], m["hours"], m["logo_url"] != nil, m["accent"], m["certificate_text"], m["seal"])
}

func TestACertificateShowsTheSettingsOfItsCodelab(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.admin.put(c.path+"/steps", record{"steps": []record{stepOf("a", 40), stepOf("b", 35)}}).want(200)
	lin, plain := c.graduate("Lin")
	if got := certified(plain); got != "|1.5|false|blue||false" || plain.number("steps") != 2 || plain["shares"] != nil {
		t.Errorf("by default, the certificate has %q", got)
	}
	read := func() record { return lin.get("/certificates/" + lin.id).object() }
	logo := c.admin.sendFile("/upload/image", "a.png", pixel(11)).object().text("url")
	all := record{"organiser": " Go Bern ", "hours": 2.5, "logo_url": logo, "accent": "rust", "certificate_text": "Goroutines and channels.", "seal": true}
	if got := c.admin.put(c.path, all).object(); got.text("organiser") != "Go Bern" || got["hours"] != 2.5 || got.text("logo_url") != logo || got.text("accent") != "rust" || got["seal"] != true {
		t.Errorf("the codelab has %v", got)
	}
	got := read()
	if certified(got) != "Go Bern|2.5|true|rust|Goroutines and channels.|true" {
		t.Errorf("the certificate settings are %q, want \"Go Bern|2.5|true|rust|Goroutines and channels.|true\"", certified(got))
	}
	if shares, _ := got["shares"].([]any); len(shares) != 2 {
		t.Errorf("the shares are %v", got["shares"])
	}
	for _, x := range []struct {
		change record
		hours  any
	}{
		{record{"title": "another"}, 2.5}, {record{"hours": 0}, nil}, {record{"hours": nil}, 1.5}, {record{"hours": 1000}, 1000.0},
	} {
		c.admin.put(c.path, x.change).want(200)
		if got := read(); got["hours"] != x.hours {
			t.Errorf("after %v, the hours are %v", x.change, got["hours"])
		}
	}
	c.admin.put(c.path, record{"hours": nil}).want(200)
	c.admin.put(c.path+"/steps", record{"steps": []record{stepOf("a", 14)}}).want(200)
	if got := read(); got["hours"] != nil || got.number("steps") != 1 {
		t.Errorf("for 14 minutes, the certificate has %v", got)
	}
	c.admin.put(c.path, record{"logo_url": nil, "seal": false, "organiser": "", "certificate_text": ""}).want(200)
	if got := read(); got["logo_url"] != nil || got["shares"] != nil || got.text("organiser") != "" {
		t.Errorf("after the settings were removed, the certificate has %v", got)
	}
}

// The shares of a person's time add up to 100 percent, and each is close to the measured time.
func TestTheSharesOfAPersonsTimeAddUpTo100(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.admin.put(c.path, record{"seal": true}).want(200)
	c.admin.put(c.path+"/steps", record{"steps": []record{stepOf("a", 0), stepOf("b", 0), stepOf("c", 0)}}).want(200)
	lin := c.attendee("Lin")
	s := lin.connect(c.id, "")
	for i := 2; i <= 3; i++ {
		time.Sleep(20 * time.Millisecond)
		s.acked(record{"type": "step_progress", "step_number": i}, fmt.Sprint(i))
	}
	lin.post(c.path+"/complete", nil).want(200)
	steps, _ := c.admin.get(c.path + "/attendees/" + lin.id + "?details=true").object()["steps"].([]any)
	shares, _ := lin.get("/certificates/" + lin.id).object()["shares"].([]any)
	if len(steps) != 3 || len(shares) != 3 {
		t.Fatalf("the shares are %v, the times %v", shares, steps)
	}
	all, sum := 0.0, 0.0
	spent := func(i int) float64 {
		seconds, _ := steps[i].(map[string]any)["seconds"].(float64)
		return seconds
	}
	for i := range steps {
		all += spent(i)
		sum += shares[i].(float64)
	}
	for i, share := range shares {
		if exact := 100 * spent(i) / all; i < 2 && spent(i) == 0 || math.Abs(share.(float64)-exact) > 1.001 {
			t.Errorf("the share of step %d is %v, want %.1f", i+1, share, exact)
		}
	}
	if sum != 100 {
		t.Errorf("the shares are %v", shares)
	}
}

func TestInvalidCertificateSettingsAreRefused(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	noise := image.NewGray(image.Rect(0, 0, 600, 600))
	for i := range noise.Pix {
		noise.Pix[i] = byte(rand.Uint32())
	}
	var b bytes.Buffer
	if err := png.Encode(&b, noise); err != nil {
		t.Fatal(err)
	}
	large := c.admin.sendFile("/upload/image", "a.png", b.Bytes()).object().text("url")
	paper := c.admin.sendFile("/upload/material", "a.txt", []byte("text")).object().text("url")
	bad := []record{
		{"organiser": strings.Repeat("x", 121)}, {"organiser": 1}, {"certificate_text": strings.Repeat("x", 501)},
		{"hours": -0.5}, {"hours": 1000.5}, {"hours": 1.25}, {"hours": "1"}, {"hours": 1e300}, {"accent": "pink"}, {"accent": 1}, {"seal": "yes"},
		{"logo_url": "https://example.org/a.png"}, {"logo_url": "/uploads/images/" + strings.Repeat("0", 32) + ".png"}, {"logo_url": paper}, {"logo_url": large}, {"logo_url": 1},
	}
	for _, in := range bad {
		a := c.admin.put(c.path, in)
		a.refused(400)
		for field := range in {
			if !strings.Contains(string(a.body), field) {
				t.Errorf("%v is refused with %s", in, a.body)
			}
			made := record{"title": "made", field: in[field]}
			c.admin.post("/codelabs", made).refused(400)
		}
	}
	c.admin.put(c.path, record{"organiser": strings.Repeat("ü", 120), "certificate_text": strings.Repeat("ü", 500), "hours": 0.5}).want(200)
}

// A logo that the import cannot use is left out.
func TestCertificateSettingsAreCopiedAndExported(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, startServer(t, testConfig(t)).Addr(), record{"title": "Travels"})
	logo := c.admin.sendFile("/upload/image", "a.png", pixel(12)).object().text("url")
	made := c.admin.post("/codelabs", record{
		"title": "Made", "organiser": "Go Bern", "hours": 1.5, "logo_url": logo, "accent": "violet", "certificate_text": "Much.", "seal": true,
	}).object()
	path := "/codelabs/" + made.text("id")
	c.admin.put(path+"/steps", record{"steps": []record{stepOf("a", 0)}}).want(200)
	want := certified(made)
	if !strings.Contains(want, "|true|violet|") {
		t.Fatalf("the codelab was created with %s", want)
	}
	if got := c.admin.post(path+"/copy", nil).object(); certified(got) != want || got.text("logo_url") != logo {
		t.Errorf("the copy has %v", got)
	}
	export := c.admin.get(path + "/export").want(200).body
	there := facilitator(t, startServer(t, testConfig(t)).Addr(), "")
	got := there.upload(export).object()
	if certified(got) != want || got.text("logo_url") == logo {
		t.Errorf("the imported codelab has %v", got)
	}
	if a := there.get(got.text("logo_url")).want(200); !bytes.Equal(a.body, c.admin.get(logo).body) {
		t.Error("the imported logo differs")
	}
	_, held := unzipped(t, export)
	for what, doc := range map[string]string{
		"another server's": strings.Replace(held["codelab.json"], logo, "https://example.org/a.png", 1),
		"a missing":        strings.Replace(held["codelab.json"], logo, "/uploads/images/"+strings.Repeat("0", 32)+".png", 1),
		"an invalid":       strings.Replace(held["codelab.json"], logo, "files", 1),
	} {
		got := there.upload(packed(t, "codelab.json", doc, "steps/01.md", held["steps/01.md"])).object()
		if got["logo_url"] != nil || !strings.Contains(fmt.Sprint(got["left_out"]), "logo") {
			t.Errorf("%s logo is imported as %v, and the import left out %v", what, got["logo_url"], got["left_out"])
		}
	}
	there.upload(packed(t, "codelab.json", strings.Replace(held["codelab.json"], "1.5", "1.3", 1), "steps/01.md", held["steps/01.md"])).refused(400)
}

// Facilitators' views and certificates show the time of the deletion, even after a restart.
func TestTheTimeOfTheDeletionIsAnnounced(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Retention.CodelabsDays = 20
	s := startUntilStopped(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	asa := c.assistant("asa-told@example.org")
	lin, first := c.graduate("Lin")
	if first["deletion_at"] != nil || c.listed(c.admin)["deletion_at"] != nil {
		t.Errorf("before the end, deletion_at is %v and %v", first["deletion_at"], c.listed(c.admin)["deletion_at"])
	}
	ended := c.admin.post(c.path+"/end", nil).object()
	end, err := time.Parse(time.RFC3339, ended.text("ended_at"))
	if err != nil {
		t.Fatal(err)
	}
	want := end.AddDate(0, 0, 20).UTC().Format("2006-01-02T15:04:05.000Z")
	check := func(what string) {
		t.Helper()
		var both []any
		c.admin.get(c.path).into(&both)
		for who, m := range map[string]record{
			"the codelab": record(both[0].(map[string]any)), "the list": c.listed(c.admin), "an assistant's list": c.listed(asa.browser),
			"the certificate": open(t, c.addr).get("/certificates/" + lin.id).object(),
		} {
			if m.text("deletion_at") != want {
				t.Errorf("%s: deletion_at in %s is %v, want %s", what, who, m["deletion_at"], want)
			}
		}
		if _, there := c.listed(lin.browser)["deletion_at"]; there {
			t.Errorf("%s: attendees see deletion_at in the list", what)
		}
	}
	check("ended")
	for _, b := range []*browser{c.admin, asa.browser, lin.browser} {
		b.http.CloseIdleConnections()
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	c.addr = startServer(t, cfg).Addr()
	c.admin.base, asa.base, lin.base = "http://"+c.addr, "http://"+c.addr, "http://"+c.addr
	check("after a restart")
	if got := c.admin.post(c.path+"/end", record{"ended": false}).object(); got["deletion_at"] != nil {
		t.Errorf("after reopening, deletion_at is %v", got["deletion_at"])
	}
	if got := open(t, c.addr).get("/certificates/" + lin.id).object(); got["deletion_at"] != nil {
		t.Errorf("after reopening, deletion_at of the certificate is %v", got["deletion_at"])
	}
}
