package rest

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/cow"
	"atelier/actors/files"
	"atelier/actors/markdown"
	"atelier/actors/naming"
	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

// codelabRecord is a codelab as sent to clients. Responses to other people omit the members that are
// for admins only.
type codelabRecord struct {
	ID                 string   `json:"id" is:"Id"`
	Title              string   `json:"title" length:"1..200"`
	Description        string   `json:"description" length:"..4000"`
	Author             string   `json:"author" length:"..120"`
	IsPublic           bool     `json:"is_public" doc:"Anyone can read and register. For a private codelab, registration requires the «join_code»."`
	QuizEnabled        bool     `json:"quiz_enabled"`
	RequireQuiz        bool     `json:"require_quiz" doc:"A passed quiz is required to complete the codelab. Effective only while «quiz_enabled» is true."`
	RequireFeedback    bool     `json:"require_feedback" doc:"Feedback is required to complete the codelab."`
	RequireSubmission  bool     `json:"require_submission" doc:"A submission is required to complete the codelab."`
	RequireChecks      bool     `json:"require_checks" doc:"An attendee can complete the codelab only after all checks that the steps declare have succeeded. The server does not verify what people report about their own work."`
	GuideMarkdown      *string  `json:"guide_markdown" length:"..50000" doc:"The preparation guide. Facilitators get it with its notes (see «Step»), others without. Null if there is no guide. For others, also null if the guide consists of notes only."`
	CreatedAt          string   `json:"created_at" is:"LocalTimestamp"`
	RegistrationOpen   bool     `json:"registration_open" doc:"False if a facilitator closed the registration or ended the workshop."`
	EndedAt            *string  `json:"ended_at" is:"Timestamp" doc:"The end of the workshop. Null if it has not ended."`
	EmailRetentionDays int32    `json:"email_retention_days" range:"0..36500" doc:"Days after which attendees' e-mail addresses are erased; 0 keeps them."`
	ChatRetentionDays  int32    `json:"chat_retention_days" range:"0..36500" doc:"Days after which chat messages are erased; 0 keeps them."`
	AIEnabled          bool     `json:"ai_enabled" doc:"Attendees can ask the AI about this codelab."`
	Questions          string   `json:"questions" enum:"off|open|checked" doc:"Whether attendees can ask everybody questions. With «checked», a facilitator opens each question first."`
	QuestionsAnonymous bool     `json:"questions_anonymous" doc:"Whether attendees can ask such questions without their name."`
	Slug               *string  `json:"slug" length:"..100" doc:"The «id:» of the file from which the codelab was created. Importing a later version of the file with «match» finds the codelab by it."`
	JoinCode           string   `json:"join_code,omitempty" pattern:"^[A-HJ-NP-Z2-9]{6}$" doc:"Six characters with which people register for a private codelab. Only for admins."`
	SourceID           **string `json:"source_id,omitempty" is:"Id" doc:"The codelab from which it was copied. Null if it is not a copy, or if the original was deleted. Only for admins."`
	DeletionAt         **string `json:"deletion_at,omitempty" is:"Timestamp" doc:"The time at which the server will delete the codelab with all its data («[retention] codelabs_days»), at least 14 days after this time was first set. Null means never. Only for facilitators."`
	ShareCode          string   `json:"share_code" enum:"none|start|pointed|all" doc:"The branches or folders of the code that attendees can read. «start» means each «step-k-start» up to the pointer's step (step 1 without a pointer). «pointed» adds «step-k-end» of each step before the pointer's step. «all» means every «step-k-start» and «step-k-end». Attendees can never read another branch or folder, such as «main»."`
	StepsCount         int32    `json:"steps_count"`
	Minutes            int32    `json:"minutes" doc:"The sum of the planned minutes of the steps."`
	Hours              *float64 `json:"hours" range:"0..1000" multiple:"0.5" doc:"The hours on the certificate, in steps of 0.5. Null means the sum of the planned minutes, rounded to half hours; 0 means not shown."`
	certificateSettings
	Rehearsal **rehearsalRecord `json:"rehearsal,omitempty" doc:"The running rehearsal. Only for admins."`
}

