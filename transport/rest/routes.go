package rest

import (
	"github.com/valyala/fasthttp"

	"atelier/actors/codelab"
	"atelier/transport/archive"
	"atelier/transport/git"
	"atelier/transport/intake"
)

// Access is the permission that an operation requires (RULES.md, "Access").
type Access uint8

const (
	// Anyone: no session is needed.
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
	// CodelabReader: anyone if the codelab is public, else its members.
	CodelabReader
	// Registrant: anyone, on an existing codelab.
	Registrant
	// Somebody: an admin, or an attendee of any codelab.
	Somebody
)

// Body limits, in bytes (RULES.md, "Limits").
const (
	maxJSON    = 4 << 20
	maxUnknown = 64 << 10 // for unknown callers: login, registration, joining
	maxSteps   = 32 << 20
	maxImport  = 256 << 20
)

// Operation is one operation of the API.
type Operation struct {
	Method, Path string // Path is below /api; {id} is the id of a codelab
	Access       Access
	Body         int  // limit of the body, bytes; 0 is the limit for any JSON, which is lower without sign-in
	Upload       bool // counts as an upload, not as a read or write
	Joins        bool // has its own bucket per address
	Unframed     bool // refused for pages in a frame
	File         int  // limit of an uploaded file, bytes
	Root         bool // the path is not below /api
	Import       bool // API tokens with the scope import may call it
	Assistants   bool // on a codelab: its assistants act as admins here
	Check        bool // only personal secrets for checks may call it
	Basic        bool // programs authenticate with Basic authentication; cookies are ignored
	Reads        bool // changes nothing, regardless of its method
	Handle       func(*Request) error
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
	{Method: post, Path: "/login", Access: Anyone, Unframed: true, Handle: logIn},
	{Method: get, Path: "/login/oidc", Access: Anyone, Joins: true, Unframed: true, Handle: beginSignIn},
	{Method: get, Path: "/login/oidc/callback", Access: Anyone, Joins: true, Unframed: true, Handle: finishSignIn},
	{Method: get, Path: "/session", Access: Session, Handle: getSession},
	{Method: post, Path: "/logout", Access: Anyone, Handle: logOut},
	{Method: post, Path: "/admin/tokens", Access: OwnerOnly, Handle: createToken},
	{Method: get, Path: "/admin/tokens", Access: OwnerOnly, Handle: listTokens},
	{Method: del, Path: "/admin/tokens/{token_id}", Access: OwnerOnly, Handle: revokeToken},
	{Method: post, Path: "/admin/people", Access: AdminLogin, Handle: invitePerson},
	{Method: get, Path: "/admin/people", Access: AdminLogin, Handle: listPeople},
	{Method: put, Path: "/admin/people/{person_id}", Access: AdminLogin, Handle: updatePerson},
	{Method: del, Path: "/admin/people/{person_id}", Access: AdminLogin, Handle: deletePerson},
	{Method: post, Path: "/admin/people/{person_id}/invitation", Access: AdminLogin, Handle: invitePersonAgain},
	{Method: post, Path: "/invitations/look", Access: Anyone, Joins: true, Unframed: true, Handle: lookAtInvitation},
	{Method: post, Path: "/invitations/accept", Access: Anyone, Joins: true, Unframed: true, Handle: acceptInvitation},
	{Method: get, Path: "/account", Access: Leader, Handle: getAccount},
	{Method: post, Path: "/account/password", Access: Leader, Handle: changePassword},
	{Method: del, Path: "/account/sessions/{session_id}", Access: Leader, Handle: endLogin},
	{Method: post, Path: "/admin/settings", Access: OwnerOnly, Handle: saveSettings},
	{Method: get, Path: "/admin/settings", Access: OwnerOnly, Handle: getSettings},
	{Method: get, Path: "/admin/health", Access: OwnerOnly, Handle: getHealth},
	{Method: get, Path: "/admin/ai/usage", Access: AdminOnly, Handle: aiUsage},
	{Method: post, Path: "/admin/participants", Access: OwnerOrToken, Handle: addParticipant},
	{Method: get, Path: "/admin/participants", Access: OwnerOrToken, Handle: listParticipants},
	{Method: post, Path: "/admin/participants/{participant_id}/keys", Access: OwnerOrToken, Handle: addParticipantKey},
	{Method: del, Path: "/admin/participants/{participant_id}/keys/{key_id}", Access: OwnerOrToken, Handle: removeParticipantKey},
	{Method: post, Path: "/admin/participants/{participant_id}/grants", Access: OwnerOrToken, Handle: grantParticipant},
	{Method: del, Path: "/admin/participants/{participant_id}/grants/{for_id}", Access: OwnerOrToken, Handle: ungrantParticipant},
	{Method: post, Path: "/admin/participants/{participant_id}/acknowledge", Access: OwnerOrToken, Handle: acknowledgeParticipant},
	{Method: post, Path: "/admin/participants/{participant_id}/policy", Access: OwnerOrToken, Handle: setParticipantPolicy},
	{Method: post, Path: "/admin/participants/{participant_id}/disable", Access: OwnerOrToken, Handle: disableParticipant},
	{Method: post, Path: "/admin/webhooks", Access: OwnerOnly, Handle: createWebhook},
	{Method: get, Path: "/admin/webhooks", Access: OwnerOnly, Handle: listWebhooks},
	{Method: del, Path: "/admin/webhooks/{webhook_id}", Access: OwnerOnly, Handle: deleteWebhook},
	{Method: get, Path: "/admin/webhooks/{webhook_id}/deliveries", Access: OwnerOnly, Handle: webhookDeliveries},
	{Method: post, Path: "/admin/webhooks/{webhook_id}/test", Access: OwnerOnly, Handle: testWebhook},
	{Method: post, Path: "/admin/webhooks/{webhook_id}/resume", Access: OwnerOnly, Handle: resumeWebhook},
	{Method: post, Path: "/admin/sample", Access: AdminOnly, Handle: createSample},
	{Method: get, Path: "/admin/audit-logs", Access: AdminOnly, Handle: auditLogs},

	{Method: get, Path: "/codelabs", Access: Anyone, Import: true, Handle: listCodelabs},
	{Method: post, Path: "/codelabs", Access: AdminOnly, Handle: createCodelab},
	{Method: post, Path: "/codelabs/import", Access: AdminOnly, Import: true, Body: maxImport, Handle: importCodelab},
	{Method: get, Path: "/codelabs/{id}", Access: CodelabReader, Import: true, Assistants: true, Handle: getCodelab},
	{Method: put, Path: "/codelabs/{id}", Access: CodelabAdmin, Handle: updateCodelab},
	{Method: del, Path: "/codelabs/{id}", Access: CodelabAdmin, Handle: deleteCodelab},
	{Method: post, Path: "/codelabs/{id}/copy", Access: CodelabAdmin, Handle: copyCodelab},
	{Method: post, Path: "/codelabs/{id}/update-from-source", Access: CodelabAdmin, Handle: updateFromSource},
	{Method: get, Path: "/codelabs/{id}/runs", Access: CodelabAdmin, Handle: compareRuns},
	{Method: put, Path: "/codelabs/{id}/steps", Access: CodelabAdmin, Body: maxSteps, Handle: replaceSteps},
	{Method: get, Path: "/codelabs/{id}/export", Access: CodelabAdmin, Handle: exportCodelab},
	{Method: get, Path: "/codelabs/{id}/export/attendance.csv", Access: CodelabAdmin, Handle: export("attendance", attendance)},
	{Method: get, Path: "/codelabs/{id}/export/quizzes.csv", Access: CodelabAdmin, Handle: export("quizzes", quizResults)},
	{Method: get, Path: "/codelabs/{id}/export/feedback.csv", Access: CodelabAdmin, Handle: export("feedback", feedbackTable)},
	{Method: get, Path: "/codelabs/{id}/export/polls.csv", Access: CodelabAdmin, Handle: export("polls", pollTable)},
	{Method: get, Path: "/codelabs/{id}/export/all", Access: CodelabAdmin, Upload: true, Handle: exportAll},
	{Method: post, Path: "/codelabs/{id}/registration", Access: CodelabAdmin, Handle: setRegistration},
	{Method: post, Path: "/codelabs/{id}/end", Access: CodelabAdmin, Handle: endWorkshop},
	{Method: post, Path: "/codelabs/{id}/rehearsal", Access: CodelabAdmin, Handle: startRehearsal},
	{Method: del, Path: "/codelabs/{id}/rehearsal", Access: CodelabAdmin, Handle: endRehearsal},
	{Method: put, Path: "/codelabs/{id}/pin", Access: CodelabAdmin, Assistants: true, Handle: setPin},
	{Method: get, Path: "/codelabs/{id}/overview", Access: CodelabAdmin, Assistants: true, Handle: overview},
	{Method: get, Path: "/codelabs/{id}/summary", Access: CodelabAdmin, Handle: summarize},
	{Method: get, Path: "/codelabs/{id}/progress", Access: CodelabAdmin, Assistants: true, Handle: progress},

	{Method: get, Path: "/codelabs/{id}/chat", Access: CodelabMember, Assistants: true, Handle: getChat},
	{Method: post, Path: "/codelabs/{id}/direct-messages", Access: CodelabAdmin, Assistants: true, Handle: postDirects},
	{Method: del, Path: "/codelabs/{id}/chat/{message_id}", Access: CodelabAdmin, Assistants: true, Handle: deleteChat},
	{Method: get, Path: "/codelabs/{id}/inline-comments", Access: CodelabMember, Assistants: true, Handle: getThreads},
	{Method: post, Path: "/codelabs/{id}/inline-comments", Access: CodelabMember, Assistants: true, Handle: annotate},
	{Method: post, Path: "/codelabs/{id}/inline-comments/{thread_id}/comments", Access: CodelabMember, Assistants: true, Handle: replyToThread},
	{Method: del, Path: "/codelabs/{id}/inline-comments/{thread_id}/comments/{comment_id}", Access: CodelabMember, Assistants: true, Handle: deleteComment},

	{Method: post, Path: "/codelabs/{id}/register", Access: Registrant, Handle: registerAttendee},
	{Method: get, Path: "/codelabs/{id}/attendees", Access: CodelabMember, Assistants: true, Handle: getAttendees},
	{Method: get, Path: "/codelabs/{id}/attendees/{attendee_id}", Access: CodelabMember, Assistants: true, Handle: getAttendee},
	{Method: get, Path: "/codelabs/{id}/presence", Access: CodelabAdmin, Assistants: true, Handle: getPresence},
	{Method: put, Path: "/codelabs/{id}/attendees/{attendee_id}", Access: CodelabMember, Assistants: true, Handle: updateAttendee},
	{Method: del, Path: "/codelabs/{id}/attendees/{attendee_id}", Access: CodelabMember, Handle: removeAttendee},
	{Method: get, Path: "/codelabs/{id}/attendees/{attendee_id}/export", Access: CodelabMember, Upload: true, Handle: exportAttendee},
	{Method: post, Path: "/codelabs/{id}/attendees/{attendee_id}/reset-pin", Access: CodelabAdmin, Handle: resetPIN},
	{Method: post, Path: "/codelabs/{id}/reset-pins", Access: CodelabAdmin, Handle: resetPINs},
	{Method: get, Path: "/codelabs/{id}/ticks", Access: CodelabAttendee, Handle: getTicks},
	{Method: post, Path: "/codelabs/{id}/complete", Access: CodelabAttendee, Handle: complete},
	{Method: get, Path: "/certificates/{id}", Access: Anyone, Handle: certificate},

	{Method: post, Path: "/codelabs/{id}/help", Access: CodelabMember, Assistants: true, Handle: askHelp},
	{Method: get, Path: "/codelabs/{id}/help", Access: CodelabMember, Assistants: true, Handle: getHelp},
	{Method: post, Path: "/codelabs/{id}/help/{help_id}/claim", Access: CodelabAdmin, Assistants: true, Handle: claimHelp},
	{Method: post, Path: "/codelabs/{id}/help/{help_id}/resolve", Access: CodelabMember, Assistants: true, Handle: resolveHelp},
	{Method: post, Path: "/codelabs/{id}/help/{help_id}/release", Access: CodelabAdmin, Assistants: true, Handle: releaseHelp},
	{Method: post, Path: "/codelabs/{id}/help/answer", Access: CodelabAdmin, Assistants: true, Handle: answerHelp},
	{Method: post, Path: "/codelabs/{id}/feedback", Access: CodelabAttendee, Handle: giveFeedback},
	{Method: get, Path: "/codelabs/{id}/feedback", Access: CodelabAdmin, Assistants: true, Handle: getFeedback},

	{Method: get, Path: "/codelabs/{id}/polls", Access: CodelabMember, Assistants: true, Handle: getPolls},
	{Method: post, Path: "/codelabs/{id}/polls", Access: CodelabAdmin, Assistants: true, Handle: createPoll},
	{Method: put, Path: "/codelabs/{id}/polls/{poll_id}", Access: CodelabAdmin, Assistants: true, Handle: updatePoll},
	{Method: del, Path: "/codelabs/{id}/polls/{poll_id}", Access: CodelabAdmin, Assistants: true, Handle: deletePoll},
	{Method: post, Path: "/codelabs/{id}/polls/{poll_id}/open", Access: CodelabAdmin, Assistants: true, Handle: openPoll},
	{Method: post, Path: "/codelabs/{id}/polls/{poll_id}/close", Access: CodelabAdmin, Assistants: true, Handle: closePoll},
	{Method: post, Path: "/codelabs/{id}/polls/{poll_id}/show", Access: CodelabAdmin, Assistants: true, Handle: showPoll},
	{Method: post, Path: "/codelabs/{id}/polls/{poll_id}/reset", Access: CodelabAdmin, Assistants: true, Handle: resetPoll},
	{Method: put, Path: "/codelabs/{id}/polls/{poll_id}/vote", Access: CodelabAttendee, Handle: votePoll},
	{Method: del, Path: "/codelabs/{id}/polls/{poll_id}/vote", Access: CodelabAttendee, Handle: unvotePoll},
	{Method: get, Path: "/codelabs/{id}/polls/{poll_id}/texts", Access: CodelabAdmin, Assistants: true, Handle: getPollTexts},
	{Method: get, Path: "/codelabs/{id}/questions", Access: CodelabMember, Assistants: true, Handle: getQuestions},
	{Method: post, Path: "/codelabs/{id}/questions", Access: CodelabAttendee, Handle: askQuestion},
	{Method: post, Path: "/codelabs/{id}/questions/from", Access: CodelabAdmin, Assistants: true, Handle: takeQuestion},
	{Method: put, Path: "/codelabs/{id}/questions/{question_id}", Access: CodelabAdmin, Assistants: true, Handle: updateQuestion},
	{Method: del, Path: "/codelabs/{id}/questions/{question_id}", Access: CodelabMember, Assistants: true, Handle: deleteQuestion},
	{Method: put, Path: "/codelabs/{id}/questions/{question_id}/vote", Access: CodelabAttendee, Handle: voteQuestion},
	{Method: del, Path: "/codelabs/{id}/questions/{question_id}/vote", Access: CodelabAttendee, Handle: unvoteQuestion},
	{Method: post, Path: "/codelabs/{id}/questions/{question_id}/merge", Access: CodelabAdmin, Assistants: true, Handle: mergeQuestion},
	{Method: post, Path: "/codelabs/{id}/questions/{question_id}/stop", Access: CodelabAdmin, Assistants: true, Handle: stopAsker},
	{Method: put, Path: "/codelabs/{id}/timer", Access: CodelabAdmin, Assistants: true, Handle: setTimer},
	{Method: put, Path: "/codelabs/{id}/spotlight", Access: CodelabAdmin, Assistants: true, Handle: setSpotlight},

	{Method: get, Path: "/codelabs/{id}/quizzes", Access: CodelabMember, Assistants: true, Handle: getQuizzes},
	{Method: put, Path: "/codelabs/{id}/quizzes", Access: CodelabAdmin, Handle: replaceQuizzes},
	{Method: post, Path: "/codelabs/{id}/quizzes/submit", Access: CodelabAttendee, Handle: submitQuiz},
	{Method: get, Path: "/codelabs/{id}/quizzes/submissions", Access: CodelabAdmin, Assistants: true, Handle: getQuizSubmissions},

	{Method: post, Path: "/ai/conversations", Access: Session, Handle: saveConversation},
	{Method: get, Path: "/codelabs/{id}/ai/conversations", Access: CodelabAdmin, Handle: getConversations},
	{Method: get, Path: "/codelabs/{id}/materials", Access: CodelabMember, Assistants: true, Handle: getMaterials},
	{Method: post, Path: "/codelabs/{id}/materials", Access: CodelabAdmin, Handle: addMaterial},
	{Method: del, Path: "/codelabs/{id}/materials/{material_id}", Access: CodelabAdmin, Handle: deleteMaterial},
	{Method: post, Path: "/upload/material", Access: AdminOnly, Upload: true, File: intake.MaxMaterial, Handle: uploadMaterial},
	{Method: post, Path: "/upload/image", Access: Somebody, Upload: true, File: intake.MaxImage, Handle: uploadImage},
	{Method: get, Path: "/uploads/{kind}/{name}", Access: Anyone, Root: true, Handle: serveUpload},

	{Method: get, Path: "/codelabs/{id}/submissions", Access: CodelabMember, Assistants: true, Handle: getSubmissions},
	{Method: get, Path: "/codelabs/{id}/submissions/download", Access: CodelabAdmin, Handle: downloadSubmissions},
	{Method: post, Path: "/codelabs/{id}/attendees/{attendee_id}/submissions", Access: CodelabAttendee, Upload: true, File: codelab.MaxSubmissionBytes, Handle: submitFile},
	{Method: post, Path: "/codelabs/{id}/attendees/{attendee_id}/submissions/link", Access: CodelabAttendee, Handle: submitLink},
	{Method: get, Path: "/codelabs/{id}/attendees/{attendee_id}/submissions/{submission_id}/file", Access: CodelabMember, Assistants: true, Handle: getSubmissionFile},
	{Method: del, Path: "/codelabs/{id}/attendees/{attendee_id}/submissions/{submission_id}", Access: CodelabMember, Handle: deleteSubmission},

	{Method: post, Path: "/codeserver", Access: AdminOnly, Import: true, Handle: createWorkspace},
	{Method: get, Path: "/codeserver/{id}", Access: CodelabMember, Import: true, Assistants: true, Handle: getWorkspace},
	{Method: del, Path: "/codeserver/{id}", Access: CodelabAdmin, Import: true, Handle: deleteWorkspace},
	{Method: get, Path: "/codeserver/{id}/download", Access: CodelabMember, Import: true, Assistants: true, Handle: downloadWorkspace},
	{Method: post, Path: "/codeserver/{id}/branch", Access: CodelabAdmin, Import: true, Handle: createBranch},
	{Method: get, Path: "/codeserver/{id}/branches", Access: CodelabMember, Import: true, Assistants: true, Handle: listBranches},
	{Method: get, Path: "/codeserver/{id}/branches/{branch}/files", Access: CodelabMember, Import: true, Assistants: true, Handle: listFiles(codelab.BranchWorkspace)},
	{Method: get, Path: "/codeserver/{id}/branches/{branch}/tree", Access: CodelabMember, Import: true, Assistants: true, Handle: describeFiles(codelab.BranchWorkspace)},
	{Method: get, Path: "/codeserver/{id}/branches/{branch}/file", Access: CodelabMember, Import: true, Assistants: true, Handle: readFile(codelab.BranchWorkspace)},
	{Method: post, Path: "/codeserver/{id}/branches/{branch}/files", Access: CodelabAdmin, Import: true, Handle: writeFiles(codelab.BranchWorkspace)},
	{Method: post, Path: "/codeserver/{id}/branches/{branch}/import", Access: CodelabAdmin, Import: true, Upload: true, File: archive.MaxPackedCode, Handle: importFiles(codelab.BranchWorkspace)},
	{Method: post, Path: "/codeserver/{id}/folder", Access: CodelabAdmin, Import: true, Handle: createFolder},
	{Method: get, Path: "/codeserver/{id}/folders", Access: CodelabMember, Import: true, Assistants: true, Handle: listFolders},
	{Method: get, Path: "/codeserver/{id}/folders/{folder}/files", Access: CodelabMember, Import: true, Assistants: true, Handle: listFiles(codelab.FolderWorkspace)},
	{Method: get, Path: "/codeserver/{id}/folders/{folder}/tree", Access: CodelabMember, Import: true, Assistants: true, Handle: describeFiles(codelab.FolderWorkspace)},
	{Method: get, Path: "/codeserver/{id}/folders/{folder}/file", Access: CodelabMember, Import: true, Assistants: true, Handle: readFile(codelab.FolderWorkspace)},
	{Method: post, Path: "/codeserver/{id}/folders/{folder}/files", Access: CodelabAdmin, Import: true, Handle: writeFiles(codelab.FolderWorkspace)},
	{Method: post, Path: "/codeserver/{id}/folders/{folder}/import", Access: CodelabAdmin, Import: true, Upload: true, File: archive.MaxPackedCode, Handle: importFiles(codelab.FolderWorkspace)},

	{Method: post, Path: "/codelabs/{id}/check-access", Access: CodelabAttendee, Handle: giveCheckAccess},
	{Method: post, Path: "/check/{check}", Access: CodelabAttendee, Check: true, Body: maxReport, Handle: reportCheck},
	{Method: post, Path: "/codelabs/{id}/git-access", Access: CodelabMember, Assistants: true, Handle: giveGitAccess},
	{Method: get, Path: "/git/{id}/info/refs", Access: CodelabMember, Root: true, Import: true, Assistants: true, Basic: true, Handle: gitRefs},
	{Method: post, Path: "/git/{id}/git-upload-pack", Access: CodelabMember, Root: true, Import: true, Assistants: true, Basic: true, Reads: true, Body: maxFetch, Handle: gitUploadPack},
	{Method: post, Path: "/git/{id}/git-receive-pack", Access: CodelabAdmin, Root: true, Import: true, Basic: true, Body: git.MaxPack, Handle: gitReceivePack},

	{Method: get, Path: "/join/{code}", Access: Anyone, Joins: true, Handle: findByCode},
	{Method: get, Path: "/app", Access: Anyone, Handle: getApp},
	{Method: get, Path: "/openapi.json", Access: Anyone, Handle: openAPI},
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
