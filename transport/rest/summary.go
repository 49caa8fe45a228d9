package rest

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
)

// summaryRecord contains a workshop's results for one page.
type summaryRecord struct {
	People    int               `json:"people"`
	Completed int               `json:"completed"`
	Steps     []summaryStep     `json:"steps"`
	Hardest   []string          `json:"hardest" items:"..3" is:"Id" doc:"The steps at which most people were stuck, asked for help, or took longer than planned, the hardest first."`
	Questions []summaryQuestion `json:"questions" doc:"The unanswered questions, the one with the most votes first."`
	Quiz      []summaryQuiz     `json:"quiz"`
	Polls     []*pollRecord     `json:"polls" is:"Poll" doc:"The polls that have been opened."`
	Feedback  summaryFeedback   `json:"feedback"`
}

type summaryStep struct {
	StepID  string   `json:"step_id" is:"Id"`
	Title   string   `json:"title"`
	Planned *float64 `json:"planned" doc:"The planned minutes, or null."`
	Median  *float64 `json:"median" doc:"The minutes that people took. Null if fewer than five have gone on."`
	Stuck   int      `json:"stuck" doc:"The number of people whose latest report on this step is this."`
	Help    int      `json:"help" doc:"The number of requests for help."`
}

type summaryQuestion struct {
	ID    string `json:"id" is:"Id"`
	Text  string `json:"text"`
	Votes int    `json:"votes"`
}

type summaryQuiz struct {
	QuizID   string        `json:"quiz_id" is:"Id"`
	Question string        `json:"question"`
	Wrong    []summaryText `json:"wrong" items:"..10" doc:"The most frequent first."`
}

type summaryText struct {
	Answer string `json:"answer"`
	Count  int    `json:"count"`
}

type summaryFeedback struct {
	Count        int      `json:"count"`
	Difficulty   [5]int   `json:"difficulty" doc:"The number of answers for each value, 1 to 5."`
	Satisfaction [5]int   `json:"satisfaction" doc:"The number of answers for each value, 1 to 5."`
	Comments     []string `json:"comments"`
}

const (
	// fewest is the minimum number of measured times for a median, so that the median reveals no
	// single person's time.
	fewest = 5
	// hardestSteps bounds the number of steps listed as hard. summaryWrong bounds the wrong answers
	// listed per question.
	hardestSteps, summaryWrong = 3, 10
)

// summarize responds with the results of a workshop. People's own words in feedback and quizzes are
// included only with names=1.
func summarize(r *Request) error {
	names, err := r.flag("names")
	if err != nil {
		return err
	}
	v := r.view().Real()
	out := summaryRecord{
		People: v.Attendees.Len(), Completed: v.Completed, Steps: summarySteps(v), Quiz: summaryQuizzes(v, names), Feedback: summaryOfFeedback(v, names),
		Questions: []summaryQuestion{}, Polls: []*pollRecord{},
	}
	out.Hardest = hardest(out.Steps)
	for _, q := range v.Questions {
		if q.State == pb.QuestionState_QUESTION_STATE_OPEN || q.State == pb.QuestionState_QUESTION_STATE_WAITING {
			out.Questions = append(out.Questions, summaryQuestion{q.Id, q.Text, int(q.Votes)})
		}
	}
	slices.SortStableFunc(out.Questions, func(a, b summaryQuestion) int { return cmp.Compare(b.Votes, a.Votes) })
	for _, p := range v.Polls {
		if p.OpenedAt != 0 {
			out.Polls = append(out.Polls, r.poll(v, p))
		}
	}
	return r.JSON(out)
}

