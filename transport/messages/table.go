package messages

import (
	"fmt"
	"reflect"
	"strconv"
	"time"

	"atelier/actors/codelab"
	"atelier/actors/naming"
	"atelier/transport/rest"
)

// row is a message on the wire. describe.go generates the document from the rows and the types of
// their examples.
type row struct {
	from sender
	// name is the name of the message's schema. title and summary are texts for readers of the
	// document.
	name, title, summary string
	// example is a value of the message's type. Its field Type contains the type on the wire.
	example any
	// more contains further members of the example, as JSON. Clients can add such members freely.
	more string
	handling
}

// sender is the sender of a message.
type sender uint8

const (
	server   sender = iota
	relaying        // the server, on behalf of a client
	client
)

// handling states how a client's message is handled. For clients' messages exactly one field is
// set, for others none.
type handling struct {
	// does returns the command for the actor.
	does func(*inbound) (codelab.Body, error)
	// welcome means that the server answers the message with a welcome.
	welcome bool
	// relayed means that the message is sent to others and not stored.
	relayed bool
}

// clientMessages contains the messages that clients can send, by type.
var clientMessages = func() map[string]handling {
	all := map[string]handling{}
	for _, r := range table {
		if r.from == client {
			all[r.kind()] = r.handling
		}
	}
	return all
}()

// kind returns the type on the wire.
func (r row) kind() string { return reflect.ValueOf(r.example).Field(0).String() }

// serverEvent is a message from the server.
func serverEvent(name, title, summary string, example any) row {
	return row{server, name, title, summary, example, "", handling{}}
}

// relay is a message that the server relays for a client.
func relay(name, title, summary string, example any, more string) row {
	return row{relaying, name, title, summary, example, more, handling{}}
}

// clientMessage is a message from a client that becomes a command.
func clientMessage(name, title, summary string, example any, does func(*inbound) (codelab.Body, error)) row {
	return row{client, name, title, summary, example, "", handling{does: does}}
}

// welcomeRequest is a client's message that requests the welcome.
func welcomeRequest(name, title, summary string, example any) row {
	return row{client, name, title, summary, example, "", handling{welcome: true}}
}

// clientSignal is a client's message that is relayed and not stored.
func clientSignal(name, title, summary string, example any, more string) row {
	return row{client, name, title, summary, example, more, handling{relayed: true}}
}

// Ids in the examples.
const (
	aStream   = "1f2e3d4c5b6a79880716253443526170"
	lin       = "019a3f60-11d0-7e21-b2a3-4c5d6e7f8003"
	aChat     = "019a3f61-02aa-7c33-9d8e-0f1a2b3c4d04"
	aHelp     = "019a3f62-5b7f-7d02-8c1d-2e3f4a5b6c05"
	aThread   = "019a3f63-9e10-7f55-a1b2-c3d4e5f60706"
	grace     = "019a3f50-22b1-7c10-93aa-1b2c3d4e5f01"
	aPoll     = "019a3f64-7b02-7e11-9c3d-1a2b3c4d5e06"
	aQuestion = "019a3f65-0c4d-7a22-8e5f-6a7b8c9d0e07"
	aStep     = "019a3f52-7c2a-7b10-8a4e-90c1d2e3f402"
	aTask     = "8b12507783d5beca"
)

var anEvent = stored{42, "2026-03-02T09:15:30.250Z"}

// theNewest is the text about the limit on a removed person's items that are reported individually.
var theNewest = "(the newest " + grouped(codelab.Bounds.Gone) + " of them)"

