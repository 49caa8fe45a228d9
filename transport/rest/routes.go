package rest

import (
	"github.com/valyala/fasthttp"

	"atelier/actors/codelab"
	"atelier/transport/intake"
)

// access says who may call an operation (decisions W3).
type access uint8

const (
	// anyone: no session is needed.
	anyone access = iota
	// session: any session or API token.
	session
	// adminOnly: an admin.
	adminOnly
	// labAdmin: an admin, on an existing codelab.
	labAdmin
	// labMember: an admin, or an attendee of the codelab.
	labMember
	// labAttendee: an attendee of the codelab.
	labAttendee
	// labReader: anyone if the codelab is public, else its members.
	labReader
	// register: anyone, on an existing codelab.
	register
	// somebody: an admin, or an attendee of any codelab.
	somebody
)

// Limits of bodies, bytes (decisions W1, W4).
const (
	maxJSON   = 4 << 20
	maxSteps  = 32 << 20
	maxImport = 256 << 20
)

// operation is one line of the interface.
type operation struct {
	method, path string
	access       access
	body         int  // limit of the body, bytes; 0 is maxJSON
	upload       bool // counts as an upload, not as a write
	joins        bool // has a bucket of its own for each address
	file         int  // limit of the file that is uploaded, bytes
	root         bool // the path is not below /api
	head         bool // answers HEAD too, as what serves files does
	handle       func(*Request) error
	name         string // method and path, for logs and metrics
}

const (
	get  = fasthttp.MethodGet
	post = fasthttp.MethodPost
	put  = fasthttp.MethodPut
	del  = fasthttp.MethodDelete
)