// certificateSettings contains the texts and images of a codelab's certificate, except names and
// times.
type certificateSettings struct {
	Organiser       string  `json:"organiser" length:"..120" doc:"The organiser of the workshop, on the certificate."`
	LogoURL         *string `json:"logo_url" pattern:"^/uploads/images/" doc:"An image that was uploaded here: PNG, JPEG or WebP of at most 200 kB, on the certificate."`
	Accent          string  `json:"accent" enum:"blue|green|violet|rust|ink" doc:"The colour of the certificate."`
	CertificateText string  `json:"certificate_text" length:"..500" doc:"Learning goals, on the certificate."`
	Seal            bool    `json:"seal" doc:"Whether the certificate shows the share of the person's time on each step."`
}

// codelabMembers contains all members that a codelab can have in a response.
type codelabMembers struct {
	codelabRecord
	clockRecord    `optional:"true"`
	liveRecord     `optional:"true"`
	activityRecord `optional:"true"`
}

func toCertificateSettings(m *pb.Codelab) certificateSettings {
	return certificateSettings{m.Organiser, wire.OrNull(m.LogoUrl), codelab.Accents[m.Accent], m.CertificateText, m.Seal}
}

// toCodelab returns the record of a codelab. With admin, it includes the members for admins, and the
// notes in the guide.
func (r *Request) toCodelab(m *pb.Codelab, admin bool) codelabRecord {
	out := codelabRecord{
		ID: m.Id, Title: m.Title, Description: m.Description, Author: m.Author, IsPublic: m.IsPublic,
		QuizEnabled: m.QuizEnabled, RequireQuiz: m.RequireQuiz, RequireFeedback: m.RequireFeedback,
		RequireSubmission: m.RequireSubmission, RequireChecks: m.RequireChecks, GuideMarkdown: m.GuideMarkdown,
		CreatedAt:        createdAt(m),
		RegistrationOpen: !m.RegistrationClosed && m.EndedAt == 0, EndedAt: wire.StampOrNull(m.EndedAt),
		EmailRetentionDays: m.EmailRetentionDays, ChatRetentionDays: m.ChatRetentionDays,
		AIEnabled: !m.AiDisabled, Questions: codelab.Askings[m.Questions], QuestionsAnonymous: !m.QuestionsNamed,
		Slug:      wire.OrNull(m.Slug),
		ShareCode: codelab.Sharings[m.ShareCode], StepsCount: m.Extent.GetSteps(), Minutes: m.Extent.GetMinutes(), Hours: codelab.OwnHours(m),
		certificateSettings: toCertificateSettings(m),
	}
	if admin {
		source, rehearsal, deletion := r.sourceOf(m), toRehearsal(m.Rehearsal), r.deletionAt(m)
		out.JoinCode, out.SourceID, out.Rehearsal, out.DeletionAt = m.JoinCode, &source, &rehearsal, &deletion
	} else if m.GuideMarkdown != nil {
		guide := markdown.WithoutNotes(*m.GuideMarkdown)
		out.GuideMarkdown = wire.OrNull(guide)
	}
	return out
}

// createdAt returns the creation time in the format of the reference application.
func createdAt(m *pb.Codelab) string {
	return time.UnixMilli(m.CreatedAt).UTC().Format("2006-01-02T15:04:05")
}

// deletionAt returns the time at which the server deletes a codelab, or nil if it never does.
func (r *Request) deletionAt(m *pb.Codelab) *string {
	if r.api.CodelabsDays == 0 { // a time announced under an earlier configuration does not apply
		return nil
	}
	return wire.StampOrNull(m.DeletionAt)
}

// sourceOf returns the id of the codelab from which this codelab was copied. It returns nil if this
// codelab is not a copy, or if the original no longer exists.
func (r *Request) sourceOf(m *pb.Codelab) *string {
	if m.SourceId == "" || r.api.List.Known(m.SourceId) == nil {
		return nil
	}
	return &m.SourceId
}

