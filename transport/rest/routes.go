package rest

import (
	"reflect"

	"github.com/valyala/fasthttp"

	"atelier/actors/codelab"
	"atelier/transport/archive"
	"atelier/transport/git"
	"atelier/transport/intake"
)

// Access is the permission that an operation requires (RULES.md, "Access").
type Access uint8

const (
	// Anyone: no session is required.
	Anyone Access = iota
	// Session: any session or API token.
	Session
	// AdminOnly: the owner, a facilitator, or an API token.
	AdminOnly
	// AdminLogin: the owner or a facilitator who has logged in.
	AdminLogin
	// OwnerOrToken: the owner, or an API token.
	OwnerOrToken
	// OwnerOnly: the owner.
	OwnerOnly
	// Leader: the owner, a facilitator or an assistant who has logged in.
	Leader
	// CodelabAdmin: an admin, on an existing codelab.
	CodelabAdmin
	// CodelabMember: an admin, or an attendee of the codelab.
	CodelabMember
	// CodelabAttendee: an attendee of the codelab.
	CodelabAttendee
	// CodelabReader: anyone if the codelab is public, otherwise as CodelabMember.
	CodelabReader
	// Registrant: anyone, on an existing codelab.
	Registrant
	// Somebody: an admin, or an attendee of any codelab.
	Somebody
)

// Body limits, in bytes (RULES.md, "Limits").
const (
	maxJSON    = 4 << 20
	maxUnknown = 64 << 10 // if unknown callers are permitted: login, registration, joining
	maxSteps   = 32 << 20
	maxImport  = 256 << 20
)

// Operation is one operation of the API.
type Operation struct {
	Method, Path string // Path is below /api; {id} is the id of a codelab
	ID           string // the operationId in the OpenAPI document
	Access       Access
	Body         int  // limit of the body, bytes; 0 means maxJSON, or maxUnknown if unknown callers are permitted
	Upload       bool // counts as an upload, not as a read or write
	Joins        bool // counts only in the bucket Limits.Joins of the address
	Unframed     bool // refused for pages in a frame
	File         int  // limit of an uploaded file, bytes
	Root         bool // the path is not below /api
	Import       bool // permitted for API tokens with the scope import
	Assistants   bool // assistants of the codelab act as admins here
	Check        bool // callers authenticate only with personal secrets for checks
	Basic        bool // programs authenticate with Basic authentication; cookies are ignored
	Reads        bool // changes nothing, regardless of its method
	Handle       func(*Request) error

	// The rest describes the operation in the OpenAPI document. The long text, and the few facts
	// that no field can express, are in openapi/*.json.
	Summary  string
	Params   []string     // parameters outside the path, by their components
	Takes    reflect.Type // of the JSON in the body
	Optional bool         // the body can be omitted
	Gives    success      // the successful response
	Tag      tag          // the kind of its ETag
	Seq      bool         // the response has X-Codelab-Seq
	Also     []int        // statuses in addition to those that such operations usually return
	Never    []int        // statuses that such operations usually return, but this one does not
}

const (
	get  = fasthttp.MethodGet
	post = fasthttp.MethodPost
	put  = fasthttp.MethodPut
	del  = fasthttp.MethodDelete
)

