package rest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"atelier/transport/describe"
)

// answered maps component names to response types. A piece (documents.go) contains the description
// and the examples of a component, and the type contains its members.
var answered = map[string]reflect.Type{
	"AIUsage":              reflect.TypeFor[usageRecord](),
	"Account":              reflect.TypeFor[accountRecord](),
	"AccountSession":       reflect.TypeFor[loginRecord](),
	"AppInfo":              reflect.TypeFor[appInfo](),
	"AppLimits":            reflect.TypeFor[appLimits](),
	"Attendee":             reflect.TypeFor[detailedRecord](),
	"AuditRecord":          reflect.TypeFor[auditRecord](),
	"Certificate":          reflect.TypeFor[certificateRecord](),
	"ChatMessage":          reflect.TypeFor[chatRecord](),
	"CheckAccess":          reflect.TypeFor[checkAccess](),
	"CheckCounts":          reflect.TypeFor[checkCounts](),
	"CheckResult":          reflect.TypeFor[checkRecord](),
	"CodeTaken":            reflect.TypeFor[takenRecord](),
	"Codelab":              reflect.TypeFor[codelabMembers](),
	"CodelabUsage":         reflect.TypeFor[codelabUsage](),
	"Comment":              reflect.TypeFor[commentRecord](),
	"CommentDeleted":       reflect.TypeFor[commentDeleted](),
	"Conversation":         reflect.TypeFor[conversationRecord](),
	"Created":              reflect.TypeFor[created](),
	"DirectMessagesPosted": reflect.TypeFor[directMessagesPosted](),
	"DryRun":               reflect.TypeFor[dryRunRecord](),
	"Error":                reflect.TypeFor[problemRecord](),
	"Feedback":             reflect.TypeFor[feedbackRecord](),
	"FilesImported":        reflect.TypeFor[filesImported](),
	"GitAccess":            reflect.TypeFor[gitAccess](),
	"HeadMade":             reflect.TypeFor[headMade](),
	"Health":               reflect.TypeFor[Health](),
	"HealthBackup":         reflect.TypeFor[BackupHealth](),
	"HealthCertificate":    reflect.TypeFor[CertificateHealth](),
	"HealthCommit":         reflect.TypeFor[CommitHealth](),
	"HealthDisk":           reflect.TypeFor[DiskHealth](),
	"HealthNode":           reflect.TypeFor[NodeHealth](),
	"HealthNodes":          reflect.TypeFor[NodesHealth](),
	"HealthPeople":         reflect.TypeFor[PeopleHealth](),
	"HealthQueue":          reflect.TypeFor[QueueHealth](),
	"HelpAsked":            reflect.TypeFor[helpAsked](),
	"HelpRequest":          reflect.TypeFor[ownHelpRecord](),
	"IceServer":            reflect.TypeFor[IceServer](),
	"ImageUpload":          reflect.TypeFor[imageUploaded](),
	"Imported":             reflect.TypeFor[importedRecord](),
	"Invitation":           reflect.TypeFor[invitationRecord](),
	"InvitationShown":      reflect.TypeFor[invitationShown](),
	"JoinInfo":             reflect.TypeFor[joinRecord](),
	"Leader":               reflect.TypeFor[personRecord](),
	"Material":             reflect.TypeFor[materialRecord](),
	"MaterialUpload":       reflect.TypeFor[materialUploaded](),
	"ModelUsage":           reflect.TypeFor[modelUsage](),
	"NewKey":               reflect.TypeFor[shownSecret](),
	"NewParticipant":       reflect.TypeFor[newParticipantRecord](),
	"NewPins":              reflect.TypeFor[newPINs](),
	"NewToken":             reflect.TypeFor[newTokenRecord](),
	"NewWebhook":           reflect.TypeFor[newWebhookRecord](),
	"Overview":             reflect.TypeFor[overviewRecord](),
	"Participant":          reflect.TypeFor[participantRecord](),
	"Pin":                  reflect.TypeFor[pinRecord](),
	"Pointer":              reflect.TypeFor[pointerRecord](),
	"Poll":                 reflect.TypeFor[pollRecord](),
	"PollText":             reflect.TypeFor[pollTextRecord](),
	"PollVote":             reflect.TypeFor[voteRecord](),
	"PollWord":             reflect.TypeFor[WordRecord](),
	"Presence":             reflect.TypeFor[presenceRecord](),
	"Progress":             reflect.TypeFor[timelineRecord](),
	"Pulse":                reflect.TypeFor[pulseRecord](),
	"Pulses":               reflect.TypeFor[Pulses](),
	"Question":             reflect.TypeFor[questionRecord](),
	"Quiz":                 reflect.TypeFor[quizRecord](),
	"QuizResult":           reflect.TypeFor[quizResultRecord](),
	"QuizScore":            reflect.TypeFor[quizScore](),
	"QuizSubmission":       reflect.TypeFor[quizAnswerRecord](),
	"Rehearsal":            reflect.TypeFor[rehearsalRecord](),
	"Run":                  reflect.TypeFor[runRecord](),
	"Session":              reflect.TypeFor[sessionRecord](),
	"SettingsView":         reflect.TypeFor[settingsRecord](),
	"Spotlight":            reflect.TypeFor[SpotlightRecord](),
	"Status":               reflect.TypeFor[statusRecord](),
	"Step":                 reflect.TypeFor[stepRecord](),
	"StepChange":           reflect.TypeFor[stepChangeRecord](),
	"StepOverview":         reflect.TypeFor[stepOverview](),
	"StepReached":          reflect.TypeFor[stepReached](),
	"Submission":           reflect.TypeFor[submissionRecord](),
	"Summary":              reflect.TypeFor[summaryRecord](),
	"TaskCount":            reflect.TypeFor[taskCount](),
	"Thread":               reflect.TypeFor[threadRecord](),
	"Tick":                 reflect.TypeFor[tickRecord](),
	"Ticks":                reflect.TypeFor[ticksRecord](),
	"Timer":                reflect.TypeFor[TimerRecord](),
	"Token":                reflect.TypeFor[tokenRecord](),
	"UpdatedRun":           reflect.TypeFor[updatedRecord](),
	"Waiting":              reflect.TypeFor[waiting](),
	"Webhook":              reflect.TypeFor[webhookRecord](),
	"WebhookAttempt":       reflect.TypeFor[webhookTry](),
	"WebhookTest":          reflect.TypeFor[webhookTested](),
	"WebhookTry":           reflect.TypeFor[webhookLast](),
	"Workspace":            reflect.TypeFor[workspaceRecord](),
	"WorkspaceFile":        reflect.TypeFor[workspaceFile](),
	"WorkspaceFileContent": reflect.TypeFor[fileContent](),
	"WorkspaceFileInfo":    reflect.TypeFor[fileInfo](),
}