type stepRecord struct {
	ID              string `json:"id" is:"Id"`
	CodelabID       string `json:"codelab_id" is:"Id"`
	StepNumber      int    `json:"step_number" range:"1.." doc:"The first step is 1."`
	Title           string `json:"title" length:"1..200"`
	ContentMarkdown string `json:"content_markdown" length:"..50000"`
	DurationMinutes int32  `json:"duration_minutes" range:"0..10000" doc:"The planned time of the step; 0 if none is set."`
}

type codelabCreateBody struct {
	Title *string `json:"title" length:"1..200" doc:"One line, trimmed, 1 to 200 characters."`
	codelabSettings
}

// codelabUpdateBody leaves omitted members unchanged.
type codelabUpdateBody struct {
	Title           *string `json:"title,omitempty" length:"1..200" doc:"One line, trimmed, 1 to 200 characters."`
	codelabSettings `defaults:"false"`
}

type codelabSettings struct {
	Description        *string `json:"description,omitempty" length:"..4000" default:"\"\""`
	Author             *string `json:"author,omitempty" length:"..120" default:"\"\"" doc:"One line, trimmed."`
	IsPublic           *bool   `json:"is_public,omitempty" default:"true"`
	QuizEnabled        *bool   `json:"quiz_enabled,omitempty" default:"false"`
	RequireQuiz        *bool   `json:"require_quiz,omitempty" default:"false"`
	RequireFeedback    *bool   `json:"require_feedback,omitempty" default:"false"`
	RequireSubmission  *bool   `json:"require_submission,omitempty" default:"false"`
	RequireChecks      *bool   `json:"require_checks,omitempty" default:"false"`
	GuideMarkdown      *string `json:"guide_markdown,omitempty" null:"true" length:"..50000" default:"null" doc:"In an update, null keeps the guide, and \"\" removes it."`
	EmailRetentionDays *int32  `json:"email_retention_days,omitempty" range:"0..36500" default:"0"`
	ChatRetentionDays  *int32  `json:"chat_retention_days,omitempty" range:"0..36500" default:"0"`
	AIEnabled          *bool   `json:"ai_enabled,omitempty" default:"true" doc:"Attendees can ask the AI about this codelab."`
	Questions          *string `json:"questions,omitempty" enum:"off|open|checked" default:"\"off\""`
	QuestionsAnonymous *bool   `json:"questions_anonymous,omitempty" default:"true"`
	ShareCode          *string `json:"share_code,omitempty" enum:"none|start|pointed|all" default:"\"none\""`
	Organiser          *string `json:"organiser,omitempty" length:"..120"`
	// For Hours and LogoURL, null differs from an omitted member.
	Hours           json.RawMessage `json:"hours,omitempty" as:"number" null:"true" range:"0..1000" multiple:"0.5"`
	LogoURL         json.RawMessage `json:"logo_url,omitempty" as:"string" null:"true" pattern:"^/uploads/images/"`
	Accent          *string         `json:"accent,omitempty" enum:"blue|green|violet|rust|ink"`
	CertificateText *string         `json:"certificate_text,omitempty" length:"..500"`
	Seal            *bool           `json:"seal,omitempty"`
}

// namedSetting returns the index of a setting's name in names, or nil if the setting is omitted. It
// returns an error for an unknown name.
func namedSetting[E ~int32](field string, names []string, given *string) (*E, error) {
	if given == nil {
		return nil, nil
	}
	i := slices.Index(names, *given)
	if i < 0 {
		return nil, wire.Invalid("%s must be %s", field, naming.Or(names...))
	}
	e := E(i)
	return &e, nil
}

// asking returns the setting for attendees' questions. sharing returns the setting for the code
// that attendees can read.
func (in *codelabSettings) asking() (*pb.Asking, error) {
	return namedSetting[pb.Asking]("questions", codelab.Askings, in.Questions)
}

func (in *codelabSettings) sharing() (*pb.Sharing, error) {
	return namedSetting[pb.Sharing]("share_code", codelab.Sharings, in.ShareCode)
}

