package simulation

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/anishathalye/porcupine"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/codelab/oracle"
)

// reporter is the name under which findings are reported.
const reporter = "ORACLE"

// model records committed and acknowledged changes, and compares the nodes' views with them. It
// contains no rules. For each person and message, the model records only the position from which it
// must exist, and the position from which it must be gone. reference_test.go derives everything
// else by applying the events in order.
type model struct {
	w *world

	mu  sync.Mutex
	log string // name of the codelab's log
	// records contains the committed records in their original form. Later rewrites and truncations
	// do not change them.
	records [][]byte
	// ends contains the positions at which a commit ended. Positions in between are never visible.
	ends   map[uint64]bool
	people map[string]*fact // by id
	// messages contains the chat messages, by id.
	messages map[string]*fact
	// views contains the hash of the view at each position, and the place where it was read.
	views map[uint64]seen
	acked uint64 // the highest position acknowledged to anybody
	// removed contains names and texts of removed people, and deleted texts. All of them must be
	// erased.
	removed []string
	// names counts how many people had each name, because a new person can reuse a removed person's
	// name.
	names   map[string]int
	deleted []string // ids of deleted codelabs; all their data must be removed
	// taken contains messages that became, or may have become, a question to all. Such a question
	// stays when its message is deleted. It is removed together with its author.
	taken map[string]bool
	// operations contains the responses to clients, for the linearizability check.
	operations []porcupine.Operation
	// rules contains the models of the codelab's rules. whole contains some of the views that nodes
	// showed, for a field-by-field comparison.
	rules     *oracle.Codelab
	whole     []wholeView
	listeners []*listener
	open      connections
	// quiet is closed when listeners must leave.
	quiet   chan struct{}
	failure string // the first failure
}

// fact describes a person or a message by the commands about it.
type fact struct {
	names []string
	since uint64 // the position of its acknowledged creation, or 0
	// ending means that a command to remove the object was sent, so the object can be gone.
	ending bool
	// gone is the position of its acknowledged removal, or 0.
	gone uint64
	of   [2]string // the message's author and recipient
	// simulated means that the person belongs to a rehearsal.
	simulated bool
}

// wholeView is a node's view at a position.
type wholeView struct {
	where string
	seq   uint64
	view  *codelab.View
}

type seen struct {
	sum   [32]byte
	where string
}

func newModel(w *world) *model {
	return &model{w: w, rules: oracle.New(), ends: map[uint64]bool{}, names: map[string]int{}, quiet: make(chan struct{}), people: map[string]*fact{}, messages: map[string]*fact{}, taken: map[string]bool{}, views: map[uint64]seen{}}
}

// begin sets the codelab of the run. Its first event is already committed.
func (m *model) begin(lab string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log = "codelab/" + lab
	m.records = m.records[:min(1, len(m.records))]
}

// committed is called by the store for each batch, before any other call. It verifies that
// successive owners write each position once, without gaps.
func (m *model) committed(node, actor string, first uint64, records [][]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.log == "" && first == 1 { // the codelab is being created
		m.records = slices.Clone(records)
		return
	}
	if actor != m.log {
		return
	}
	if want := uint64(len(m.records)) + 1; first != want {
		m.failLocked("acknowledged", "%s committed position %d, but the next is %d: a record was lost", node, first, want)
		return
	}
	for _, r := range records {
		m.records = append(m.records, slices.Clone(r))
		m.rehearsed(uint64(len(m.records)))
	}
	m.ends[uint64(len(m.records))] = true
}

// rehearsed records simulated people, and their removal with the rehearsal. No client requests this
// removal. It takes effect with the commit.
func (m *model) rehearsed(seq uint64) {
	e, err := m.event(seq)
	if err != nil {
		return // the reference reports it
	}
	switch b := e.Body.(type) {
	case *pb.Event_Registered:
		if b.Registered.Attendee.Simulated {
			of(m.people, b.Registered.Attendee.Id).simulated = true
		}
	case *pb.Event_Removed:
		f := of(m.people, b.Removed.AttendeeId)
		if !f.simulated || f.gone > 0 {
			return
		}
		m.leaves(b.Removed.AttendeeId)
		f.gone = seq
		m.removed = append(m.removed, f.names...)
	}
}

// leaves records that a person and the person's messages can disappear from now on.
func (m *model) leaves(id string) {
	of(m.people, id).ending = true
	for _, f := range m.messages {
		f.ending = f.ending || f.of[0] == id || f.of[1] == id
	}
}

// fail records an oracle's finding. Only the first finding counts.
func (m *model) fail(which, format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failLocked(which, format, args...)
}

func (m *model) failLocked(which, format string, args ...any) {
	text := which + ": " + fmt.Sprintf(format, args...)
	m.w.history.add(reporter, "", "%s", text)
	if m.failure == "" {
		m.failure = text
		close(m.w.ended)
	}
}

func (m *model) failed() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failure
}

// position returns the position that a read must reach if it begins now.
func (m *model) position() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.acked
}

// acknowledged records that a command was executed, and compares it with the store. A response
// never precedes its commit.
func (m *model) acknowledged(where string, seq uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acked = max(m.acked, seq)
	if seq > uint64(len(m.records)) {
		m.failLocked("acknowledged", "%s acknowledged position %d, but only %d is committed", where, seq, len(m.records))
	}
}

// of returns the fact with this id, and creates it if it is missing. A client can see and remove an
// object before the creator gets the response.
func of(facts map[string]*fact, id string) *fact {
	f := facts[id]
	if f == nil {
		f = &fact{}
		facts[id] = f
	}
	return f
}