// taken maps component names to request body types. A piece can forbid further members in such an
// object.
var taken = map[string]reflect.Type{
	"Annotate":               reflect.TypeFor[annotateBody](),
	"AttendeeUpdate":         reflect.TypeFor[attendeeUpdateBody](),
	"BranchCreate":           reflect.TypeFor[branchCreateBody](),
	"CheckReport":            reflect.TypeFor[checkReportBody](),
	"CodelabCreate":          reflect.TypeFor[codelabCreateBody](),
	"CodelabUpdate":          reflect.TypeFor[codelabUpdateBody](),
	"ConversationSave":       reflect.TypeFor[conversationSaveBody](),
	"DirectMessagesPost":     reflect.TypeFor[directMessagesPostBody](),
	"Ended":                  reflect.TypeFor[endedBody](),
	"FeedbackGive":           reflect.TypeFor[feedbackGiveBody](),
	"FilesWrite":             reflect.TypeFor[filesWriteBody](),
	"FolderCreate":           reflect.TypeFor[folderCreateBody](),
	"HelpAnswer":             reflect.TypeFor[helpAnswerBody](),
	"HelpAsk":                reflect.TypeFor[helpAskBody](),
	"HelpRelease":            reflect.TypeFor[helpReleaseBody](),
	"InvitationAccept":       reflect.TypeFor[invitationAcceptBody](),
	"InvitationLook":         reflect.TypeFor[invitationLookBody](),
	"Login":                  reflect.TypeFor[loginBody](),
	"Logout":                 reflect.TypeFor[logoutBody](),
	"MaterialAdd":            reflect.TypeFor[materialAddBody](),
	"Open":                   reflect.TypeFor[openBody](),
	"ParticipantAcknowledge": reflect.TypeFor[participantAcknowledgeBody](),
	"ParticipantAdd":         reflect.TypeFor[participantAddBody](),
	"ParticipantGrant":       reflect.TypeFor[participantGrantBody](),
	"PasswordChange":         reflect.TypeFor[passwordChangeBody](),
	"PersonInvite":           reflect.TypeFor[personInviteBody](),
	"PersonUpdate":           reflect.TypeFor[personUpdateBody](),
	"PinReset":               reflect.TypeFor[pinResetBody](),
	"PinSet":                 reflect.TypeFor[pinSetBody](),
	"PolicyChange":           reflect.TypeFor[policyChangeBody](),
	"PollCreate":             reflect.TypeFor[pollCreateBody](),
	"PollOpen":               reflect.TypeFor[pollOpenBody](),
	"PollShow":               reflect.TypeFor[pollShowBody](),
	"PollUpdate":             reflect.TypeFor[pollInput](),
	"QuestionCreate":         reflect.TypeFor[questionCreateBody](),
	"QuestionMerge":          reflect.TypeFor[questionMergeBody](),
	"QuestionTake":           reflect.TypeFor[questionTakeBody](),
	"QuestionUpdate":         reflect.TypeFor[questionUpdateBody](),
	"QuizAnswer":             reflect.TypeFor[submittedAnswer](),
	"QuizInput":              reflect.TypeFor[quizInput](),
	"QuizSubmit":             reflect.TypeFor[quizSubmitBody](),
	"Register":               reflect.TypeFor[registerBody](),
	"RehearsalStart":         reflect.TypeFor[rehearsalStartBody](),
	"Reply":                  reflect.TypeFor[replyBody](),
	"Settings":               reflect.TypeFor[settingsBody](),
	"SpotlightSet":           reflect.TypeFor[spotlightSetBody](),
	"StepInput":              reflect.TypeFor[stepInput](),
	"Steps":                  reflect.TypeFor[stepsBody](),
	"SubmissionLink":         reflect.TypeFor[submissionLinkBody](),
	"TimerSet":               reflect.TypeFor[timerSetBody](),
	"TokenCreate":            reflect.TypeFor[tokenCreateBody](),
	"Vote":                   reflect.TypeFor[voteBody](),
	"WebhookCreate":          reflect.TypeFor[webhookCreateBody](),
	"WorkspaceCreate":        reflect.TypeFor[workspaceCreateBody](),
}