// certificate adds the certificate's settings to an update.
func (in *codelabSettings) certificate(u *codelab.Update) (err error) {
	u.Organiser, u.CertificateText, u.Seal = in.Organiser, in.CertificateText, in.Seal
	if u.Accent, err = namedSetting[pb.Accent]("accent", codelab.Accents, in.Accent); err != nil {
		return err
	}
	var hours *float64
	switch {
	case len(in.Hours) == 0:
	case json.Unmarshal(in.Hours, &hours) != nil:
		return wire.Invalid("hours must be a number or null")
	case hours == nil:
		u.ClearHours = true
	default:
		if u.HalfHours, err = codelab.HalfHours(*hours); err != nil {
			return err
		}
	}
	var logo *string
	switch {
	case len(in.LogoURL) == 0:
	case json.Unmarshal(in.LogoURL, &logo) != nil:
		return wire.Invalid("logo_url must be a string or null")
	default:
		u.LogoURL = new(or(logo, ""))
	}
	return nil
}

// checkLogo refuses a logo that is not an image of this server, or is too large.
func (r *Request) checkLogo(url *string) error {
	if url == nil || *url == "" {
		return nil
	}
	name, ok := codelab.LogoName(*url)
	if !ok {
		return nil // the codelab's actor reports the error
	}
	u, err := r.api.Files.Get(name)
	switch {
	case errors.Is(err, files.ErrMissing):
		return wire.Invalid("logo_url is not the address of an image on this server")
	case err != nil:
		return err
	case u.Size > codelab.MaxLogo:
		return wire.Invalid("logo_url is the address of an image of more than %d kB", codelab.MaxLogo>>10)
	}
	return nil
}

func or[T any](p *T, fallback T) T {
	if p == nil {
		return fallback
	}
	return *p
}

// listCodelabs returns all codelabs to admins who do not act as attendees. To others it returns the
// public codelabs, and the codelabs in which they are registered or assist.
func listCodelabs(r *Request) error {
	if err := r.api.List.Sync(); err != nil {
		return err
	}
	all, encoded := r.api.List.Listing()
	wanted := r.Query("q")
	if wanted != "" {
		var err error
		if all, err = r.found(all, wanted); err != nil {
			return err
		}
	}
	source := r.Query("source_id")
	if source != "" {
		all = slices.DeleteFunc(slices.Clone(all), func(m *pb.Codelab) bool { return m.SourceId != source })
	}
	switch {
	case r.who.Admin() && r.Query("as") != "attendee":
		return r.listForAdmins(all)
	case r.who.Known():
		return r.listVisible(all)
	}
	if wanted != "" || source != "" {
		encoded = new(cow.Encoded) // a cache for this selection only
	}
	return r.cachedOr(encoded, forOthers, func() (any, error) {
		public := slices.DeleteFunc(slices.Clone(all), func(m *pb.Codelab) bool { return !m.IsPublic })
		out := make([]codelabRecord, len(public))
		for i, m := range public {
			out[i] = r.toCodelab(m, false)
		}
		return out, nil
	})
}

// maxSearch bounds the search text, in bytes.
const maxSearch = 400

// found returns the codelabs with the text in their title or author, ignoring case. For admins it
// also matches the join code.
func (r *Request) found(all []*pb.Codelab, text string) (out []*pb.Codelab, _ error) {
	if len(text) > maxSearch {
		return nil, wire.Invalid("q is longer than %d bytes", maxSearch)
	}
	text = naming.Key(text)
	code := ""
	if r.who.Admin() && r.Query("as") != "attendee" {
		code = joinCode(text)
	}
	for _, m := range all {
		if strings.Contains(naming.Key(m.Title), text) || strings.Contains(naming.Key(m.Author), text) || code != "" && m.JoinCode == code {
			out = append(out, m)
		}
	}
	return out, nil
}