func summarySteps(v *codelab.View) []summaryStep {
	out := make([]summaryStep, len(v.Steps))
	spent := spentOn(v)
	for i, st := range v.Steps {
		out[i] = summaryStep{StepID: st.Id, Title: st.Title}
		if st.DurationMinutes > 0 {
			planned := float64(st.DurationMinutes)
			out[i].Planned = &planned
		}
		if len(spent[i]) >= fewest {
			minutes := math.Round(*quantile(spent[i], 0.5)/6) / 10
			out[i].Median = &minutes
		}
	}
	for _, a := range v.Attendees.All() {
		if i := int(a.Pulse.GetStepNumber()) - 1; i >= 0 && i < len(out) && a.Pulse.State == pb.PulseState_PULSE_STATE_STUCK {
			out[i].Stuck++
		}
	}
	for _, h := range v.Help.All() {
		if i := int(h.StepNumber) - 1; i >= 0 && i < len(out) && !h.Offered {
			out[i].Help++
		}
	}
	return out
}

// hardest returns at most hardestSteps steps at which people were stuck, asked for help, or took
// longer than planned. They are ordered by the sum of stuck people and requests for help, and then
// by the excess over the planned time.
func hardest(steps []summaryStep) []string {
	over := func(s summaryStep) float64 {
		if s.Planned == nil || s.Median == nil {
			return 0
		}
		return max(0, *s.Median / *s.Planned - 1)
	}
	hard := slices.DeleteFunc(slices.Clone(steps), func(s summaryStep) bool { return s.Stuck+s.Help == 0 && over(s) == 0 })
	slices.SortStableFunc(hard, func(a, b summaryStep) int {
		return cmp.Or(cmp.Compare(b.Stuck+b.Help, a.Stuck+a.Help), cmp.Compare(over(b), over(a)))
	})
	out := []string{}
	for _, s := range hard[:min(len(hard), hardestSteps)] {
		out = append(out, s.StepID)
	}
	return out
}

// summaryQuizzes returns each question of the quiz with its wrong answers, most frequent first.
// Answers in people's own words are included only with names.
func summaryQuizzes(v *codelab.View, names bool) []summaryQuiz {
	counts := make([]map[string]int, len(v.Quizzes))
	at := map[string]int{}
	for i, q := range v.Quizzes {
		at[q.Id], counts[i] = i, map[string]int{}
	}
	for _, a := range v.Answers.All() {
		if i, there := at[a.QuizId]; there && !a.IsCorrect {
			if chosen, free := chosenOf(v.Quizzes[i], a.Answer); names || !free {
				counts[i][chosen]++
			}
		}
	}
	out := make([]summaryQuiz, len(v.Quizzes))
	for i, q := range v.Quizzes {
		out[i] = summaryQuiz{q.Id, q.Question, []summaryText{}}
		for answer, n := range counts[i] {
			out[i].Wrong = append(out[i].Wrong, summaryText{answer, n})
		}
		slices.SortFunc(out[i].Wrong, func(a, b summaryText) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Answer, b.Answer))
		})
		out[i].Wrong = out[i].Wrong[:min(len(out[i].Wrong), summaryWrong)]
	}
	return out
}

// chosenOf formats the answer to a choice question with the texts of its options. free means that
// the answer is not a choice, but the attendee's own words.
func chosenOf(q *pb.Quiz, answer string) (text string, free bool) {
	var parts []string
	for _, i := range codelab.Choices(answer) {
		if i < 0 || int(i) >= len(q.Options) {
			return answer, true
		}
		parts = append(parts, q.Options[i])
	}
	if q.QuizType != codelab.MultipleChoice || parts == nil {
		return answer, true
	}
	return strings.Join(parts, " + "), false
}

func summaryOfFeedback(v *codelab.View, names bool) summaryFeedback {
	out := summaryFeedback{Count: v.Feedback.Len(), Comments: []string{}}
	count := func(into *[5]int, rating string) {
		if len(rating) == 1 && rating[0] >= '1' && rating[0] <= '5' {
			into[rating[0]-'1']++
		}
	}
	for _, f := range v.Feedback.All() {
		count(&out.Difficulty, f.Difficulty)
		count(&out.Satisfaction, f.Satisfaction)
		if names && f.Comment != "" {
			out.Comments = append(out.Comments, f.Comment)
		}
	}
	return out
}
