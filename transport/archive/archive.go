// Package archive reads and writes codelabs as files: our own ZIP, a claat
// Markdown file, or a ZIP that holds one. Reading trusts nothing: sizes,
// counts, ratios and names are bounded before anything is kept.
//
// Our ZIP holds codelab.json, steps/NN.md with the title as front matter,
// guide.md, quizzes.json, materials.json, and in files/ the materials and the
// images that the text uses; files.json says what they were called. Links in
// the text stay as they are; an import lets them lead to the new files.
package archive

import (
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/wire"
)

const (
	format        = "atelier-codelab"
	formatVersion = 1
)

// document is codelab.json.
type document struct {
	Format            string `json:"format"`
	FormatVersion     int    `json:"format_version"`
	Title             string `json:"title"`
	Description       string `json:"description"`
	Author            string `json:"author"`
	IsPublic          *yes   `json:"is_public"`
	QuizEnabled       yes    `json:"quiz_enabled"`
	RequireQuiz       yes    `json:"require_quiz"`
	RequireFeedback   yes    `json:"require_feedback"`
	RequireSubmission yes    `json:"require_submission"`
	AIEnabled         *bool  `json:"ai_enabled"`
	CreatedAt         string `json:"created_at,omitempty"`
	// GuideMarkdown is in the record of the reference application.
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

func invalid(text string, args ...any) error { return wire.Invalid(text, args...) }
