//go:build linux

package workshop

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"atelier/bench/api"
)

// truth is the server's state after the run, as a node returns it.
type truth struct {
	chat, comments []int // how often each message of the run occurs, by number
	// attendees are keyed by name; the run's names are unique.
	attendees map[string][]api.Attendee
	openHelp  map[string]bool // by id
}

// readAgain is the pause between attempts to read from a node, which can just be restarting.
// readTries is the maximum number of attempts per node.
const (
	readAgain = time.Second
	readTries = 30
)

// readBackAll reads the state from every node. It reports a difference from the first node as a
// fault, because one of the two must be wrong.
func (r *run) readBackAll() (*truth, error) {
	var first *truth
	for n := range r.clients.Size() {
		var t *truth
		var err error
		for range readTries {
			if t, err = r.readBack(r.clients.Node(n)); err == nil {
				break
			}
			if r.clients.Size() == 1 && len(r.cfg.Faults) == 0 { // nothing restarts the server
				return nil, err
			}
			time.Sleep(readAgain)
		}
		switch name := r.crowd.names[n]; {
		case err != nil:
			return nil, fmt.Errorf("node %s: %w", name, err)
		case first == nil:
			first = t
		case !reflect.DeepEqual(first, t):
			r.result.Faults = append(r.result.Faults, fmt.Sprintf("node %s returns a different state than node %s: %s", name, r.crowd.names[0], first.differs(t)))
		}
	}
	return first, nil
}

// differs names the parts in which the states of two nodes differ.
func (t *truth) differs(o *truth) string {
	var in []string
	for _, part := range []struct {
		name string
		same bool
	}{
		{"chat", slices.Equal(t.chat, o.chat)}, {"comments", slices.Equal(t.comments, o.comments)},
		{"attendees", reflect.DeepEqual(t.attendees, o.attendees)}, {"help", maps.Equal(t.openHelp, o.openHelp)},
	} {
		if !part.same {
			in = append(in, part.name)
		}
	}
	return strings.Join(in, ", ")
}

// readBack reads from a node everything that the run has written.
func (r *run) readBack(client *api.Client) (*truth, error) {
	c := r.crowd
	lab := "/codelabs/" + c.lab.ID
	t := &truth{
		chat: make([]int, len(c.chat.messages)), comments: make([]int, len(c.comment.fates)),
		attendees: map[string][]api.Attendee{}, openHelp: map[string]bool{},
	}
	if err := r.readChat(client, t); err != nil {
		return nil, err
	}
	var threads []api.Thread
	if err := client.Get(r.admin, lab+"/inline-comments", &threads); err != nil {
		return nil, err
	}
	for _, thread := range threads {
		for _, m := range thread.Messages {
			if n := c.chat.number([]byte(m.Message), len(t.comments)); n >= 0 {
				t.comments[n]++
			}
		}
	}
	var attendees []api.Attendee
	if err := client.Get(r.admin, lab+"/attendees", &attendees); err != nil {
		return nil, err
	}
	for _, a := range attendees {
		t.attendees[a.Name] = append(t.attendees[a.Name], a)
	}
	var help []api.HelpRequest
	if err := client.Get(r.admin, lab+"/help", &help); err != nil {
		return nil, err
	}
	for _, h := range help {
		t.openHelp[h.ID] = true
	}
	return t, nil
}

// readChat counts how often each message of the run occurs in the history.
func (r *run) readChat(client *api.Client, t *truth) error {
	return client.History(r.admin, r.crowd.lab.ID, func(m api.ChatMessage) {
		if n := r.crowd.chat.number([]byte(m.Message), len(t.chat)); n >= 0 {
			t.chat[n]++
		}
	})
}