// table contains all messages in the order of the document.
var table = []row{
	serverEvent("Welcome", "Welcome",
		"Sent when the connection is open, and in response to `join` and `hello`.",
		welcomeMessage{"welcome", aStream, 42, 42, you{lin, "Lin", roleAttendee}, anEvent.TS}),
	serverEvent("Ack", "Ack",
		"The message with this `ref` is stored, or relayed if its type is not stored. Everything up to `seq` that is for this connection has been sent on it.",
		ackMessage{"ack", new("c-17"), 42}),
	serverEvent("Error", "Error",
		"A message was refused, and nothing was applied. Or it cannot be recorded now; then send the same `ref` again to find out whether it was applied. The connection stays open.",
		errorMessage{"error", "message is longer than 2000 characters", "c-18"}),
	serverEvent("Resync", "Resync",
		"Missed events cannot be replayed. Read the state by REST, then continue from `seq`.",
		resyncMessage{"resync", aStream, 1042, "window"}),
	serverEvent("Reconnect", "Reconnect",
		"The server is about to stop and closes the connection with 1012. Reconnect after this time.",
		reconnectMessage{"reconnect", 1830}),
	serverEvent("Chat", "Chat message",
		"To the whole codelab, including the sender.",
		chatMessage{"chat", "Lin", "It works!", aChat, lin, "", anEvent}),
	serverEvent("DirectMessage", "Direct message",
		"To the connections of the target, and to those of the sender except the sending one. A message from a facilitator to `facilitator` is a note that only facilitators receive.",
		directMessage{"dm", "Lin", "Can you look?", codelab.FacilitatorID, aChat, lin, "", anEvent}),
	serverEvent("Broadcast", "Broadcast",
		"To the whole codelab, including the sender: a facilitator's announcement. It is in the history and can be deleted like a message.",
		broadcastMessage{"broadcast", aChat, codelab.FacilitatorID, "Grace", grace, "Back at half past ten.", anEvent}),
	serverEvent("Pulse", "Pulse",
		"To facilitators, and to the attendee's other connections: how the attendee is doing. It becomes null when they move to another step or when their step is deleted. Other attendees never receive it. When steps are replaced, the first "+grouped(codelab.Bounds.PulseNotices)+" ended pulses are sent one by one.",
		pulseMessage{"pulse", lin, "Lin", new("stuck"), 3, anEvent}),
	serverEvent("PinChanged", "Pin changed",
		"To the whole codelab: the message that is pinned above the chat, or null if it was removed.",
		pinMessage{"pin_changed", &pin{"Wi-Fi: guest, code 4711", anEvent.TS}, anEvent}),
	serverEvent("Pointer", "Pointer",
		"To the whole codelab: the step that a facilitator points at. Null if the pointer was removed, its step was deleted, or the workshop ended. When steps are reordered, the pointer stays on its step.",
		pointerMessage{"pointer", new(int32(4)), false, "Grace", grace, anEvent}),
	serverEvent("StepProgress", "Step progress",
		"To facilitators, and to the attendee's other connections, but not to other attendees.",
		progressMessage{"step_progress", lin, 3, anEvent}),
	serverEvent("HelpRequest", "Help request",
		"To facilitators and the attendee: the attendee asks for help, or has moved the open request to another step. `message` is the subject, if given.",
		helpRequestMessage{"help_request", aHelp, lin, "Lin", 3, rest.HelpPending, "", "", "row 4, left", anEvent}),
	serverEvent("HelpClaimed", "Help claimed",
		"To facilitators and the attendee: a facilitator is on the way, after a request or an offer. `message` is the text of an offer.",
		helpClaimedMessage{"help_claimed", aHelp, lin, "Lin", 3, rest.HelpInProgress, "Grace", grace, "", anEvent}),
	serverEvent("HelpResolved", "Help resolved",
		"To facilitators and the attendee. `message` is the written answer, if any.",
		helpResolvedMessage{"help_resolved", aHelp, lin, "Lin", 3, rest.HelpResolved, "", anEvent}),
	serverEvent("HelpReleased", "Help released",
		"To facilitators and the attendee: the facilitator who was on the way does not come. The request is back in the queue, in its earlier place.",
		helpReleasedMessage{"help_released", aHelp, lin, "Lin", "could not find you", anEvent}),
	serverEvent("InlineCommentChanged", "Inline comment changed",
		"To the whole codelab: read the threads again. Also sent as `deleted` for each thread in which a removed attendee wrote "+theNewest+".",
		threadMessage{"inline_comment_changed", codelab.TargetStep, new(aStep), aThread, threadCreated, anEvent}),
	serverEvent("AttendeeCompleted", "Attendee completed",
		"To facilitators and the attendee.",
		completedMessage{"attendee_completed", lin, anEvent}),
	serverEvent("CheckReported", "Check reported",
		"To facilitators and the attendee: the result of a check of the attendee's work, reported by the attendee's own program.",
		checkMessage{"check", lin, "unit-tests", true, "12 passed", 2, anEvent}),
	serverEvent("Ticked", "Task ticked",
		"To the attendee's other connections: the attendee ticked or unticked a task of a step.",
		tickMessage{"tick", aStep, aTask, true, anEvent}),
	serverEvent("CodeTaken", "Code taken",
		"To facilitators and the attendee: the attendee downloaded or fetched the code of a step (a branch or folder of the workspace).",
		codeTakenMessage{"code_taken", lin, "step-4-start", anEvent}),
	serverEvent("AttendeeRenamed", "Attendee renamed",
		"To facilitators and the attendee: a facilitator has renamed the attendee. Later messages have the new name, even on open connections.",
		renamedMessage{"attendee_renamed", lin, "Ann Lee", anEvent}),
	serverEvent("AttendeeMuted", "Attendee muted",
		"To facilitators and the attendee: a facilitator muted or unmuted the attendee.",
		mutedMessage{"attendee_muted", lin, true, anEvent}),
	serverEvent("AttendeePlaced", "Attendee placed",
		"To facilitators and the attendee: the attendee's seat, or null.",
		placeMessage{"attendee_placed", lin, new("row 4, left"), anEvent}),
	serverEvent("ChatDeleted", "Chat message deleted",
		"To the whole codelab: remove the message with this id. Sent for a deleted message, and for each message of a removed attendee "+theNewest+".",
		chatDeletedMessage{"chat_deleted", aChat, anEvent}),
	serverEvent("StepsChanged", "Steps changed",
		"To the whole codelab: the steps were replaced. Pulses and the pointer of a deleted step end, which `pulse` and `pointer` report.",
		plainMessage{"steps_changed", anEvent}),
	serverEvent("CodelabChanged", "Codelab changed",
		"To the whole codelab: settings, quizzes or materials changed, registration was opened or closed, a rehearsal started or ended, or the workshop ended or was reopened.",
		plainMessage{"codelab_changed", anEvent}),
	serverEvent("CodelabDeleted", "Codelab deleted",
		"To the whole codelab. The connections are closed afterwards.",
		plainMessage{"codelab_deleted", anEvent}),
	serverEvent("PollChanged", "Poll changed",
		"To the whole codelab when a poll is opened, closed, shown, reset or deleted. To facilitators also when a poll is created or changed. Null if the recipient no longer sees the poll: it was deleted or, for attendees, it is a draft, or closed and not shown. Words of a poll with names are not included, because they are erased together with their authors. Read them with GET polls.",
		pollMessage{"poll_changed", aPoll, &rest.PollRecord{
			ID: aPoll, Kind: "choice", Question: "Which editor do you use?", Options: []string{"vim", "another"}, Right: nil,
			State: "open", Round: 1, OpenedAt: new(anEvent.TS), Votes: 0, PollResult: rest.PollResult{Counts: &[]int32{0, 0}},
		}, anEvent}),
	serverEvent("PollCounts", "Poll counts",
		fmt.Sprintf("The counts of the open poll. To facilitators at most %d times per second; to attendees at most once per second, while the result is shown. For an anonymous poll only the number of votes. Not stored.", time.Second/summaryEvery),
		pollCountsMessage{"poll_counts", aPoll, 1, 34, 52, rest.PollResult{Counts: &[]int32{20, 14}}}),
	serverEvent("QuestionChanged", "Question changed",
		"To everybody who sees the question: it was asked, opened, answered or merged. While it waits, only facilitators and its author see it; while it is hidden, only facilitators. Null if the recipient no longer sees it.",
		questionMessage{"question_changed", aQuestion, &rest.QuestionRecord{
			ID: aQuestion, Text: "Does this work on Windows?", AuthorID: new(lin), AuthorName: new("Lin"), State: "open", CreatedAt: anEvent.TS,
		}, anEvent}),
	serverEvent("QuestionVotes", "Votes of questions",
		"To the whole codelab, at most once per second: the votes of questions whose votes have changed. Not stored.",
		questionVotesMessage{"question_votes", map[string]int{aQuestion: 12}}),
	serverEvent("TimerChanged", "Timer changed",
		"To the whole codelab: the time at which an exercise or a break ends, or null if it was stopped. There is no message when the time ends.",
		timerMessage{"timer_changed", &rest.TimerRecord{EndsAt: "2026-03-02T09:25:30.250Z", Label: "Try it", Kind: "exercise", By: "Grace", Person: new(grace), TotalSeconds: 600}, anEvent}),
	serverEvent("SpotlightChanged", "Spotlight changed",
		"To the whole codelab: the poll, question or timer on the projector, or null.",
		spotlightMessage{"spotlight_changed", new("poll"), new(aPoll), anEvent}),
	serverEvent("AttendeeJoined", "Attendee joined",
		"To facilitators: an attendee's first tab has connected. Not stored.",
		presenceMessage{"attendee_joined", presentAttendee{lin, "Lin", 1, ""}}),
	serverEvent("AttendeeLeft", "Attendee left",
		"To facilitators: an attendee's last tab has disconnected. Not stored.",
		presenceMessage{"attendee_left", presentAttendee{lin, "Lin", 1, ""}}),
	serverEvent("ProgressSummary", "Progress summary",
		fmt.Sprintf("To facilitators at most %d times per second, to attendees at most once per %d s, and only if something has changed. `pulse` is only for facilitators. Not stored.",
			time.Second/summaryEvery, summaryEvery*attendeeSummary/time.Second),
		summary{"progress_summary", []int{3, 5, 1}, 1, 9, &rest.Pulses{Fine: 4, Slow: 2, Stuck: 1}}),
	relay("ScreenShareStatus", "Screen share status",
		"From a facilitator to all. Not stored.",
		signal{Type: "screen_share_status", Sender: "Grace", SenderID: codelab.FacilitatorID}, `"active": true`),
	relay("AttendeeScreenStatus", "Attendee's screen status",
		"From an attendee to facilitators. Not stored.",
		attendeeSignal{Type: "attendee_screen_status", Sender: "Lin", SenderID: lin, AttendeeID: lin, AttendeeName: "Lin"}, `"active": true`),
	relay("WebRTCSignal", "WebRTC signal",
		"To `target_id`. Without it, a facilitator sends to all, and an attendee to the facilitators. Not stored.",
		signal{Type: "webrtc_signal", Sender: "Grace", SenderID: codelab.FacilitatorID, TargetID: lin}, `"signal": {"type": "offer"}`),

	clientMessage("SendChat", "Post a chat message",
		"Stored, then relayed to the whole codelab.",
		sayText{"chat", "It works!", "c-17"}, (*inbound).chat),
	clientMessage("SendDirectMessage", "Send a direct message",
		"To an attendee of the codelab, or to `facilitator`. From a facilitator to `facilitator` it is a note among the facilitators. Stored.",
		sayDirect{"dm", codelab.FacilitatorID, "Can you look?", "c-18"}, (*inbound).direct),
	clientMessage("SendStepProgress", "Go to a step",
		"For attendees: stores `current_step`, from 1 to the number of steps. It can decrease.",
		sayProgress{"step_progress", 3, "c-19"}, (*inbound).progress),
	clientMessage("SendPulse", "Report one's pulse",
		"For attendees: "+naming.Or(rest.PulseStates...)+" on the current step, or null to withdraw it. Moving to another step ends it. Repeating the value changes nothing. Stored.",
		sayPulse{"pulse", new("stuck"), "c-20"}, (*inbound).pulse),
	clientMessage("SendTick", "Tick a task",
		"For attendees: whether an item of a task list (`- [ ]`) of a step is done. An unknown task is an error. Repeating the value changes nothing. Stored.",
		sayTick{"tick", aStep, aTask, true, "c-23"}, (*inbound).tick),
	clientMessage("SendBroadcast", "Send a broadcast",
		"For facilitators: to all. Stored in the chat.",
		sayText{"broadcast", "Back at half past ten.", "c-21"}, (*inbound).broadcast),
	clientMessage("SendPointer", "Point at a step",
		"For facilitators: points at an existing step for all, or at none with null. `hints` opens the hints of that step for everybody. Stored.",
		sayPointer{"pointer", new(int32(4)), true, "c-22"}, (*inbound).pointer),
	welcomeRequest("Join", "Join",
		"Requests `welcome`. The name is ignored, because the session identifies the person.",
		sayJoin{"join", "Lin"}),
	welcomeRequest("Hello", "Hello",
		"Requests `welcome`.",
		sayHello{"hello"}),
	clientSignal("SendScreenShareStatus", "Share the screen",
		"Only for facilitators. Relayed to all.",
		sentSignal{Type: "screen_share_status"}, `"active": true`),
	clientSignal("SendAttendeeScreenStatus", "An attendee's screen",
		"Only for attendees. Relayed to the facilitators.",
		sentSignal{Type: "attendee_screen_status"}, `"active": true`),
	clientSignal("SendWebRTCSignal", "WebRTC signal",
		"Relayed to `target_id`. For a facilitator this is anybody, or omitted for all. For an attendee it is the facilitators, and can be omitted.",
		sentSignalTo{Type: "webrtc_signal", TargetID: lin}, `"signal": {"type": "offer"}`),
}

// grouped formats a number below a million with a separator.
func grouped(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