func createCodelab(r *Request) error {
	var in codelabCreateBody
	if err := r.decode(&in); err != nil {
		return err
	}
	if or(in.GuideMarkdown, "") == "" {
		in.GuideMarkdown = nil
	}
	asking, err := in.asking()
	if err != nil {
		return err
	}
	sharing, err := in.sharing()
	if err != nil {
		return err
	}
	var u codelab.Update
	if err := in.certificate(&u); err != nil {
		return err
	}
	if err := r.checkLogo(u.LogoURL); err != nil {
		return err
	}
	release, err := r.api.Files.ClaimKnown(codelab.Mentions(u)...)
	if err != nil {
		return err
	}
	defer release()
	m, err := r.api.Codelabs.Create(r.Caller, &codelab.Create{Codelab: &pb.Codelab{
		Title: *in.Title, Description: or(in.Description, ""), Author: or(in.Author, ""), IsPublic: or(in.IsPublic, true),
		QuizEnabled: or(in.QuizEnabled, false), RequireQuiz: or(in.RequireQuiz, false),
		RequireFeedback: or(in.RequireFeedback, false), RequireSubmission: or(in.RequireSubmission, false),
		RequireChecks: or(in.RequireChecks, false),
		GuideMarkdown: in.GuideMarkdown, EmailRetentionDays: or(in.EmailRetentionDays, 0), ChatRetentionDays: or(in.ChatRetentionDays, 0),
		AiDisabled: !or(in.AIEnabled, true), Questions: or(asking, 0), QuestionsNamed: !or(in.QuestionsAnonymous, true),
		ShareCode: or(sharing, 0),
		Organiser: or(u.Organiser, ""), HalfHours: u.HalfHours, LogoUrl: or(u.LogoURL, ""), Accent: or(u.Accent, 0),
		CertificateText: or(u.CertificateText, ""), Seal: or(u.Seal, false),
	}})
	if err != nil {
		return err
	}
	return r.JSON(r.toCodelab(m, true))
}

func getCodelab(r *Request) error {
	v := r.view()
	if v.Meta == nil {
		return errNoCodelab
	}
	variant, slot := variantAnyone, forOthers
	orphan := false
	switch {
	case r.IsAdmin():
		variant, slot = variantAdmin, forAdmins
		// Deleting the source changes neither this codelab nor its tag, so the response has its own
		// variant.
		if orphan = v.Meta.SourceId != "" && r.sourceOf(v.Meta) == nil; orphan {
			variant = variantOrphan
		}
	case r.isMember():
		variant, slot = variantOthers, forMembers
	}
	if r.freshRevision(v.Revisions.Codelab, v.Changed.Codelab, variant) {
		return nil
	}
	encode := func() any {
		steps := make([]stepRecord, len(v.Steps))
		for i, st := range v.Steps {
			steps[i] = stepRecord{st.Id, v.Meta.Id, i + 1, st.Title, st.ContentMarkdown, st.DurationMinutes}
			if slot != forAdmins {
				steps[i].ContentMarkdown = markdown.WithoutNotes(st.ContentMarkdown)
			}
		}
		if slot == forOthers {
			return []any{r.toCodelab(v.Meta, false), steps}
		}
		return []any{r.toTaught(v, v.Meta), steps}
	}
	switch {
	case slot == forOthers:
		return r.cached(v.Encoded.Codelab, slot, encode)
	case orphan:
		return r.JSON(encode())
	}
	return r.stamped(v.Encoded.Codelab, slot, encode)
}