// operations is the whole interface: what is under /api, and the files.
var operations = table([]operation{
	{method: post, path: "/login", access: anyone, handle: login},
	{method: get, path: "/session", access: session, handle: getSession},
	{method: post, path: "/logout", access: anyone, handle: logout},
	{method: post, path: "/admin/tokens", access: adminOnly, handle: createToken},
	{method: get, path: "/admin/tokens", access: adminOnly, handle: listTokens},
	{method: del, path: "/admin/tokens/{token_id}", access: adminOnly, handle: revokeToken},
	{method: post, path: "/admin/settings", access: adminOnly, handle: saveSettings},
	{method: get, path: "/admin/settings", access: adminOnly, handle: getSettings},
	{method: get, path: "/admin/ai/usage", access: adminOnly, handle: aiUsage},
	{method: post, path: "/admin/participants", access: adminOnly, handle: addParticipant},
	{method: get, path: "/admin/participants", access: adminOnly, handle: listParticipants},
	{method: post, path: "/admin/participants/{participant_id}/keys", access: adminOnly, handle: addParticipantKey},
	{method: del, path: "/admin/participants/{participant_id}/keys/{key_id}", access: adminOnly, handle: removeParticipantKey},
	{method: post, path: "/admin/participants/{participant_id}/grants", access: adminOnly, handle: grantParticipant},
	{method: del, path: "/admin/participants/{participant_id}/grants/{for_id}", access: adminOnly, handle: ungrantParticipant},
	{method: post, path: "/admin/participants/{participant_id}/acknowledge", access: adminOnly, handle: acknowledgeParticipant},
	{method: post, path: "/admin/participants/{participant_id}/policy", access: adminOnly, handle: setParticipantPolicy},
	{method: post, path: "/admin/participants/{participant_id}/disable", access: adminOnly, handle: disableParticipant},
	{method: get, path: "/admin/audit-logs", access: adminOnly, handle: auditLogs},

	{method: get, path: "/codelabs", access: anyone, handle: listCodelabs},
	{method: post, path: "/codelabs", access: adminOnly, handle: createCodelab},
	{method: post, path: "/codelabs/import", access: adminOnly, body: maxImport, handle: importCodelab},
	{method: get, path: "/codelabs/{id}", access: labReader, handle: getCodelab},
	{method: put, path: "/codelabs/{id}", access: labAdmin, handle: updateCodelab},
	{method: del, path: "/codelabs/{id}", access: labAdmin, handle: deleteCodelab},
	{method: post, path: "/codelabs/{id}/copy", access: labAdmin, handle: copyCodelab},
	{method: put, path: "/codelabs/{id}/steps", access: labAdmin, body: maxSteps, handle: replaceSteps},
	{method: get, path: "/codelabs/{id}/export", access: labAdmin, handle: exportCodelab},
	{method: get, path: "/codelabs/{id}/export/attendance.csv", access: labAdmin, handle: export("attendance", attendance)},
	{method: get, path: "/codelabs/{id}/export/quizzes.csv", access: labAdmin, handle: export("quizzes", quizResults)},
	{method: get, path: "/codelabs/{id}/export/feedback.csv", access: labAdmin, handle: export("feedback", feedbackTable)},
	{method: post, path: "/codelabs/{id}/registration", access: labAdmin, handle: setRegistration},
	{method: post, path: "/codelabs/{id}/end", access: labAdmin, handle: endWorkshop},
	{method: put, path: "/codelabs/{id}/pin", access: labAdmin, handle: setPin},
	{method: get, path: "/codelabs/{id}/overview", access: labAdmin, handle: overview},

	{method: get, path: "/codelabs/{id}/chat", access: labMember, handle: getChat},
	{method: del, path: "/codelabs/{id}/chat/{message_id}", access: labAdmin, handle: deleteChat},
	{method: get, path: "/codelabs/{id}/inline-comments", access: labMember, handle: getThreads},
	{method: post, path: "/codelabs/{id}/inline-comments", access: labMember, handle: annotate},
	{method: post, path: "/codelabs/{id}/inline-comments/{thread_id}/comments", access: labMember, handle: replyToThread},
	{method: del, path: "/codelabs/{id}/inline-comments/{thread_id}/comments/{comment_id}", access: labMember, handle: deleteComment},

	{method: post, path: "/codelabs/{id}/register", access: register, handle: registerAttendee},
	{method: get, path: "/codelabs/{id}/attendees", access: labMember, handle: getAttendees},
	{method: get, path: "/codelabs/{id}/attendees/{attendee_id}", access: labMember, handle: getAttendee},
	{method: get, path: "/codelabs/{id}/presence", access: labAdmin, handle: getPresence},
	{method: put, path: "/codelabs/{id}/attendees/{attendee_id}", access: labAdmin, handle: updateAttendee},
	{method: del, path: "/codelabs/{id}/attendees/{attendee_id}", access: labMember, handle: removeAttendee},
	{method: post, path: "/codelabs/{id}/attendees/{attendee_id}/reset-pin", access: labAdmin, handle: resetPIN},
	{method: post, path: "/codelabs/{id}/complete", access: labAttendee, handle: complete},
	{method: get, path: "/certificates/{id}", access: anyone, handle: certificate},

	{method: post, path: "/codelabs/{id}/help", access: labMember, handle: askHelp},
	{method: get, path: "/codelabs/{id}/help", access: labMember, handle: getHelp},
	{method: post, path: "/codelabs/{id}/help/{help_id}/claim", access: labAdmin, handle: claimHelp},
	{method: post, path: "/codelabs/{id}/help/{help_id}/resolve", access: labMember, handle: resolveHelp},
	{method: post, path: "/codelabs/{id}/feedback", access: labAttendee, handle: giveFeedback},
	{method: get, path: "/codelabs/{id}/feedback", access: labAdmin, handle: getFeedback},

	{method: get, path: "/codelabs/{id}/quizzes", access: labMember, handle: getQuizzes},
	{method: put, path: "/codelabs/{id}/quizzes", access: labAdmin, handle: replaceQuizzes},
	{method: post, path: "/codelabs/{id}/quizzes/submit", access: labAttendee, handle: submitQuiz},
	{method: get, path: "/codelabs/{id}/quizzes/submissions", access: labAdmin, handle: getQuizSubmissions},

	{method: post, path: "/ai/stream", access: session, handle: func(r *Request) error { return r.api.AI.Stream(r) }},
	{method: post, path: "/ai/conversations", access: session, handle: saveConversation},
	{method: get, path: "/codelabs/{id}/ai/conversations", access: labAdmin, handle: getConversations},
	{method: get, path: "/codelabs/{id}/materials", access: labMember, handle: getMaterials},
	{method: post, path: "/codelabs/{id}/materials", access: labAdmin, handle: addMaterial},
	{method: del, path: "/codelabs/{id}/materials/{material_id}", access: labAdmin, handle: deleteMaterial},
	{method: post, path: "/upload/material", access: adminOnly, upload: true, file: intake.MaxMaterial, handle: uploadMaterial},
	{method: post, path: "/upload/image", access: somebody, upload: true, file: intake.MaxImage, handle: uploadImage},
	{method: get, path: "/uploads/{kind}/{name}", access: anyone, root: true, head: true, handle: serveUpload},

	{method: get, path: "/codelabs/{id}/submissions", access: labMember, handle: getSubmissions},
	{method: get, path: "/codelabs/{id}/submissions/download", access: labAdmin, handle: downloadSubmissions},
	{method: post, path: "/codelabs/{id}/attendees/{attendee_id}/submissions", access: labAttendee, upload: true, file: codelab.MaxSubmissionBytes, handle: submitFile},
	{method: post, path: "/codelabs/{id}/attendees/{attendee_id}/submissions/link", access: labAttendee, handle: submitLink},
	{method: get, path: "/codelabs/{id}/attendees/{attendee_id}/submissions/{submission_id}/file", access: labMember, head: true, handle: getSubmissionFile},
	{method: del, path: "/codelabs/{id}/attendees/{attendee_id}/submissions/{submission_id}", access: labMember, handle: deleteSubmission},

	{method: post, path: "/codeserver", access: adminOnly, handle: createWorkspace},
	{method: get, path: "/codeserver/{id}", access: labAdmin, handle: getWorkspace},
	{method: del, path: "/codeserver/{id}", access: labAdmin, handle: deleteWorkspace},
	{method: get, path: "/codeserver/{id}/download", access: labAdmin, handle: downloadWorkspace},
	{method: post, path: "/codeserver/{id}/branch", access: labAdmin, handle: createBranch},
	{method: get, path: "/codeserver/{id}/branches", access: labAdmin, handle: listBranches},
	{method: get, path: "/codeserver/{id}/branches/{branch}/files", access: labAdmin, handle: listFiles(codelab.BranchWorkspace)},
	{method: get, path: "/codeserver/{id}/branches/{branch}/file", access: labAdmin, handle: readFile(codelab.BranchWorkspace)},
	{method: post, path: "/codeserver/{id}/branches/{branch}/files", access: labAdmin, handle: writeFiles(codelab.BranchWorkspace)},
	{method: post, path: "/codeserver/{id}/folder", access: labAdmin, handle: createFolder},
	{method: get, path: "/codeserver/{id}/folders", access: labAdmin, handle: listFolders},
	{method: get, path: "/codeserver/{id}/folders/{folder}/files", access: labAdmin, handle: listFiles(codelab.FolderWorkspace)},
	{method: get, path: "/codeserver/{id}/folders/{folder}/file", access: labAdmin, handle: readFile(codelab.FolderWorkspace)},
	{method: post, path: "/codeserver/{id}/folders/{folder}/files", access: labAdmin, handle: writeFiles(codelab.FolderWorkspace)},

	{method: get, path: "/ws/{id}", access: labMember, handle: func(r *Request) error { return r.api.Live.WebSocket(r) }},
	{method: get, path: "/codelabs/{id}/events", access: labMember, handle: func(r *Request) error { return r.api.Live.Events(r) }},
	{method: post, path: "/codelabs/{id}/messages", access: labMember, handle: func(r *Request) error { return r.api.Live.Message(r) }},

	{method: get, path: "/join/{code}", access: anyone, joins: true, handle: findByCode},
	{method: get, path: "/app", access: anyone, handle: getApp},
	{method: get, path: "/openapi.json", access: anyone, handle: openAPI},
	{method: get, path: "/asyncapi.json", access: anyone, handle: asyncAPI},
})

func table(ops []operation) []*operation {
	out := make([]*operation, len(ops))
	for i := range ops {
		ops[i].name = ops[i].method + " " + ops[i].path
		if ops[i].body == 0 {
			ops[i].body = maxJSON
		}
		out[i] = &ops[i]
	}
	return out
}

// Operations lists method and path of every operation with parameters in
// braces; paths are below /api, but for those that begin with /uploads/.
func Operations() [][2]string {
	out := make([][2]string, len(operations))
	for i, op := range operations {
		out[i] = [2]string{op.method, op.path}
	}
	return out
}
