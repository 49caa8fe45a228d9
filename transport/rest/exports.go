package rest

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/wire"
)

// export sends a table of the codelab in its current state. The table lacks simulated and removed
// people, and data removed by retention.
func export(what string, table func(v *codelab.View, w *sheet)) func(*Request) error {
	return func(r *Request) error {
		v := r.view().Real()
		if v.Meta == nil {
			return errNoCodelab
		}
		mark, err := r.mark()
		if err != nil {
			return err
		}
		if err := r.noteTable(what); err != nil {
			return err
		}
		r.Stream(what+"-"+v.Meta.Id+".csv", "text/csv; charset=utf-8; header=present", func(w io.Writer) error {
			if _, err := io.WriteString(w, mark); err != nil {
				return err
			}
			s := newSheet(w)
			table(v, s)
			return s.Close()
		})
		return nil
	}
}

// mark returns the beginning of a table: the byte order mark, without which Excel does not
// recognize UTF-8, or "" with bom=0.
func (r *Request) mark() (string, error) {
	switch r.Query("bom") {
	case "", "1", "true":
		return byteOrderMark, nil
	case "0", "false":
		return "", nil
	}
	return "", wire.Invalid("bom must be 0 or 1")
}

// noteTable records the export of a table. If a page only displays the attendance, nothing is
// recorded. The page shows the same people as the list of attendees, whose reads are not recorded
// either.
func (r *Request) noteTable(what string) error {
	if what == "attendance" {
		shown, err := r.flag("view")
		if err != nil || shown {
			return err
		}
	}
	return r.noteExport(codelab.NoteExport{What: what})
}

// noteExport records an export in the audit trail. A HEAD request is not an export.
func (r *Request) noteExport(what codelab.NoteExport) error {
	if r.IsHead() {
		return nil
	}
	_, err := r.do(what)
	return err
}

func stampOrNothing(ms int64) string {
	if ms == 0 {
		return ""
	}
	return wire.Stamp(ms)
}

// attendance writes a row per attendee, with the results of checks and the time at which each step
// was first reached.
func attendance(v *codelab.View, w *sheet) {
	head := []string{"attendee_id", "name", "email", "registered_at", "current_step", "furthest_step", "steps", "is_completed", "completed_at"}
	for _, c := range v.Checks {
		head = append(head, "check "+c.Name)
	}
	for i, st := range v.Steps {
		head = append(head, fmt.Sprintf("step %d reached_at: %s", i+1, st.Title))
	}
	w.Row(head...)
	for _, a := range v.Attendees.All() {
		row := []string{
			a.Id, a.Name, a.Email, wire.Stamp(a.CreatedAt), strconv.Itoa(int(a.CurrentStep)), strconv.Itoa(int(a.FurthestStep)), strconv.Itoa(len(v.Steps)),
			strconv.FormatBool(a.CompletedAt != 0), stampOrNothing(a.CompletedAt),
		}
		for _, c := range v.Checks {
			row = append(row, checkCell(a, c.Name))
		}
		for i := range v.Steps {
			at := int64(0)
			if i < len(a.ReachedAt) {
				at = a.ReachedAt[i]
			}
			row = append(row, stampOrNothing(at))
		}
		w.Row(row...)
	}
}

// quizResults writes a row per answer to a question that still exists.
func quizResults(v *codelab.View, w *sheet) {
	w.Row("attendee_id", "name", "email", "question_number", "quiz_id", "question", "quiz_type", "answer", "answer_text", "is_correct", "answered_at",
		"attempts", "first_answer", "first_answer_text", "first_correct")
	number := map[string]int{}
	for i, q := range v.Quizzes {
		number[q.Id] = i
	}
	for _, a := range v.Answers.All() {
		i, known := number[a.QuizId]
		if !known {
			continue
		}
		q, who := v.Quizzes[i], v.Attendee(a.AttendeeId)
		first, right := codelab.FirstAnswer(a)
		w.Row(
			a.AttendeeId, who.GetName(), who.GetEmail(), strconv.Itoa(i+1), q.Id, q.Question, q.QuizType, a.Answer, chosen(q, a.Answer),
			strconv.FormatBool(a.IsCorrect), wire.Stamp(a.CreatedAt),
			strconv.Itoa(int(a.Changes)+1), first, chosen(q, first), strconv.FormatBool(right),
		)
	}
}

// chosen returns the texts of the options chosen in the answer to a choice question. The answer to
// any other question is returned unchanged.
func chosen(q *pb.Quiz, answer string) string {
	if q.QuizType != codelab.MultipleChoice {
		return answer
	}
	var texts []string
	for _, i := range codelab.Choices(answer) {
		if i >= 0 && int(i) < len(q.Options) {
			texts = append(texts, q.Options[i])
		}
	}
	return strings.Join(texts, "; ")
}

// feedbackTable writes a row per feedback.
func feedbackTable(v *codelab.View, w *sheet) {
	w.Row("attendee_id", "name", "difficulty", "satisfaction", "comment", "created_at")
	for _, f := range v.Feedback.All() {
		w.Row(f.AttendeeId, v.Attendee(f.AttendeeId).GetName(), f.Difficulty, f.Satisfaction, f.Comment, wire.Stamp(f.CreatedAt))
	}
}
