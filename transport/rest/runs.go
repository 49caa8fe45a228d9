package rest

import (
	"atelier/actors/codelab"
	"atelier/actors/durable"
)

// A run is a copy of a codelab: the same, taught again (RULES.md, "Publishing").

// maxRuns bounds the runs that are compared; the newest count.
const maxRuns = 50

// runRecord is what came of a run.
type runRecord struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	CreatedAt string `json:"created_at"`
	Attendees int    `json:"attendees"`
	Completed int    `json:"completed"`
	// Steps are those that the run has, which may not be those of another.
	Steps    []runStep   `json:"steps"`
	Quizzes  []runQuiz   `json:"quizzes"`
	Feedback runFeedback `json:"feedback"`
}

type runStep struct {
	Title string `json:"title"`
	// MedianSeconds is of those who went on; null before.
	MedianSeconds *float64 `json:"median_seconds"`
}

type runQuiz struct {
	Question string `json:"question"`
	// ShareRight is the part of those who answered whose answer is right, 0 to 1; null
	// before, and where no answer is right or wrong.
	ShareRight *float64 `json:"share_right"`
}

type runFeedback struct {
	Count int `json:"count"`
	// How many said what.
	Difficulty   map[string]int `json:"difficulty"`
	Satisfaction map[string]int `json:"satisfaction"`
}

// compareRuns answers the runs of a codelab, newest first; with itself=1 behind them
// what came of the codelab itself.
func compareRuns(r *Request) error {
	itself, err := r.flag("itself")
	if err != nil {
		return err
	}
	if err := r.api.List.Sync(); err != nil {
		return err
	}
	out := []runRecord{}
	for _, m := range r.api.List.All() {
		if m.SourceId != r.Codelab.ID() || len(out) == maxRuns {
			continue
		}
		w, err := r.api.Codelabs.Get(m.Id)
		if durable.IsMissing(err) {
			continue // deleted a moment ago
		}
		if err != nil {
			return err
		}
		if v := w.View().Real(); v.Meta != nil {
			out = append(out, toRun(v))
		}
	}
	if v := r.view().Real(); itself && v.Meta != nil {
		out = append(out, toRun(v))
	}
	return r.JSON(out)
}

func toRun(v *codelab.View) runRecord {
	out := runRecord{
		ID: v.Meta.Id, Title: v.Meta.Title, CreatedAt: createdAt(v.Meta), Attendees: v.Attendees.Len(), Completed: v.Completed,
		Steps: make([]runStep, len(v.Steps)), Quizzes: make([]runQuiz, len(v.Quizzes)),
		Feedback: runFeedback{Count: v.Feedback.Len(), Difficulty: map[string]int{}, Satisfaction: map[string]int{}},
	}
	spent := spentOn(v)
	for i, st := range v.Steps {
		out.Steps[i] = runStep{st.Title, quantile(spent[i], 0.5)}
	}
	answered, right := make([]int, len(v.Quizzes)), make([]int, len(v.Quizzes))
	at := map[string]int{}
	for i, q := range v.Quizzes {
		at[q.Id] = i
	}
	for _, a := range v.Answers.All() {
		if i, there := at[a.QuizId]; there {
			if answered[i]++; a.IsCorrect {
				right[i]++
			}
		}
	}
	for i, q := range v.Quizzes {
		out.Quizzes[i].Question = q.Question
		if answered[i] > 0 && q.QuizType == codelab.MultipleChoice {
			share := float64(right[i]) / float64(answered[i])
			out.Quizzes[i].ShareRight = &share
		}
	}
	for _, f := range v.Feedback.All() {
		out.Feedback.Difficulty[f.Difficulty]++
		out.Feedback.Satisfaction[f.Satisfaction]++
	}
	return out
}
