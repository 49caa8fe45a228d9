//go:build linux

package workshop

import (
	"strings"

	"atelier/bench/api"
)

// truth is what the server shows when it is asked afterwards.
type truth struct {
	chat, comments []int // how often each message of the run is there; by number
	// attendees by name; the run's names are unique.
	attendees map[string][]api.Attendee
	openHelp  map[string]bool // by id
}

// readBack asks for everything that the run has written.
func (r *run) readBack() (*truth, error) {
	c := r.crowd
	lab := "/codelabs/" + c.lab.ID
	t := &truth{
		chat: make([]int, len(c.chat.messages)), comments: make([]int, len(c.comment.fates)),
		attendees: map[string][]api.Attendee{}, openHelp: map[string]bool{},
	}
	if err := r.readChat(t); err != nil {
		return nil, err
	}
	var threads []api.Thread
	if err := r.client.Get(r.admin, lab+"/inline-comments", &threads); err != nil {
		return nil, err
	}
	for _, thread := range threads {
		for _, m := range thread.Messages {
			if n := numberAfter(m.Message, c.chat.marker); n >= 0 && n < len(t.comments) {
				t.comments[n]++
			}
		}
	}
	var attendees []api.Attendee
	if err := r.client.Get(r.admin, lab+"/attendees", &attendees); err != nil {
		return nil, err
	}
	for _, a := range attendees {
		t.attendees[a.Name] = append(t.attendees[a.Name], a)
	}
	var help []api.HelpRequest
	if err := r.client.Get(r.admin, lab+"/help", &help); err != nil {
		return nil, err
	}
	for _, h := range help {
		t.openHelp[h.ID] = true
	}
	return t, nil
}

// readChat counts how often each message of the run is in the history.
func (r *run) readChat(t *truth) error {
	return r.client.History(r.admin, r.crowd.lab.ID, func(m api.ChatMessage) {
		if n := numberAfter(m.Message, r.crowd.chat.marker); n >= 0 && n < len(t.chat) {
			t.chat[n]++
		}
	})
}

// numberAfter reads the number after the marker that a text begins with; -1
// without it.
func numberAfter(text string, marker []byte) int {
	digits, ours := strings.CutPrefix(text, string(marker))
	if !ours {
		return -1
	}
	n := 0
	for _, d := range []byte(digits) {
		if d < '0' || d > '9' || n > 1<<40 {
			break
		}
		n = n*10 + int(d-'0')
	}
	return n
}
