// Package archive reads codelabs from files: our own ZIP, a ZIP of the reference application, a
// claat Markdown file, or a ZIP with a claat file. It writes our own ZIP and a ZIP of submissions,
// and reads the code archives for workspaces. The package does not trust its input. Sizes, counts,
// compression ratios and names are bounded.
//
// Our ZIP contains codelab.json, quizzes.json, materials.json, and steps/NN.md with the title and
// duration as front matter. It contains guide.md and polls.json only if the codelab has a guide or
// polls. The folder files/ contains the materials and the images that the text uses. files.json
// contains the original names of the files that have one. An export leaves the links in the text
// unchanged. An import rewrites them to the imported files.
package archive

import (
	"slices"
	"strconv"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/wire"
)

const (
	format        = "atelier-codelab"
	formatVersion = 1
)

// document is codelab.json.
type document struct {
	Format        string `json:"format"`
	FormatVersion int    `json:"format_version"`
	// Slug is the id that matches a later version of the file to its codelab.
	Slug              string `json:"slug,omitempty"`
	Title             string `json:"title"`
	Description       string `json:"description"`
	Author            string `json:"author"`
	IsPublic          *yes   `json:"is_public"`
	QuizEnabled       yes    `json:"quiz_enabled"`
	RequireQuiz       yes    `json:"require_quiz"`
	RequireFeedback   yes    `json:"require_feedback"`
	RequireSubmission yes    `json:"require_submission"`
	RequireChecks     bool   `json:"require_checks,omitempty"`
	AIEnabled         *bool  `json:"ai_enabled"`
	// Questions is one of codelab.Askings.
	Questions          string `json:"questions,omitempty"`
	QuestionsAnonymous *bool  `json:"questions_anonymous,omitempty"`
	// ShareCode is one of codelab.Sharings.
	ShareCode string `json:"share_code,omitempty"`
	// The certificate's content. Accent is one of codelab.Accents.
	Organiser       string   `json:"organiser,omitempty"`
	Hours           *float64 `json:"hours,omitempty"`
	LogoURL         string   `json:"logo_url,omitempty"`
	Accent          string   `json:"accent,omitempty"`
	CertificateText string   `json:"certificate_text,omitempty"`
	Seal            bool     `json:"seal,omitempty"`
	CreatedAt       string   `json:"created_at,omitempty"`
	// The days after which e-mail addresses and chat messages are erased; 0 means never.
	EmailRetentionDays int32 `json:"email_retention_days,omitempty"`
	ChatRetentionDays  int32 `json:"chat_retention_days,omitempty"`
	// GuideMarkdown is used by the reference application.
	GuideMarkdown *string `json:"guide_markdown,omitempty"`
}

// quiz is an element of quizzes.json.
type quiz struct {
	Question       string   `json:"question"`
	QuizType       string   `json:"quiz_type"`
	Options        []string `json:"options"`
	CorrectAnswer  *int32   `json:"correct_answer"`
	CorrectAnswers []int32  `json:"correct_answers,omitempty"`
}

func fromQuiz(q *pb.Quiz) quiz {
	out := quiz{Question: q.Question, QuizType: q.QuizType, Options: q.Options}
	if len(q.Correct) > 0 {
		out.CorrectAnswer = &q.Correct[0]
	}
	if q.Several {
		out.CorrectAnswers = q.Correct
	}
	return out
}

func (q quiz) quiz() *pb.Quiz {
	out := &pb.Quiz{Question: q.Question, QuizType: q.QuizType, Options: q.Options}
	switch {
	case len(q.CorrectAnswers) > 0:
		out.Correct, out.Several = q.CorrectAnswers, true
	case q.CorrectAnswer != nil:
		out.Correct = []int32{*q.CorrectAnswer}
	}
	return out
}

// poll is an element of polls.json. An import creates it as a draft.
type poll struct {
	Kind      string   `json:"kind"`
	Question  string   `json:"question"`
	Options   []string `json:"options,omitempty"`
	Anonymous bool     `json:"anonymous,omitempty"`
	// StepNumber is the number of the poll's step, or 0 if the poll belongs to no step.
	StepNumber int     `json:"step_number,omitempty"`
	Right      []int32 `json:"right,omitempty"`
}

func fromPoll(p *pb.Poll, steps []*pb.Step) poll {
	out := poll{Kind: codelab.PollKinds[p.Kind-1], Question: p.Question, Options: p.Options, Anonymous: p.Anonymous, Right: p.Right}
	out.StepNumber = 1 + slices.IndexFunc(steps, func(st *pb.Step) bool { return st.Id == p.StepId })
	return out
}

// poll returns the draft. During an import, the id of a step is its number.
func (p poll) poll() *pb.Poll {
	out := &pb.Poll{Kind: codelab.PollKind(p.Kind), Question: p.Question, Options: p.Options, Anonymous: p.Anonymous, Right: p.Right}
	if p.StepNumber > 0 {
		out.StepId = strconv.Itoa(p.StepNumber)
	}
	return out
}

func invalid(text string, args ...any) error { return wire.Invalid(text, args...) }