func updateCodelab(r *Request) error {
	var in codelabUpdateBody
	if err := r.decode(&in); err != nil {
		return err
	}
	u := codelab.Update{
		Title: in.Title, Description: in.Description, Author: in.Author, IsPublic: in.IsPublic, QuizEnabled: in.QuizEnabled,
		RequireQuiz: in.RequireQuiz, RequireFeedback: in.RequireFeedback, RequireSubmission: in.RequireSubmission,
		RequireChecks: in.RequireChecks,
		GuideMarkdown: in.GuideMarkdown, EmailRetentionDays: in.EmailRetentionDays, ChatRetentionDays: in.ChatRetentionDays,
		AIEnabled: in.AIEnabled,
	}
	asking, err := in.asking()
	if err != nil {
		return err
	}
	u.Questions = asking
	if u.ShareCode, err = in.sharing(); err != nil {
		return err
	}
	if err := in.certificate(&u); err != nil {
		return err
	}
	if err := r.checkLogo(u.LogoURL); err != nil {
		return err
	}
	if in.QuestionsAnonymous != nil {
		named := !*in.QuestionsAnonymous
		u.QuestionsNamed = &named
	}
	if in.GuideMarkdown != nil && *in.GuideMarkdown == "" {
		u.GuideMarkdown, u.ClearGuide = nil, true
	}
	made, err := r.edit(u)
	if err != nil {
		return err
	}
	return r.JSON(r.toTaught(r.Codelab.View(), made.Codelab))
}

func deleteCodelab(r *Request) error {
	err := r.Codelab.RemoveWithCode(r.api.Workspaces, func(id string) error { return r.api.Codelabs.Delete(r.Caller, id) })
	if err != nil {
		return err
	}
	return r.NoContent()
}

type stepsBody struct {
	Steps *[]stepInput `json:"steps" items:"1..200" is:"StepInput"`
}

type stepInput struct {
	ID              string  `json:"id,omitempty" doc:"The id of a step of this codelab, which keeps its identity and its comments. Any other id, or none, makes a new step."`
	Title           *string `json:"title" length:"1..200" doc:"One line, trimmed."`
	ContentMarkdown *string `json:"content_markdown" length:"..50000" doc:"Stored as sent."`
	DurationMinutes *int32  `json:"duration_minutes,omitempty" range:"0..10000" doc:"If omitted, an existing step keeps its value."`
}

func replaceSteps(r *Request) error {
	var in stepsBody
	if err := r.decode(&in); err != nil {
		return err
	}
	durations := map[string]int32{} // existing steps keep their duration if the body omits it
	for _, st := range r.Codelab.View().Steps {
		durations[st.Id] = st.DurationMinutes
	}
	steps := make([]*pb.Step, len(*in.Steps))
	for i, st := range *in.Steps {
		steps[i] = &pb.Step{Id: st.ID, Title: *st.Title, ContentMarkdown: *st.ContentMarkdown, DurationMinutes: or(st.DurationMinutes, durations[st.ID])}
	}
	if _, err := r.edit(codelab.ReplaceSteps{Steps: steps}); err != nil {
		return err
	}
	return r.ok()
}

type openBody struct {
	Open *bool `json:"open"`
}

func setRegistration(r *Request) error {
	var in openBody
	if err := r.decode(&in); err != nil {
		return err
	}
	return r.answerCodelab(codelab.SetRegistration{Open: *in.Open})
}

type endedBody struct {
	Ended *bool `json:"ended,omitempty" default:"true"`
}

// endWorkshop ends the workshop, or reopens it with {"ended": false}.
func endWorkshop(r *Request) error {
	var in endedBody
	if err := r.decodeOptional(&in); err != nil {
		return err
	}
	return r.answerCodelab(codelab.SetEnded{Ended: or(in.Ended, true), DeletionDays: r.api.CodelabsDays})
}

func (r *Request) answerCodelab(b codelab.Body) error {
	v, err := r.do(b)
	if err != nil {
		return err
	}
	return r.JSON(r.toTaught(r.Codelab.View(), v.(*pb.Codelab)))
}

// oneLine returns a trimmed field that no actor checks. It returns an error if the field is not one
// line, or has more than most code points.
func oneLine(field, value string, most int) (string, error) {
	value, ok := naming.Line(value)
	switch {
	case !ok:
		return "", wire.Invalid("%s must be one line, without control characters", field)
	case utf8.RuneCountInString(value) > most:
		return "", wire.Invalid("%s is longer than %d characters", field, most)
	}
	return value, nil
}

var errNoCodelab = &httpapi.Error{Status: 404, Text: "codelab not found"}
