package rest

import (
	"github.com/valyala/fasthttp"

	"atelier/actors/codelab"
	"atelier/transport/archive"
	"atelier/transport/intake"
)

// Access says who may call an operation (RULES.md, "Who may call what").
type Access uint8

const (
	// Anyone: no session is needed.
	Anyone Access = iota
	// Session: any session or API token.
	Session
	// AdminOnly: an admin.
	AdminOnly
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

// Limits of bodies, bytes (RULES.md, "Limits").
const (
	maxJSON    = 4 << 20
	maxUnknown = 64 << 10 // where it is not known who asks: login, registration, joining
	maxSteps   = 32 << 20
	maxImport  = 256 << 20
)

// Operation is one line of the interface.
type Operation struct {
	Method, Path string // Path is below /api; {id} is that of a codelab
	Access       Access
	Body         int  // limit of the body, bytes; 0 is that of any JSON, less where anyone may ask
	Upload       bool // counts as an upload, not as a read or write
	Joins        bool // has a bucket of its own for each address
	File         int  // limit of the file that is uploaded, bytes
	Root         bool // the path is not below /api
	Head         bool // answers HEAD too, as what serves files does
	Handle       func(*Request) error
}

const (
	get  = fasthttp.MethodGet
	post = fasthttp.MethodPost
	put  = fasthttp.MethodPut
	del  = fasthttp.MethodDelete
)

// operations are the resources: what is under /api, and the files. Others give
// theirs with Config.Others.
var operations = []Operation{
	{Method: post, Path: "/login", Access: Anyone, Handle: logIn},
	{Method: get, Path: "/session", Access: Session, Handle: getSession},
	{Method: post, Path: "/logout", Access: Anyone, Handle: logOut},
	{Method: post, Path: "/admin/tokens", Access: AdminOnly, Handle: createToken},
	{Method: get, Path: "/admin/tokens", Access: AdminOnly, Handle: listTokens},
	{Method: del, Path: "/admin/tokens/{token_id}", Access: AdminOnly, Handle: revokeToken},
	{Method: post, Path: "/admin/settings", Access: AdminOnly, Handle: saveSettings},
	{Method: get, Path: "/admin/settings", Access: AdminOnly, Handle: getSettings},
	{Method: get, Path: "/admin/ai/usage", Access: AdminOnly, Handle: aiUsage},
	{Method: post, Path: "/admin/participants", Access: AdminOnly, Handle: addParticipant},
	{Method: get, Path: "/admin/participants", Access: AdminOnly, Handle: listParticipants},
	{Method: post, Path: "/admin/participants/{participant_id}/keys", Access: AdminOnly, Handle: addParticipantKey},
	{Method: del, Path: "/admin/participants/{participant_id}/keys/{key_id}", Access: AdminOnly, Handle: removeParticipantKey},
	{Method: post, Path: "/admin/participants/{participant_id}/grants", Access: AdminOnly, Handle: grantParticipant},
	{Method: del, Path: "/admin/participants/{participant_id}/grants/{for_id}", Access: AdminOnly, Handle: ungrantParticipant},
	{Method: post, Path: "/admin/participants/{participant_id}/acknowledge", Access: AdminOnly, Handle: acknowledgeParticipant},
	{Method: post, Path: "/admin/participants/{participant_id}/policy", Access: AdminOnly, Handle: setParticipantPolicy},
	{Method: post, Path: "/admin/participants/{participant_id}/disable", Access: AdminOnly, Handle: disableParticipant},
	{Method: get, Path: "/admin/audit-logs", Access: AdminOnly, Handle: auditLogs},

	{Method: get, Path: "/codelabs", Access: Anyone, Handle: listCodelabs},
	{Method: post, Path: "/codelabs", Access: AdminOnly, Handle: createCodelab},
	{Method: post, Path: "/codelabs/import", Access: AdminOnly, Body: maxImport, Handle: importCodelab},
	{Method: get, Path: "/codelabs/{id}", Access: CodelabReader, Handle: getCodelab},
	{Method: put, Path: "/codelabs/{id}", Access: CodelabAdmin, Handle: updateCodelab},
	{Method: del, Path: "/codelabs/{id}", Access: CodelabAdmin, Handle: deleteCodelab},
	{Method: post, Path: "/codelabs/{id}/copy", Access: CodelabAdmin, Handle: copyCodelab},
	{Method: put, Path: "/codelabs/{id}/steps", Access: CodelabAdmin, Body: maxSteps, Handle: replaceSteps},
	{Method: get, Path: "/codelabs/{id}/export", Access: CodelabAdmin, Handle: exportCodelab},
	{Method: get, Path: "/codelabs/{id}/export/attendance.csv", Access: CodelabAdmin, Handle: export("attendance", attendance)},
	{Method: get, Path: "/codelabs/{id}/export/quizzes.csv", Access: CodelabAdmin, Handle: export("quizzes", quizResults)},
	{Method: get, Path: "/codelabs/{id}/export/feedback.csv", Access: CodelabAdmin, Handle: export("feedback", feedbackTable)},
	{Method: get, Path: "/codelabs/{id}/export/all", Access: CodelabAdmin, Upload: true, Handle: exportAll},
	{Method: post, Path: "/codelabs/{id}/registration", Access: CodelabAdmin, Handle: setRegistration},
	{Method: post, Path: "/codelabs/{id}/end", Access: CodelabAdmin, Handle: endWorkshop},
	{Method: put, Path: "/codelabs/{id}/pin", Access: CodelabAdmin, Handle: setPin},
	{Method: get, Path: "/codelabs/{id}/overview", Access: CodelabAdmin, Handle: overview},
	{Method: get, Path: "/codelabs/{id}/progress", Access: CodelabAdmin, Handle: progress},

	{Method: get, Path: "/codelabs/{id}/chat", Access: CodelabMember, Handle: getChat},
	{Method: post, Path: "/codelabs/{id}/direct-messages", Access: CodelabAdmin, Handle: postDirects},
	{Method: del, Path: "/codelabs/{id}/chat/{message_id}", Access: CodelabAdmin, Handle: deleteChat},
	{Method: get, Path: "/codelabs/{id}/inline-comments", Access: CodelabMember, Handle: getThreads},
	{Method: post, Path: "/codelabs/{id}/inline-comments", Access: CodelabMember, Handle: annotate},
	{Method: post, Path: "/codelabs/{id}/inline-comments/{thread_id}/comments", Access: CodelabMember, Handle: replyToThread},
	{Method: del, Path: "/codelabs/{id}/inline-comments/{thread_id}/comments/{comment_id}", Access: CodelabMember, Handle: deleteComment},

	{Method: post, Path: "/codelabs/{id}/register", Access: Registrant, Handle: registerAttendee},
	{Method: get, Path: "/codelabs/{id}/attendees", Access: CodelabMember, Handle: getAttendees},
	{Method: get, Path: "/codelabs/{id}/attendees/{attendee_id}", Access: CodelabMember, Handle: getAttendee},
	{Method: get, Path: "/codelabs/{id}/presence", Access: CodelabAdmin, Handle: getPresence},
	{Method: put, Path: "/codelabs/{id}/attendees/{attendee_id}", Access: CodelabAdmin, Handle: updateAttendee},
	{Method: del, Path: "/codelabs/{id}/attendees/{attendee_id}", Access: CodelabMember, Handle: removeAttendee},
	{Method: get, Path: "/codelabs/{id}/attendees/{attendee_id}/export", Access: CodelabMember, Upload: true, Handle: exportAttendee},
	{Method: post, Path: "/codelabs/{id}/attendees/{attendee_id}/reset-pin", Access: CodelabAdmin, Handle: resetPIN},
	{Method: post, Path: "/codelabs/{id}/reset-pins", Access: CodelabAdmin, Handle: resetPINs},
	{Method: post, Path: "/codelabs/{id}/complete", Access: CodelabAttendee, Handle: complete},
	{Method: get, Path: "/certificates/{id}", Access: Anyone, Handle: certificate},

	{Method: post, Path: "/codelabs/{id}/help", Access: CodelabMember, Handle: askHelp},
	{Method: get, Path: "/codelabs/{id}/help", Access: CodelabMember, Handle: getHelp},
	{Method: post, Path: "/codelabs/{id}/help/{help_id}/claim", Access: CodelabAdmin, Handle: claimHelp},
	{Method: post, Path: "/codelabs/{id}/help/{help_id}/resolve", Access: CodelabMember, Handle: resolveHelp},
	{Method: post, Path: "/codelabs/{id}/feedback", Access: CodelabAttendee, Handle: giveFeedback},
	{Method: get, Path: "/codelabs/{id}/feedback", Access: CodelabAdmin, Handle: getFeedback},

	{Method: get, Path: "/codelabs/{id}/quizzes", Access: CodelabMember, Handle: getQuizzes},
	{Method: put, Path: "/codelabs/{id}/quizzes", Access: CodelabAdmin, Handle: replaceQuizzes},
	{Method: post, Path: "/codelabs/{id}/quizzes/submit", Access: CodelabAttendee, Handle: submitQuiz},
	{Method: get, Path: "/codelabs/{id}/quizzes/submissions", Access: CodelabAdmin, Handle: getQuizSubmissions},

	{Method: post, Path: "/ai/conversations", Access: Session, Handle: saveConversation},
	{Method: get, Path: "/codelabs/{id}/ai/conversations", Access: CodelabAdmin, Handle: getConversations},
	{Method: get, Path: "/codelabs/{id}/materials", Access: CodelabMember, Handle: getMaterials},
	{Method: post, Path: "/codelabs/{id}/materials", Access: CodelabAdmin, Handle: addMaterial},
	{Method: del, Path: "/codelabs/{id}/materials/{material_id}", Access: CodelabAdmin, Handle: deleteMaterial},
	{Method: post, Path: "/upload/material", Access: AdminOnly, Upload: true, File: intake.MaxMaterial, Handle: uploadMaterial},
	{Method: post, Path: "/upload/image", Access: Somebody, Upload: true, File: intake.MaxImage, Handle: uploadImage},
	{Method: get, Path: "/uploads/{kind}/{name}", Access: Anyone, Root: true, Head: true, Handle: serveUpload},

	{Method: get, Path: "/codelabs/{id}/submissions", Access: CodelabMember, Handle: getSubmissions},
	{Method: get, Path: "/codelabs/{id}/submissions/download", Access: CodelabAdmin, Handle: downloadSubmissions},
	{Method: post, Path: "/codelabs/{id}/attendees/{attendee_id}/submissions", Access: CodelabAttendee, Upload: true, File: codelab.MaxSubmissionBytes, Handle: submitFile},
	{Method: post, Path: "/codelabs/{id}/attendees/{attendee_id}/submissions/link", Access: CodelabAttendee, Handle: submitLink},
	{Method: get, Path: "/codelabs/{id}/attendees/{attendee_id}/submissions/{submission_id}/file", Access: CodelabMember, Head: true, Handle: getSubmissionFile},
	{Method: del, Path: "/codelabs/{id}/attendees/{attendee_id}/submissions/{submission_id}", Access: CodelabMember, Handle: deleteSubmission},

	{Method: post, Path: "/codeserver", Access: AdminOnly, Handle: createWorkspace},
	{Method: get, Path: "/codeserver/{id}", Access: CodelabAdmin, Handle: getWorkspace},
	{Method: del, Path: "/codeserver/{id}", Access: CodelabAdmin, Handle: deleteWorkspace},
	{Method: get, Path: "/codeserver/{id}/download", Access: CodelabAdmin, Handle: downloadWorkspace},
	{Method: post, Path: "/codeserver/{id}/branch", Access: CodelabAdmin, Handle: createBranch},
	{Method: get, Path: "/codeserver/{id}/branches", Access: CodelabAdmin, Handle: listBranches},
	{Method: get, Path: "/codeserver/{id}/branches/{branch}/files", Access: CodelabAdmin, Handle: listFiles(codelab.BranchWorkspace)},
	{Method: get, Path: "/codeserver/{id}/branches/{branch}/tree", Access: CodelabAdmin, Handle: describeFiles(codelab.BranchWorkspace)},
	{Method: get, Path: "/codeserver/{id}/branches/{branch}/file", Access: CodelabAdmin, Handle: readFile(codelab.BranchWorkspace)},
	{Method: post, Path: "/codeserver/{id}/branches/{branch}/files", Access: CodelabAdmin, Handle: writeFiles(codelab.BranchWorkspace)},
	{Method: post, Path: "/codeserver/{id}/branches/{branch}/import", Access: CodelabAdmin, Upload: true, File: archive.MaxPackedCode, Handle: importFiles(codelab.BranchWorkspace)},
	{Method: post, Path: "/codeserver/{id}/folder", Access: CodelabAdmin, Handle: createFolder},
	{Method: get, Path: "/codeserver/{id}/folders", Access: CodelabAdmin, Handle: listFolders},
	{Method: get, Path: "/codeserver/{id}/folders/{folder}/files", Access: CodelabAdmin, Handle: listFiles(codelab.FolderWorkspace)},
	{Method: get, Path: "/codeserver/{id}/folders/{folder}/tree", Access: CodelabAdmin, Handle: describeFiles(codelab.FolderWorkspace)},
	{Method: get, Path: "/codeserver/{id}/folders/{folder}/file", Access: CodelabAdmin, Handle: readFile(codelab.FolderWorkspace)},
	{Method: post, Path: "/codeserver/{id}/folders/{folder}/files", Access: CodelabAdmin, Handle: writeFiles(codelab.FolderWorkspace)},
	{Method: post, Path: "/codeserver/{id}/folders/{folder}/import", Access: CodelabAdmin, Upload: true, File: archive.MaxPackedCode, Handle: importFiles(codelab.FolderWorkspace)},

	{Method: get, Path: "/join/{code}", Access: Anyone, Joins: true, Handle: findByCode},
	{Method: get, Path: "/app", Access: Anyone, Handle: getApp},
	{Method: get, Path: "/openapi.json", Access: Anyone, Handle: openAPI},
}

// body is the limit of the operation's body, bytes.
func (op *Operation) body() int {
	switch {
	case op.Body > 0:
		return op.Body
	case op.open():
		return maxUnknown
	}
	return maxJSON
}

// open says that it is not known who is calling before the body is read.
func (op *Operation) open() bool { return op.Access == Anyone || op.Access == Registrant }

// Operations are those of this package.
func Operations() []Operation { return operations }
