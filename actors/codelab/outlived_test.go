package codelab

import (
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/actors/files"
)

// Data is removed when it is older than the codelab's retention for this kind of data. Younger
// data, and data without a retention, stays.
func TestRetentionRemovesOlderData(t *testing.T) {
	const day = 24 * time.Hour
	for _, tc := range []struct {
		name              string
		emails, chat      int32 // days
		later             time.Duration
		noEmail, messages string // people without an e-mail address, and the remaining messages
	}{
		{"no retention is set", 0, 0, 9 * 365 * day, "", "old new"},
		{"e-mail addresses, too young", 2, 0, 2 * day, "", "old new"},
		{"the older e-mail address", 2, 0, 2*day + time.Millisecond, "Ann", "old new"},
		{"all e-mail addresses", 2, 0, 3*day + time.Millisecond, "Ann Bob", "old new"},
		{"chat, too young", 0, 2, 2 * day, "", "old new"},
		{"the older chat message", 0, 2, 2*day + time.Millisecond, "", "new"},
		{"the whole chat", 0, 2, 3*day + time.Millisecond, "", ""},
		{"e-mail addresses and chat", 3, 2, 3*day + time.Millisecond, "Ann", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := newLab()
			l.create(t, "one")
			l.must(t, admin, Update{EmailRetentionDays: &tc.emails, ChatRetentionDays: &tc.chat})
			begin := l.now
			for i, who := range []string{"Ann", "Bob"} {
				l.now = begin.Add(time.Duration(i) * day)
				v := l.must(t, &Caller{Role: RoleAnyone}, Register{Name: who, Email: who + "@example.org"}).(Registration)
				l.must(t, attendeeCaller(v.Attendee), PostChat{Message: []string{"old", "new"}[i]})
			}
			l.now = begin.Add(tc.later)
			before := l.Capture().Changed
			l.must(t, system, ApplyRetention{})
			var noEmail, messages []string
			v := l.Capture()
			for _, a := range v.Attendees.All() {
				if a.Email == "" {
					noEmail = append(noEmail, a.Name)
				}
			}
			for _, m := range v.Chat.All() {
				messages = append(messages, m.Message)
			}
			slices.Sort(noEmail)
			if got := strings.Join(noEmail, " "); got != tc.noEmail || (v.Changed.Attendees != before.Attendees) != (got != "") {
				t.Errorf("without e-mail address: %q, want %q; the version was %d and is %d", got, tc.noEmail, before.Attendees, v.Changed.Attendees)
			}
			if got := strings.Join(messages, " "); got != tc.messages || (v.Changed.Chat != before.Chat) != (got != "old new") {
				t.Errorf("messages %q, want %q; the version was %d and is %d", got, tc.messages, before.Chat, v.Changed.Chat)
			}
			// A second run has nothing to remove.
			if n := l.seq; l.must(t, system, ApplyRetention{}) != nil || l.seq != n {
				t.Error("a second run removed something")
			}
		})
	}
}

// An upload that only an expired message mentions loses its reference with the message.
func TestRetentionReleasesUploads(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	l.must(t, admin, Update{ChatRetentionDays: new(int32(1))})
	l.must(t, register(t, l, "Ann"), PostChat{Message: "see /uploads/" + image})
	use := "uploaduses " + image + " lab " + string(files.ByTalk)
	if !l.uses[use] {
		t.Fatalf("references before the retention: %v", l.uses)
	}
	l.now = l.now.AddDate(0, 0, 2)
	if l.must(t, system, ApplyRetention{}); l.uses[use] {
		t.Errorf("references after the retention: %v", l.uses)
	}
}