// vocabulary contains the components to which tags of response types can refer: the components of
// all pieces.
type vocabulary map[string]json.RawMessage

// Named implements describe.Vocabulary.
func (v vocabulary) Named(name string) (*describe.Schema, bool) {
	text, ok := v[name]
	if !ok {
		panic("no component has the name " + name)
	}
	var s struct{ Type any }
	if err := json.Unmarshal(text, &s); err != nil {
		panic("component " + name + ": " + err.Error())
	}
	if several, ok := s.Type.([]any); ok && slices.Contains(several, any("null")) {
		return &describe.Schema{Type: []string{fmt.Sprint(several[0]), "null"}}, true
	}
	return nil, true
}

// Component implements describe.Vocabulary.
func (v vocabulary) Component(t reflect.Type) string { return componentOf[t] }

// componentOf and bodyOf are the inverses of answered and taken.
var componentOf, bodyOf = inverse(answered), inverse(taken)

func inverse(types map[string]reflect.Type) map[reflect.Type]string {
	names := map[reflect.Type]string{}
	for name, t := range types {
		names[t] = name
	}
	return names
}

// Siblings implements describe.Vocabulary.
func (v vocabulary) Siblings() bool { return true }

// withMembers adds the members of a component's type to the piece that describes the component.
func (v vocabulary) withMembers(name string, piece json.RawMessage) (json.RawMessage, error) {
	var members *describe.Schema
	if t := answered[name]; t != nil {
		members = describe.Of(v, t, false)
	} else if t := taken[name]; t != nil {
		members = describe.Body(v, t)
	} else {
		return piece, nil
	}
	s, err := encoded(members)
	if err != nil {
		return nil, err
	}
	var whole, fromPiece map[string]json.RawMessage
	if err := json.Unmarshal(s, &whole); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(piece, &fromPiece); err != nil {
		return nil, fmt.Errorf("component %s: %w", name, err)
	}
	for member, value := range fromPiece {
		if _, known := whole[member]; known {
			return nil, fmt.Errorf("component %s: its Go type and its piece both describe %s", name, member)
		}
		whole[member] = value
	}
	return encoded(whole)
}
