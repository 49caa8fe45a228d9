package rest

import (
	"atelier/actors/codelab"
	"atelier/actors/durable"
)

// A run is a copy of a codelab, for teaching it again (RULES.md, "Publishing").

// maxRuns bounds the number of compared runs. Only the newest runs are compared.
const maxRuns = 50

// runRecord contains the results of a run.
type runRecord struct {
	ID        string `json:"id" is:"Id"`
	Title     string `json:"title"`
	CreatedAt string `json:"created_at" is:"LocalTimestamp"`
	Attendees int    `json:"attendees"`
	Completed int    `json:"completed"`
	// Steps are the run's own steps, which can differ between runs.
	Steps    []runStep   `json:"steps"`
	Quizzes  []runQuiz   `json:"quizzes"`
	Feedback runFeedback `json:"feedback"`
}

type runStep struct {
	Title         string   `json:"title"`
	MedianSeconds *float64 `json:"median_seconds" doc:"Of the people who went on; null if nobody has."`
}

type runQuiz struct {
	Question   string   `json:"question"`
	ShareRight *float64 `json:"share_right" range:"0..1" doc:"The share of the answers that are correct. Null before the first answer, and for questions without a correct answer."`
}

type runFeedback struct {
	Count        int            `json:"count"`
	Difficulty   map[string]int `json:"difficulty" range:"any" doc:"The number of answers by value."`
	Satisfaction map[string]int `json:"satisfaction" range:"any" doc:"The number of answers by value."`
}

// compareRuns responds with the results of a codelab's runs, newest first. With itself=1, the results
// of the codelab itself follow.
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
			continue // the run was deleted meanwhile
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