// operations lists the operations on the resources under /api and on the files. Other operations
// are in Config.Others.
var operations = []Operation{
	{Method: post, Path: "/login", ID: "login", Access: Anyone, Unframed: true, Handle: logIn,
		Summary: "Log in as owner, facilitator or assistant", Takes: body[loginBody](), Gives: of[statusRecord]().withCookies("Logged in."), Also: []int{403}},
	{Method: get, Path: "/login/oidc", ID: "beginSignIn", Access: Anyone, Joins: true, Unframed: true, Handle: beginSignIn,
		Summary: "Sign in with the identity provider", Params: []string{"to"}, Also: []int{404}, Never: []int{503}},
	{Method: get, Path: "/login/oidc/callback", ID: "finishSignIn", Access: Anyone, Joins: true, Unframed: true, Handle: finishSignIn,
		Summary: "Return from the identity provider", Params: []string{"signin_state", "signin_code", "signin_error"}, Also: []int{404}},
	{Method: get, Path: "/session", ID: "getSession", Access: Session, Handle: getSession,
		Summary: "Read the session", Params: []string{"session_codelab", "as"}, Gives: of[sessionRecord](), Never: []int{503, 403}},
	{Method: post, Path: "/logout", ID: "logout", Access: Anyone, Handle: logOut,
		Summary: "Log out", Takes: body[logoutBody](), Optional: true, Also: []int{403}},
	{Method: post, Path: "/admin/tokens", ID: "createToken", Access: OwnerOnly, Handle: createToken,
		Summary: "Create an API token", Takes: body[tokenCreateBody](), Gives: of[newTokenRecord](), Also: []int{409}},
	{Method: get, Path: "/admin/tokens", ID: "listTokens", Access: OwnerOnly, Handle: listTokens,
		Summary: "List API tokens", Gives: of[[]tokenRecord]()},
	{Method: del, Path: "/admin/tokens/{token_id}", ID: "revokeToken", Access: OwnerOnly, Handle: revokeToken,
		Summary: "Revoke an API token", Gives: done},
	{Method: post, Path: "/admin/people", ID: "invitePerson", Access: AdminLogin, Handle: invitePerson,
		Summary: "Invite a facilitator or assistant", Takes: body[personInviteBody](), Gives: of[personRecord](), Also: []int{409}},
	{Method: get, Path: "/admin/people", ID: "listPeople", Access: AdminLogin, Handle: listPeople,
		Summary: "List facilitators and assistants", Gives: of[[]personRecord]()},
	{Method: put, Path: "/admin/people/{person_id}", ID: "updatePerson", Access: AdminLogin, Handle: updatePerson,
		Summary: "Change a facilitator or assistant", Takes: body[personUpdateBody](), Gives: of[personRecord]()},
	{Method: del, Path: "/admin/people/{person_id}", ID: "deletePerson", Access: AdminLogin, Handle: deletePerson,
		Summary: "Delete a facilitator or assistant", Gives: nothing("Deleted."), Also: []int{413}},
	{Method: post, Path: "/admin/people/{person_id}/invitation", ID: "invitePersonAgain", Access: AdminLogin, Handle: invitePersonAgain,
		Summary: "Invite somebody again", Gives: of[personRecord](), Also: []int{413}},
	{Method: post, Path: "/invitations/look", ID: "lookAtInvitation", Access: Anyone, Joins: true, Unframed: true, Handle: lookAtInvitation,
		Summary: "Look at an invitation", Takes: body[invitationLookBody](), Gives: of[invitationShown](), Also: []int{403, 404}},
	{Method: post, Path: "/invitations/accept", ID: "acceptInvitation", Access: Anyone, Joins: true, Unframed: true, Handle: acceptInvitation,
		Summary: "Accept an invitation", Takes: body[invitationAcceptBody](), Gives: of[statusRecord]().withCookies("Logged in."), Also: []int{403, 404, 409}},
	{Method: get, Path: "/account", ID: "getAccount", Access: Leader, Handle: getAccount,
		Summary: "Read your account", Gives: of[accountRecord]()},
	{Method: post, Path: "/account/password", ID: "changePassword", Access: Leader, Handle: changePassword,
		Summary: "Change your password", Takes: body[passwordChangeBody](), Gives: of[statusRecord]().withCookies("Changed."), Also: []int{409}},
	{Method: del, Path: "/account/sessions/{session_id}", ID: "endLogin", Access: Leader, Handle: endLogin,
		Summary: "End one of your logins", Gives: nothing("Ended."), Also: []int{413}},
	{Method: post, Path: "/admin/settings", ID: "saveSettings", Access: OwnerOnly, Handle: saveSettings,
		Summary: "Set the AI key", Takes: body[settingsBody](), Gives: of[statusRecord]()},
	{Method: get, Path: "/admin/settings", ID: "getSettings", Access: OwnerOnly, Handle: getSettings,
		Summary: "Read the settings", Gives: of[settingsRecord]()},
	{Method: get, Path: "/admin/health", ID: "getHealth", Access: OwnerOnly, Handle: getHealth,
		Summary: "Read the server's health", Gives: of[Health]()},
	{Method: get, Path: "/admin/ai/usage", ID: "aiUsage", Access: AdminOnly, Handle: aiUsage,
		Summary: "Read the AI usage", Gives: of[usageRecord]()},
	{Method: post, Path: "/admin/participants", ID: "addParticipant", Access: OwnerOrToken, Handle: addParticipant,
		Summary: "Add a participant of the tokenization handler", Takes: body[participantAddBody](), Gives: of[newParticipantRecord](), Also: []int{409}},
	{Method: get, Path: "/admin/participants", ID: "listParticipants", Access: OwnerOrToken, Handle: listParticipants,
		Summary: "List participants", Gives: of[[]participantRecord]()},
	{Method: post, Path: "/admin/participants/{participant_id}/keys", ID: "addParticipantKey", Access: OwnerOrToken, Handle: addParticipantKey,
		Summary: "Add an API key", Gives: of[shownSecret](), Also: []int{409}},
	{Method: del, Path: "/admin/participants/{participant_id}/keys/{key_id}", ID: "removeParticipantKey", Access: OwnerOrToken, Handle: removeParticipantKey,
		Summary: "Remove an API key", Gives: done},
	{Method: post, Path: "/admin/participants/{participant_id}/grants", ID: "grantParticipant", Access: OwnerOrToken, Handle: grantParticipant,
		Summary: "Allow a participant to act for another", Takes: body[participantGrantBody](), Gives: of[participantRecord](), Also: []int{409}},
	{Method: del, Path: "/admin/participants/{participant_id}/grants/{for_id}", ID: "ungrantParticipant", Access: OwnerOrToken, Handle: ungrantParticipant,
		Summary: "Revoke a grant", Gives: done},
	{Method: post, Path: "/admin/participants/{participant_id}/acknowledge", ID: "acknowledgeParticipant", Access: OwnerOrToken, Handle: acknowledgeParticipant,
		Summary: "Record an acknowledgement of the security duties", Takes: body[participantAcknowledgeBody](), Gives: of[participantRecord]()},
	{Method: post, Path: "/admin/participants/{participant_id}/policy", ID: "setParticipantPolicy", Access: OwnerOrToken, Handle: setParticipantPolicy,
		Summary: "Set the policy of a participant's tokens", Takes: body[policyChangeBody](), Gives: of[participantRecord]()},
	{Method: post, Path: "/admin/participants/{participant_id}/disable", ID: "disableParticipant", Access: OwnerOrToken, Handle: disableParticipant,
		Summary: "Disable a participant", Gives: of[participantRecord]()},
	{Method: post, Path: "/admin/webhooks", ID: "createWebhook", Access: OwnerOnly, Handle: createWebhook,
		Summary: "Create a webhook", Takes: body[webhookCreateBody](), Gives: of[newWebhookRecord](), Also: []int{409}},
	{Method: get, Path: "/admin/webhooks", ID: "listWebhooks", Access: OwnerOnly, Handle: listWebhooks,
		Summary: "List webhooks", Gives: of[[]webhookRecord]()},
	{Method: del, Path: "/admin/webhooks/{webhook_id}", ID: "deleteWebhook", Access: OwnerOnly, Handle: deleteWebhook,
		Summary: "Delete a webhook", Gives: done},
	{Method: get, Path: "/admin/webhooks/{webhook_id}/deliveries", ID: "listWebhookDeliveries", Access: OwnerOnly, Handle: webhookDeliveries,
		Summary: "List the last deliveries", Gives: of[[]webhookTry]()},
	{Method: post, Path: "/admin/webhooks/{webhook_id}/test", ID: "testWebhook", Access: OwnerOnly, Handle: testWebhook,
		Summary: "Test a webhook", Gives: of[webhookTested]()},
	{Method: post, Path: "/admin/webhooks/{webhook_id}/resume", ID: "resumeWebhook", Access: OwnerOnly, Handle: resumeWebhook,
		Summary: "Resume a webhook", Gives: done},
	{Method: post, Path: "/admin/sample", ID: "createSample", Access: AdminOnly, Handle: createSample,
		Summary: "Create the sample workshop", Gives: of[codelabMembers]().made("The new codelab.")},
	{Method: get, Path: "/admin/audit-logs", ID: "listAuditLogs", Access: AdminOnly, Handle: auditLogs,
		Summary: "Read the audit trail", Params: []string{"limit_audit", "offset", "audit_codelab", "action"}, Gives: of[[]auditRecord]()},

	{Method: get, Path: "/codelabs", ID: "listCodelabs", Access: Anyone, Import: true, Handle: listCodelabs,
		Summary: "List codelabs", Params: []string{"as", "q", "source_id"}, Gives: of[[]codelabMembers](), Never: []int{503}},
	{Method: post, Path: "/codelabs", ID: "createCodelab", Access: AdminOnly, Handle: createCodelab,
		Summary: "Create a codelab", Takes: body[codelabCreateBody](), Gives: of[codelabMembers]()},
	{Method: post, Path: "/codelabs/import", ID: "importCodelab", Access: AdminOnly, Import: true, Body: maxImport, Handle: importCodelab,
		Summary: "Import a codelab", Params: []string{"into", "match", "import_dry_run", "if_match"}, Also: []int{404, 409, 412}},
	{Method: get, Path: "/codelabs/{id}", ID: "getCodelab", Access: CodelabReader, Import: true, Assistants: true, Handle: getCodelab,
		Summary: "Read a codelab", Params: []string{"as"}, Tag: edition, Seq: true, Also: []int{401, 403}},
	{Method: put, Path: "/codelabs/{id}", ID: "updateCodelab", Access: CodelabAdmin, Handle: updateCodelab,
		Summary: "Change a codelab", Takes: body[codelabUpdateBody](), Gives: of[codelabMembers](), Tag: edition},
	{Method: del, Path: "/codelabs/{id}", ID: "deleteCodelab", Access: CodelabAdmin, Handle: deleteCodelab,
		Summary: "Delete a codelab", Gives: done},
	{Method: post, Path: "/codelabs/{id}/copy", ID: "copyCodelab", Access: CodelabAdmin, Handle: copyCodelab,
		Summary: "Copy a codelab", Gives: of[codelabMembers](), Also: []int{409}},
	{Method: post, Path: "/codelabs/{id}/update-from-source", ID: "updateFromSource", Access: CodelabAdmin, Handle: updateFromSource,
		Summary: "Update a run", Params: []string{"source_dry_run", "if_match"}, Takes: body[struct{}](), Optional: true, Also: []int{409, 412}},
	{Method: get, Path: "/codelabs/{id}/runs", ID: "compareRuns", Access: CodelabAdmin, Handle: compareRuns,
		Summary: "Compare the runs of a codelab", Params: []string{"itself"}, Seq: true},
	{Method: put, Path: "/codelabs/{id}/steps", ID: "replaceSteps", Access: CodelabAdmin, Body: maxSteps, Handle: replaceSteps,
		Summary: "Replace the steps", Takes: body[stepsBody](), Gives: of[statusRecord](), Tag: edition},
	{Method: get, Path: "/codelabs/{id}/export", ID: "exportCodelab", Access: CodelabAdmin, Handle: exportCodelab,
		Summary: "Export a codelab", Gives: attachment("The archive.", "application/zip")},
	{Method: get, Path: "/codelabs/{id}/export/attendance.csv", ID: "exportAttendance", Access: CodelabAdmin, Handle: export("attendance", attendance),
		Summary: "Export the attendance as CSV", Params: []string{"bom", "view"}, Gives: attachment("The table.", "text/csv"), Seq: true},
	{Method: get, Path: "/codelabs/{id}/export/quizzes.csv", ID: "exportQuizzes", Access: CodelabAdmin, Handle: export("quizzes", quizResults),
		Summary: "Export the quiz results as CSV", Params: []string{"bom"}, Gives: attachment("The table.", "text/csv"), Seq: true},
	{Method: get, Path: "/codelabs/{id}/export/feedback.csv", ID: "exportFeedback", Access: CodelabAdmin, Handle: export("feedback", feedbackTable),
		Summary: "Export the feedback as CSV", Params: []string{"bom"}, Gives: attachment("The table.", "text/csv"), Seq: true},
	{Method: get, Path: "/codelabs/{id}/export/polls.csv", ID: "exportPolls", Access: CodelabAdmin, Handle: export("polls", pollTable),
		Summary: "Export the polls as CSV", Params: []string{"bom"}, Gives: attachment("The table.", "text/csv"), Seq: true},
	{Method: get, Path: "/codelabs/{id}/export/all", ID: "exportAll", Access: CodelabAdmin, Upload: true, Handle: exportAll,
		Summary: "Export everything about a workshop as ZIP", Gives: attachment("The ZIP.", "application/zip"), Seq: true},
	{Method: post, Path: "/codelabs/{id}/registration", ID: "setRegistration", Access: CodelabAdmin, Handle: setRegistration,
		Summary: "Open or close the registration", Takes: body[openBody](), Gives: of[codelabMembers]()},
	{Method: post, Path: "/codelabs/{id}/end", ID: "endWorkshop", Access: CodelabAdmin, Handle: endWorkshop,
		Summary: "End the workshop, or reopen it", Takes: body[endedBody](), Optional: true, Gives: of[codelabMembers]()},
	{Method: post, Path: "/codelabs/{id}/rehearsal", ID: "startRehearsal", Access: CodelabAdmin, Handle: startRehearsal,
		Summary: "Start a rehearsal", Takes: body[rehearsalStartBody](), Gives: of[rehearsalRecord]().made("The rehearsal is running."), Also: []int{409}},
	{Method: del, Path: "/codelabs/{id}/rehearsal", ID: "endRehearsal", Access: CodelabAdmin, Handle: endRehearsal,
		Summary: "End the rehearsal", Gives: done},
	{Method: put, Path: "/codelabs/{id}/pin", ID: "setPin", Access: CodelabAdmin, Assistants: true, Handle: setPin,
		Summary: "Pin a message above the chat", Takes: body[pinSetBody](), Gives: of[statusRecord]()},
	{Method: get, Path: "/codelabs/{id}/overview", ID: "getOverview", Access: CodelabAdmin, Assistants: true, Handle: overview,
		Summary: "Read the state of the workshop", Gives: of[overviewRecord](), Seq: true},
	{Method: get, Path: "/codelabs/{id}/summary", ID: "summarizeCodelab", Access: CodelabAdmin, Handle: summarize,
		Summary: "Read the results of a workshop", Params: []string{"names"}, Gives: of[summaryRecord](), Seq: true},
	{Method: get, Path: "/codelabs/{id}/progress", ID: "getProgress", Access: CodelabAdmin, Assistants: true, Handle: progress,
		Summary: "Read the progress over time", Gives: of[timelineRecord](), Seq: true},

	{Method: get, Path: "/codelabs/{id}/chat", ID: "getChat", Access: CodelabMember, Assistants: true, Handle: getChat,
		Summary: "Read the chat", Params: []string{"as", "limit_chat", "before"}, Gives: of[[]chatRecord](), Tag: view, Seq: true},
	{Method: post, Path: "/codelabs/{id}/direct-messages", ID: "postDirectMessages", Access: CodelabAdmin, Assistants: true, Handle: postDirects,
		Summary: "Write to attendees who are stuck, wait for help, or are on a step", Takes: body[directMessagesPostBody](), Gives: of[directMessagesPosted](), Also: []int{409}},
	{Method: del, Path: "/codelabs/{id}/chat/{message_id}", ID: "deleteChatMessage", Access: CodelabAdmin, Assistants: true, Handle: deleteChat,
		Summary: "Delete a chat message", Gives: done},
	{Method: get, Path: "/codelabs/{id}/inline-comments", ID: "listThreads", Access: CodelabMember, Assistants: true, Handle: getThreads,
		Summary: "Read the comment threads", Params: []string{"as", "target_type", "target_step_id"}, Gives: of[[]threadRecord](), Tag: view, Seq: true},
	{Method: post, Path: "/codelabs/{id}/inline-comments", ID: "annotate", Access: CodelabMember, Assistants: true, Handle: annotate,
		Summary: "Comment on a range of text", Params: []string{"as"}, Takes: body[annotateBody](), Gives: of[threadRecord](), Also: []int{409}},
	{Method: post, Path: "/codelabs/{id}/inline-comments/{thread_id}/comments", ID: "replyToThread", Access: CodelabMember, Assistants: true, Handle: replyToThread,
		Summary: "Reply in a thread", Params: []string{"as"}, Takes: body[replyBody](), Gives: of[threadRecord](), Also: []int{409}},
	{Method: del, Path: "/codelabs/{id}/inline-comments/{thread_id}/comments/{comment_id}", ID: "deleteComment", Access: CodelabMember, Assistants: true, Handle: deleteComment,
		Summary: "Delete a comment", Params: []string{"as"}, Gives: of[commentDeleted]()},

	{Method: post, Path: "/codelabs/{id}/register", ID: "registerAttendee", Access: Registrant, Handle: registerAttendee,
		Summary: "Register for a codelab", Params: []string{"as"}, Takes: body[registerBody](), Gives: of[detailedRecord]().withCookies("Registered, or rejoined."), Also: []int{401, 403, 409}},
	{Method: get, Path: "/codelabs/{id}/attendees", ID: "listAttendees", Access: CodelabMember, Assistants: true, Handle: getAttendees,
		Summary: "List attendees", Params: []string{"as"}, Gives: of[[]detailedRecord](), Tag: view, Seq: true},
	{Method: get, Path: "/codelabs/{id}/attendees/{attendee_id}", ID: "getAttendee", Access: CodelabMember, Assistants: true, Handle: getAttendee,
		Summary: "Read an attendee", Params: []string{"as", "missing", "details"}, Gives: of[detailedRecord](), Seq: true},
	{Method: get, Path: "/codelabs/{id}/presence", ID: "getPresence", Access: CodelabAdmin, Assistants: true, Handle: getPresence,
		Summary: "List connected attendees", Gives: of[presenceRecord]()},
	{Method: put, Path: "/codelabs/{id}/attendees/{attendee_id}", ID: "updateAttendee", Access: CodelabMember, Assistants: true, Handle: updateAttendee,
		Summary: "Rename, mute or place an attendee", Params: []string{"as"}, Takes: body[attendeeUpdateBody](), Gives: of[detailedRecord](), Also: []int{409}},
	{Method: del, Path: "/codelabs/{id}/attendees/{attendee_id}", ID: "removeAttendee", Access: CodelabMember, Handle: removeAttendee,
		Summary: "Remove an attendee", Params: []string{"as", "erase"}, Gives: done},
	{Method: get, Path: "/codelabs/{id}/attendees/{attendee_id}/export", ID: "exportAttendee", Access: CodelabMember, Upload: true, Handle: exportAttendee,
		Summary: "Export everything about a person as ZIP", Gives: attachment("The ZIP.", "application/zip"), Seq: true},
	{Method: post, Path: "/codelabs/{id}/attendees/{attendee_id}/reset-pin", ID: "resetPin", Access: CodelabAdmin, Handle: resetPIN,
		Summary: "Reset an attendee's rejoin code (PIN)", Takes: body[pinResetBody](), Optional: true, Gives: of[statusRecord](), Also: []int{409}},
	{Method: post, Path: "/codelabs/{id}/reset-pins", ID: "resetPins", Access: CodelabAdmin, Handle: resetPINs,
		Summary: "Reset the codes of all attendees", Gives: of[newPINs]().about("The new codes, to hand out to the attendees.")},
	{Method: get, Path: "/codelabs/{id}/ticks", ID: "getTicks", Access: CodelabAttendee, Handle: getTicks,
		Summary: "List your ticked tasks", Gives: of[[]tickRecord](), Seq: true},
	{Method: post, Path: "/codelabs/{id}/complete", ID: "complete", Access: CodelabAttendee, Handle: complete,
		Summary: "Complete the codelab", Gives: of[statusRecord](), Also: []int{409}},
	{Method: get, Path: "/certificates/{id}", ID: "getCertificate", Access: Anyone, Handle: certificate,
		Summary: "Read a certificate", Params: []string{"certificate_id"}, Gives: of[certificateRecord](), Also: []int{403}},

	{Method: post, Path: "/codelabs/{id}/help", ID: "askHelp", Access: CodelabMember, Assistants: true, Handle: askHelp,
		Summary: "Ask for help, or offer it", Params: []string{"as"}, Takes: body[helpAskBody](), Gives: of[helpAsked](), Also: []int{409}},
	{Method: get, Path: "/codelabs/{id}/help", ID: "listHelp", Access: CodelabMember, Assistants: true, Handle: getHelp,
		Summary: "Read the help queue", Params: []string{"as"}, Gives: of[[]ownHelpRecord](), Tag: view, Seq: true},
	{Method: post, Path: "/codelabs/{id}/help/{help_id}/claim", ID: "claimHelp", Access: CodelabAdmin, Assistants: true, Handle: claimHelp,
		Summary: "Claim a help request", Gives: of[ownHelpRecord](), Also: []int{409}},
	{Method: post, Path: "/codelabs/{id}/help/{help_id}/resolve", ID: "resolveHelp", Access: CodelabMember, Assistants: true, Handle: resolveHelp,
		Summary: "Resolve a help request", Params: []string{"as"}, Gives: of[statusRecord]()},
	{Method: post, Path: "/codelabs/{id}/help/{help_id}/release", ID: "releaseHelp", Access: CodelabAdmin, Assistants: true, Handle: releaseHelp,
		Summary: "Release a help request", Takes: body[helpReleaseBody](), Optional: true, Gives: of[ownHelpRecord](), Also: []int{409}},
	{Method: post, Path: "/codelabs/{id}/help/answer", ID: "answerHelp", Access: CodelabAdmin, Assistants: true, Handle: answerHelp,
		Summary: "Answer several help requests", Takes: body[helpAnswerBody](), Gives: of[statusRecord]()},
	{Method: post, Path: "/codelabs/{id}/feedback", ID: "giveFeedback", Access: CodelabAttendee, Handle: giveFeedback,
		Summary: "Give feedback", Takes: body[feedbackGiveBody](), Gives: of[created](), Also: []int{409}},
	{Method: get, Path: "/codelabs/{id}/feedback", ID: "listFeedback", Access: CodelabAdmin, Assistants: true, Handle: getFeedback,
		Summary: "Read the feedback", Gives: of[[]feedbackRecord](), Tag: view, Seq: true},

	{Method: get, Path: "/codelabs/{id}/polls", ID: "listPolls", Access: CodelabMember, Assistants: true, Handle: getPolls,
		Summary: "List polls", Params: []string{"as"}, Gives: of[[]pollRecord](), Seq: true},
	{Method: post, Path: "/codelabs/{id}/polls", ID: "createPoll", Access: CodelabAdmin, Assistants: true, Handle: createPoll,
		Summary: "Create a poll", Takes: body[pollCreateBody](), Gives: of[pollRecord](), Seq: true, Also: []int{409}},
	{Method: put, Path: "/codelabs/{id}/polls/{poll_id}", ID: "updatePoll", Access: CodelabAdmin, Assistants: true, Handle: updatePoll,
		Summary: "Change a poll", Takes: body[pollInput](), Gives: of[pollRecord](), Seq: true, Also: []int{409}},
	{Method: del, Path: "/codelabs/{id}/polls/{poll_id}", ID: "deletePoll", Access: CodelabAdmin, Assistants: true, Handle: deletePoll,
		Summary: "Delete a poll", Gives: nothing("Done.")},
	{Method: post, Path: "/codelabs/{id}/polls/{poll_id}/open", ID: "openPoll", Access: CodelabAdmin, Assistants: true, Handle: openPoll,
		Summary: "Open a poll", Takes: body[pollOpenBody](), Optional: true, Gives: of[pollRecord](), Seq: true, Also: []int{409}},
	{Method: post, Path: "/codelabs/{id}/polls/{poll_id}/close", ID: "closePoll", Access: CodelabAdmin, Assistants: true, Handle: closePoll,
		Summary: "Close a poll", Gives: of[pollRecord](), Seq: true, Also: []int{409}},
	{Method: post, Path: "/codelabs/{id}/polls/{poll_id}/show", ID: "showPoll", Access: CodelabAdmin, Assistants: true, Handle: showPoll,
		Summary: "Show the result of a poll", Takes: body[pollShowBody](), Gives: of[pollRecord](), Seq: true, Also: []int{409}},
	{Method: post, Path: "/codelabs/{id}/polls/{poll_id}/reset", ID: "resetPoll", Access: CodelabAdmin, Assistants: true, Handle: resetPoll,
		Summary: "Reset a poll", Gives: of[pollRecord](), Seq: true},
	{Method: put, Path: "/codelabs/{id}/polls/{poll_id}/vote", ID: "vote", Access: CodelabAttendee, Handle: votePoll,
		Summary: "Vote", Takes: body[voteBody](), Gives: of[pollRecord](), Seq: true, Also: []int{409}},
	{Method: del, Path: "/codelabs/{id}/polls/{poll_id}/vote", ID: "unvote", Access: CodelabAttendee, Handle: unvotePoll,
		Summary: "Withdraw a vote", Gives: of[pollRecord](), Seq: true, Also: []int{409}},
	{Method: get, Path: "/codelabs/{id}/polls/{poll_id}/texts", ID: "listPollTexts", Access: CodelabAdmin, Assistants: true, Handle: getPollTexts,
		Summary: "Read the texts of a poll", Params: []string{"after_text"}, Gives: of[[]pollTextRecord](), Seq: true},
	{Method: get, Path: "/codelabs/{id}/questions", ID: "listQuestions", Access: CodelabMember, Assistants: true, Handle: getQuestions,
		Summary: "List questions", Params: []string{"as"}, Gives: of[[]questionRecord](), Seq: true},
	{Method: post, Path: "/codelabs/{id}/questions", ID: "askQuestion", Access: CodelabAttendee, Handle: askQuestion,
		Summary: "Ask a question", Takes: body[questionCreateBody](), Gives: of[questionRecord](), Seq: true, Also: []int{409}},
	{Method: post, Path: "/codelabs/{id}/questions/from", ID: "takeQuestion", Access: CodelabAdmin, Assistants: true, Handle: takeQuestion,
		Summary: "Take a question from the chat or a help request", Takes: body[questionTakeBody](), Gives: of[questionRecord](), Seq: true, Also: []int{409}},
	{Method: put, Path: "/codelabs/{id}/questions/{question_id}", ID: "updateQuestion", Access: CodelabAdmin, Assistants: true, Handle: updateQuestion,
		Summary: "Answer, open or hide a question", Takes: body[questionUpdateBody](), Gives: of[questionRecord](), Seq: true, Also: []int{409}},
	{Method: del, Path: "/codelabs/{id}/questions/{question_id}", ID: "deleteQuestion", Access: CodelabMember, Assistants: true, Handle: deleteQuestion,
		Summary: "Delete a question", Params: []string{"as"}, Gives: nothing("Done."), Also: []int{409}},
	{Method: put, Path: "/codelabs/{id}/questions/{question_id}/vote", ID: "voteQuestion", Access: CodelabAttendee, Handle: voteQuestion,
		Summary: "Vote for a question", Gives: of[questionRecord](), Seq: true, Also: []int{409}},
	{Method: del, Path: "/codelabs/{id}/questions/{question_id}/vote", ID: "unvoteQuestion", Access: CodelabAttendee, Handle: unvoteQuestion,
		Summary: "Withdraw a vote", Gives: of[questionRecord](), Seq: true, Also: []int{409}},
	{Method: post, Path: "/codelabs/{id}/questions/{question_id}/merge", ID: "mergeQuestion", Access: CodelabAdmin, Assistants: true, Handle: mergeQuestion,
		Summary: "Merge a question into another", Takes: body[questionMergeBody](), Gives: of[questionRecord](), Seq: true},
	{Method: post, Path: "/codelabs/{id}/questions/{question_id}/stop", ID: "stopAsker", Access: CodelabAdmin, Assistants: true, Handle: stopAsker,
		Summary: "Stop the author of an anonymous question", Gives: of[statusRecord](), Also: []int{409}},
	{Method: put, Path: "/codelabs/{id}/timer", ID: "setTimer", Access: CodelabAdmin, Assistants: true, Handle: setTimer,
		Summary: "Set the timer", Takes: body[timerSetBody](), Gives: of[statusRecord]()},
	{Method: put, Path: "/codelabs/{id}/spotlight", ID: "setSpotlight", Access: CodelabAdmin, Assistants: true, Handle: setSpotlight,
		Summary: "Choose what the projector shows", Takes: body[spotlightSetBody](), Gives: of[statusRecord](), Also: []int{409}},

	{Method: get, Path: "/codelabs/{id}/quizzes", ID: "listQuizzes", Access: CodelabMember, Assistants: true, Handle: getQuizzes,
		Summary: "Read the quiz", Params: []string{"as"}, Gives: of[[]quizRecord](), Tag: edition, Seq: true},
	{Method: put, Path: "/codelabs/{id}/quizzes", ID: "replaceQuizzes", Access: CodelabAdmin, Handle: replaceQuizzes,
		Summary: "Replace the quiz", Gives: of[[]quizRecord](), Tag: edition},
	{Method: post, Path: "/codelabs/{id}/quizzes/submit", ID: "submitQuiz", Access: CodelabAttendee, Handle: submitQuiz,
		Summary: "Answer the quiz", Takes: body[quizSubmitBody](), Gives: of[quizResultRecord]()},
	{Method: get, Path: "/codelabs/{id}/quizzes/submissions", ID: "listQuizSubmissions", Access: CodelabAdmin, Assistants: true, Handle: getQuizSubmissions,
		Summary: "Read the answers", Gives: of[[]quizAnswerRecord](), Seq: true},

	{Method: post, Path: "/ai/conversations", ID: "saveConversation", Access: Session, Handle: saveConversation,
		Summary: "Save a question and its answer", Params: []string{"as"}, Takes: body[conversationSaveBody](), Gives: of[created](), Also: []int{404}},
	{Method: get, Path: "/codelabs/{id}/ai/conversations", ID: "listConversations", Access: CodelabAdmin, Handle: getConversations,
		Summary: "Read saved conversations", Gives: of[[]conversationRecord](), Seq: true},
	{Method: get, Path: "/codelabs/{id}/materials", ID: "listMaterials", Access: CodelabMember, Assistants: true, Handle: getMaterials,
		Summary: "List materials", Params: []string{"as"}, Gives: of[[]materialRecord](), Tag: view, Seq: true},
	{Method: post, Path: "/codelabs/{id}/materials", ID: "addMaterial", Access: CodelabAdmin, Handle: addMaterial,
		Summary: "Add a material", Takes: body[materialAddBody](), Gives: of[materialRecord](), Also: []int{409}},
	{Method: del, Path: "/codelabs/{id}/materials/{material_id}", ID: "deleteMaterial", Access: CodelabAdmin, Handle: deleteMaterial,
		Summary: "Delete a material", Gives: done},
	{Method: post, Path: "/upload/material", ID: "uploadMaterial", Access: AdminOnly, Upload: true, File: intake.MaxMaterial, Handle: uploadMaterial,
		Summary: "Upload a file", Gives: of[materialUploaded]()},
	{Method: post, Path: "/upload/image", ID: "uploadImage", Access: Somebody, Upload: true, File: intake.MaxImage, Handle: uploadImage,
		Summary: "Upload an image", Params: []string{"as"}, Gives: of[imageUploaded]()},
	{Method: get, Path: "/uploads/{kind}/{name}", ID: "getUpload", Access: Anyone, Root: true, Handle: serveUpload,
		Summary: "Read an uploaded file", Gives: storedFile},

	{Method: get, Path: "/codelabs/{id}/submissions", ID: "listSubmissions", Access: CodelabMember, Assistants: true, Handle: getSubmissions,
		Summary: "List submissions", Params: []string{"as"}, Gives: of[[]submissionRecord](), Tag: view, Seq: true},
	{Method: get, Path: "/codelabs/{id}/submissions/download", ID: "downloadSubmissions", Access: CodelabAdmin, Handle: downloadSubmissions,
		Summary: "Download all submissions", Gives: attachment("The archive, sent while it is packed.", "application/zip")},
	{Method: post, Path: "/codelabs/{id}/attendees/{attendee_id}/submissions", ID: "submitFile", Access: CodelabAttendee, Upload: true, File: codelab.MaxSubmissionBytes, Handle: submitFile,
		Summary: "Submit a file", Gives: of[submissionRecord](), Also: []int{409}, Never: []int{404}},
	{Method: post, Path: "/codelabs/{id}/attendees/{attendee_id}/submissions/link", ID: "submitLink", Access: CodelabAttendee, Handle: submitLink,
		Summary: "Submit a link", Takes: body[submissionLinkBody](), Gives: of[submissionRecord](), Also: []int{409}, Never: []int{404}},
	{Method: get, Path: "/codelabs/{id}/attendees/{attendee_id}/submissions/{submission_id}/file", ID: "getSubmissionFile", Access: CodelabMember, Assistants: true, Handle: getSubmissionFile,
		Summary: "Read a submitted file", Params: []string{"as"}, Gives: storedFile},
	{Method: del, Path: "/codelabs/{id}/attendees/{attendee_id}/submissions/{submission_id}", ID: "deleteSubmission", Access: CodelabMember, Handle: deleteSubmission,
		Summary: "Delete a submission", Params: []string{"as"}, Gives: done},

	{Method: post, Path: "/codeserver", ID: "createWorkspace", Access: AdminOnly, Import: true, Handle: createWorkspace,
		Summary: "Create a workspace", Takes: body[workspaceCreateBody](), Gives: of[workspaceRecord](), Also: []int{404, 409}},
	{Method: get, Path: "/codeserver/{id}", ID: "getWorkspace", Access: CodelabMember, Import: true, Assistants: true, Handle: getWorkspace,
		Summary: "Read a workspace", Gives: of[workspaceRecord]()},
	{Method: del, Path: "/codeserver/{id}", ID: "deleteWorkspace", Access: CodelabAdmin, Import: true, Handle: deleteWorkspace,
		Summary: "Remove a workspace", Gives: done},
	{Method: get, Path: "/codeserver/{id}/download", ID: "downloadWorkspace", Access: CodelabMember, Import: true, Assistants: true, Handle: downloadWorkspace,
		Summary: "Download a workspace", Params: []string{"download_branch", "download_folder", "download_format"}, Gives: attachment("The archive.", "application/gzip", "application/zip")},
	{Method: post, Path: "/codeserver/{id}/branch", ID: "createBranch", Access: CodelabAdmin, Import: true, Handle: createBranch,
		Summary: "Create a branch", Takes: body[branchCreateBody](), Gives: of[headMade](), Also: []int{409}},
	{Method: get, Path: "/codeserver/{id}/branches", ID: "listBranches", Access: CodelabMember, Import: true, Assistants: true, Handle: listBranches,
		Summary: "List the branches", Gives: of[[]string]()},
	{Method: get, Path: "/codeserver/{id}/branches/{branch}/files", ID: "listBranchFiles", Access: CodelabMember, Import: true, Assistants: true, Handle: listFiles(codelab.BranchWorkspace),
		Summary: "List the files of a branch", Gives: of[[]string]()},
	{Method: get, Path: "/codeserver/{id}/branches/{branch}/tree", ID: "describeBranchFiles", Access: CodelabMember, Import: true, Assistants: true, Handle: describeFiles(codelab.BranchWorkspace),
		Summary: "Describe the files of a branch", Gives: of[[]fileInfo]()},
	{Method: get, Path: "/codeserver/{id}/branches/{branch}/file", ID: "readBranchFile", Access: CodelabMember, Import: true, Assistants: true, Handle: readFile(codelab.BranchWorkspace),
		Summary: "Read a file of a branch", Params: []string{"file", "file_format"}},
	{Method: post, Path: "/codeserver/{id}/branches/{branch}/files", ID: "writeBranchFiles", Access: CodelabAdmin, Import: true, Handle: writeFiles(codelab.BranchWorkspace),
		Summary: "Write files of a branch", Takes: body[filesWriteBody](), Gives: of[statusRecord](), Also: []int{409}},
	{Method: post, Path: "/codeserver/{id}/branches/{branch}/import", ID: "importBranchFiles", Access: CodelabAdmin, Import: true, Upload: true, File: archive.MaxPackedCode, Handle: importFiles(codelab.BranchWorkspace),
		Summary: "Import files into a branch", Params: []string{"replace"}, Gives: of[filesImported](), Also: []int{409}},
	{Method: post, Path: "/codeserver/{id}/folder", ID: "createFolder", Access: CodelabAdmin, Import: true, Handle: createFolder,
		Summary: "Create a folder", Takes: body[folderCreateBody](), Gives: of[headMade](), Also: []int{409}},
	{Method: get, Path: "/codeserver/{id}/folders", ID: "listFolders", Access: CodelabMember, Import: true, Assistants: true, Handle: listFolders,
		Summary: "List the folders", Gives: of[[]string]()},
	{Method: get, Path: "/codeserver/{id}/folders/{folder}/files", ID: "listFolderFiles", Access: CodelabMember, Import: true, Assistants: true, Handle: listFiles(codelab.FolderWorkspace),
		Summary: "List the files of a folder", Gives: of[[]string]()},
	{Method: get, Path: "/codeserver/{id}/folders/{folder}/tree", ID: "describeFolderFiles", Access: CodelabMember, Import: true, Assistants: true, Handle: describeFiles(codelab.FolderWorkspace),
		Summary: "Describe the files of a folder", Gives: of[[]fileInfo]()},
	{Method: get, Path: "/codeserver/{id}/folders/{folder}/file", ID: "readFolderFile", Access: CodelabMember, Import: true, Assistants: true, Handle: readFile(codelab.FolderWorkspace),
		Summary: "Read a file of a folder", Params: []string{"file", "file_format"}},
	{Method: post, Path: "/codeserver/{id}/folders/{folder}/files", ID: "writeFolderFiles", Access: CodelabAdmin, Import: true, Handle: writeFiles(codelab.FolderWorkspace),
		Summary: "Write files of a folder", Takes: body[filesWriteBody](), Gives: of[statusRecord](), Also: []int{409}},
	{Method: post, Path: "/codeserver/{id}/folders/{folder}/import", ID: "importFolderFiles", Access: CodelabAdmin, Import: true, Upload: true, File: archive.MaxPackedCode, Handle: importFiles(codelab.FolderWorkspace),
		Summary: "Import files into a folder", Params: []string{"replace"}, Gives: of[filesImported](), Also: []int{409}},

	{Method: post, Path: "/codelabs/{id}/check-access", ID: "giveCheckAccess", Access: CodelabAttendee, Handle: giveCheckAccess,
		Summary: "Get a token to report checks", Takes: body[struct{}](), Optional: true, Gives: of[checkAccess]()},
	{Method: post, Path: "/check/{check}", ID: "reportCheck", Access: CodelabAttendee, Check: true, Body: maxReport, Handle: reportCheck,
		Summary: "Report the result of a check", Params: []string{"check"}, Takes: body[checkReportBody](), Gives: of[statusRecord](), Also: []int{409}},
	{Method: post, Path: "/codelabs/{id}/git-access", ID: "giveGitAccess", Access: CodelabMember, Assistants: true, Handle: giveGitAccess,
		Summary: "Get a password for Git", Gives: of[gitAccess](), Also: []int{413, 415}},
	{Method: get, Path: "/git/{id}/info/refs", ID: "listGitRefs", Access: CodelabMember, Root: true, Import: true, Assistants: true, Basic: true, Handle: gitRefs,
		Summary: "Start a fetch or push with Git", Params: []string{"git_service"}, Gives: packet("The branches, and the server's capabilities.", "application/x-git-upload-pack-advertisement", "application/x-git-receive-pack-advertisement")},
	{Method: post, Path: "/git/{id}/git-upload-pack", ID: "fetchGitPack", Access: CodelabMember, Root: true, Import: true, Assistants: true, Basic: true, Reads: true, Body: maxFetch, Handle: gitUploadPack,
		Summary: "Fetch with Git", Gives: packet("The response in Git's format, with a pack.", "application/x-git-upload-pack-result")},
	{Method: post, Path: "/git/{id}/git-receive-pack", ID: "pushGitPack", Access: CodelabAdmin, Root: true, Import: true, Basic: true, Body: git.MaxPack, Handle: gitReceivePack,
		Summary: "Push with Git", Gives: packet("The result for each branch.", "application/x-git-receive-pack-result")},

	{Method: get, Path: "/join/{code}", ID: "findByCode", Access: Anyone, Joins: true, Handle: findByCode,
		Summary: "Find a codelab by its join code", Params: []string{"join_code"}, Gives: of[joinRecord](), Seq: true},
	{Method: get, Path: "/app", ID: "getApp", Access: Anyone, Handle: getApp,
		Summary: "Read the configuration for apps", Gives: of[appInfo](), Never: []int{503}},
	{Method: get, Path: "/openapi.json", ID: "getOpenAPI", Access: Anyone, Handle: openAPI,
		Summary: "Read this document", Never: []int{503}},
}

// body returns the limit of the operation's body, in bytes.
func (op *Operation) body() int {
	switch {
	case op.Body > 0:
		return op.Body
	case op.open():
		return maxUnknown
	}
	return maxJSON
}

// open reports whether the operation permits an unknown caller before the body is read.
func (op *Operation) open() bool { return op.Access == Anyone || op.Access == Registrant }

// Operations returns the operations of this package.
func Operations() []Operation { return operations }
