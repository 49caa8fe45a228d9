package acceptance

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atelier/transport/rest"
)

// The test follows the page about personal data. It answers a person's request for their data, and
// then a request to erase the data.
func TestThePageOnPersonalDataIsTrue(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../deploy/PERSONAL_DATA.md")
	if err != nil {
		t.Fatal(err)
	}
	c := newClass(t)
	lin := c.attendee("Lin Erasable")
	lin.post(c.path+"/messages", record{"type": "chat", "message": "a word of Lin's"}).want(200)
	documented := regexp.MustCompile("`(GET|DELETE) (/[^`]*)`").FindAllStringSubmatch(string(page), -1)
	if len(documented) != 4 {
		t.Fatalf("the page lists the operations %q", documented)
	}
	for _, m := range documented {
		if !slices.ContainsFunc(rest.Operations(), func(o rest.Operation) bool { return o.Method == m[1] && o.Path == m[2] }) {
			t.Errorf("there is no operation %s", m[0])
		}
		at := strings.NewReplacer("{id}", c.id, "{attendee_id}", lin.id).Replace(m[2])
		if m[1] == "DELETE" && strings.Contains(at, lin.id) {
			at += "?erase=1"
		}
		answer := c.admin.send(m[1], at, nil)
		if answer.status/100 != 2 {
			t.Errorf("%s returned %d", at, answer.status)
		}
		switch {
		case strings.HasSuffix(m[2], "/attendees"):
			if !strings.Contains(string(answer.body), lin.id) {
				t.Error("the person is not found")
			}
		case strings.HasSuffix(m[2], "/export"):
			if _, files := unzipped(t, answer.body); !strings.Contains(fmt.Sprint(files), "a word of Lin's") {
				t.Error("the export lacks the person's message")
			}
		case strings.HasSuffix(m[2], "{attendee_id}"):
			if chat := string(c.admin.get(c.path + "/chat").body); strings.Contains(chat, "a word of Lin's") {
				t.Error("the person's chat message still exists")
			}
		}
	}
	c.admin.get(c.path).refused(404)
}