// asking records the possible effects of a command before it is sent.
func (m *model) asking(cmd codelab.Command) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rules.Saying(cmd)
	asked, _ := cmd.Body.(codelab.AskQuestion)
	if cmd.Caller.Role == codelab.RoleAttendee && !asked.Anonymous { // an anonymous question stays without its author
		for _, text := range marks.FindAllString(fmt.Sprintf("%+v", cmd.Body), -1) {
			m.named(cmd.Caller.ID, text) // the text is removed with its author
		}
	}
	switch b := cmd.Body.(type) {
	case codelab.Register:
		m.names[b.Name]++
	case codelab.Rename:
		m.names[b.Name]++ // a person can take the name of a simulated attendee
		m.named(b.AttendeeID, b.Name)
	case codelab.Remove:
		m.leaves(b.AttendeeID)
	case codelab.DeleteChat:
		of(m.messages, b.MessageID).ending = true
	case codelab.TakeQuestion:
		m.taken[b.ChatID] = true
	}
}

// answeredWith records the effect of an acknowledged command. If value is nil, the command had
// already been executed by an earlier request. deleted contains the texts that the command removes.
func (m *model) answeredWith(cmd codelab.Command, value any, seq uint64, deleted []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b, ok := cmd.Body.(codelab.DeleteChat); !ok || !m.taken[b.MessageID] {
		m.removed = append(m.removed, deleted...)
	}
	if value == nil {
		return
	}
	switch b := cmd.Body.(type) {
	case codelab.Register:
		id := value.(codelab.Registration).Attendee.Id
		m.named(id, b.Name)
		of(m.people, id).since = seq
	case codelab.PostChat:
		f := of(m.messages, value.(*pb.ChatMessage).Id)
		f.since, f.of = seq, [2]string{cmd.Caller.ID, b.TargetID}
		f.ending = f.ending || of(m.people, f.of[0]).ending || f.of[1] != "" && of(m.people, f.of[1]).ending
	case codelab.Remove:
		if f := of(m.people, b.AttendeeID); f.gone == 0 {
			f.gone = seq
			m.removed = append(m.removed, f.names...)
		}
	case codelab.DeleteChat:
		if f := of(m.messages, b.MessageID); f.gone == 0 {
			f.gone = seq
		}
	}
}

// refused records that a command was not executed.
func (m *model) refused(cmd codelab.Command) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rules.Refused(cmd)
}

// textsOf returns the texts that a command itself deletes.
func textsOf(body codelab.Body, v *codelab.View) (texts []string) {
	switch b := body.(type) {
	case codelab.DeleteChat:
		texts = append(texts, marks.FindAllString(v.ChatMessage(b.MessageID).GetMessage(), -1)...)
	case codelab.DeleteComment:
		for _, c := range v.Thread(b.ThreadID).GetMessages() {
			if c.Id == b.CommentID {
				texts = append(texts, marks.FindAllString(c.Message, -1)...)
			}
		}
	case codelab.DeleteSubmission:
		for _, work := range v.Submissions.All() {
			if work.Id == b.SubmissionID {
				texts = append(texts, work.FileName)
			}
		}
	case codelab.DeleteQuestion:
		texts = append(texts, askedIn(v, b.QuestionID)...)
	case codelab.MergeQuestion:
		texts = append(texts, askedIn(v, b.QuestionID)...)
	}
	return texts
}

// askedIn returns the text of a question. It returns nothing if the question was taken from the
// chat, because the chat message contains the same text.
func askedIn(v *codelab.View, id string) []string {
	if q := v.Question(id); q != nil && strings.HasPrefix(q.Text, "asked-") {
		return []string{q.Text}
	}
	return nil
}

// keep stores a view for a field-by-field comparison.
func (m *model) keep(where string, v *codelab.View, seq uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.whole = append(m.whole, wholeView{where, seq, v})
}

// named records a name that a person has or is about to get, or a text by that person.
func (m *model) named(id, name string) {
	f := of(m.people, id)
	if f.names = append(f.names, name); f.gone > 0 {
		m.removed = append(m.removed, name)
	}
}

// deletedLab records the deletion of a codelab that a client created.
func (m *model) deletedLab(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deleted = append(m.deleted, id)
}

// checkView applies the checks "acknowledged", "removed" and "same view" to a view. The view
// contains every person and message acknowledged up to its position, unless they were removed. All
// nodes show the same view at the same position.
func (m *model) checkView(where string, v *codelab.View, seq uint64) {
	if v == nil {
		return
	}
	state, err := codelab.EncodeState(v)
	if err != nil {
		m.fail("view", "%s: %v", where, err)
		return
	}
	sum := sha256.Sum256(state)
	m.mu.Lock()
	defer m.mu.Unlock()
	if before, ok := m.views[seq]; !ok {
		m.views[seq] = seen{sum, where}
	} else {
		if before.sum != sum {
			m.failLocked("same view", "at position %d %s shows another state than %s", seq, where, before.where)
		}
		return // this view was already checked, and checkReference compares it with all events
	}
	for id, f := range m.people {
		m.checkFact(where, "attendee "+id, f, v.Attendee(id) != nil, seq)
	}
	for id, f := range m.messages {
		m.checkFact(where, "message "+id, f, v.ChatMessage(id) != nil, seq)
	}
}

func (m *model) checkFact(where, what string, f *fact, there bool, seq uint64) {
	switch {
	case f.gone > 0 && seq >= f.gone && there:
		m.failLocked("removed", "%s at position %d shows %s, which was removed at %d", where, seq, what, f.gone)
	case f.since > 0 && !f.ending && seq >= f.since && !there:
		m.failLocked("acknowledged", "%s at position %d lacks %s, acknowledged at %d", where, seq, what, f.since)
	}
}

// event decodes a committed record.
func (m *model) event(seq uint64) (*pb.Event, error) { return codelab.ParseEvent(m.records[seq-1]) }
