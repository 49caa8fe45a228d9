package rest

import (
	"iter"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
)

// This file contains the operations on the tasks that attendees ticked in the task lists of steps
// (RULES.md, "Tasks").

// ticksRecord is the number of tasks that a person has ticked, and the number of all tasks.
type ticksRecord struct {
	Done int `json:"done"`
	Of   int `json:"of"`
}

func toTicks(a *pb.Attendee, tasks int) *ticksRecord { return &ticksRecord{codelab.Ticks(a), tasks} }

// tickRecord is a task that a person has ticked.
type tickRecord struct {
	StepID string `json:"step_id" is:"Id"`
	Item   string `json:"item" is:"Task"`
}

func getTicks(r *Request) error {
	v := r.view()
	out := []tickRecord{}
	for t := range tickedBy(v, v.Attendee(r.Caller.ID)) {
		out = append(out, tickRecord{t.StepID, t.Item})
	}
	return r.JSON(out)
}

// tickedRecord is a tick with the text of its task.
type tickedRecord struct {
	StepNumber int    `json:"step_number"`
	StepTitle  string `json:"step_title"`
	tickRecord
	Text string `json:"text"`
}

// tickedBy returns a person's ticks in the order of the text.
func tickedBy(v *codelab.View, a *pb.Attendee) iter.Seq[tickedRecord] {
	return func(yield func(tickedRecord) bool) {
		done := map[tickRecord]bool{}
		for _, t := range a.GetTicks() {
			for _, item := range t.Items {
				done[tickRecord{t.StepId, item}] = true
			}
		}
		for i, st := range v.Steps {
			for _, task := range v.Tasks[i] {
				if t := (tickRecord{st.Id, task.Key}); done[t] && !yield(tickedRecord{i + 1, st.Title, t, task.Text}) {
					return
				}
			}
		}
	}
}

// ticksOf returns a person's ticks only in the person's own export. Facilitators see only the
// numbers.
func ticksOf(t *takeout) iter.Seq[any] {
	return func(yield func(any) bool) {
		if t.reader != t.person {
			return
		}
		for x := range tickedBy(t.v, t.v.Attendee(t.person)) {
			if !yield(x) {
				return
			}
		}
	}
}

const (
	// leastTickers is the minimum number of people who must have ticked a task of a step before the
	// overview shows the counts of this step. The counts of fewer people would reveal who ticked
	// what.
	leastTickers = 3
	// maxTaskShown bounds a task's text in the overview, in code points.
	maxTaskShown = 200
)

// taskCount is a task and the number of people who have ticked it.
type taskCount struct {
	Item string `json:"item" is:"Task"`
	Text string `json:"text" length:"..200" doc:"The beginning of its text, without markup."`
	Done int    `json:"done"`
}

// countTicks counts the ticks of each step. The counts of a step with too few people are nil.
func countTicks(v *codelab.View) []*[]taskCount {
	type place struct{ step, task int }
	places, steps := map[tickRecord]place{}, map[string]int{}
	counts := make([][]taskCount, len(v.Steps))
	for i, st := range v.Steps {
		steps[st.Id] = i
		for j, task := range v.Tasks[i] {
			places[tickRecord{st.Id, task.Key}] = place{i, j}
			counts[i] = append(counts[i], taskCount{task.Key, cut(task.Text, maxTaskShown), 0})
		}
	}
	people := make([]int, len(v.Steps))
	for _, a := range v.Attendees.All() {
		for _, t := range a.Ticks {
			if i, there := steps[t.StepId]; there {
				people[i]++
			}
			for _, item := range t.Items {
				if at, there := places[tickRecord{t.StepId, item}]; there {
					counts[at.step][at.task].Done++
				}
			}
		}
	}
	out := make([]*[]taskCount, len(v.Steps))
	for i := range counts {
		if people[i] >= leastTickers {
			out[i] = &counts[i]
		}
	}
	return out
}

// cut returns the beginning of a text, of at most the given number of code points.
func cut(text string, most int) string {
	n := 0
	for at := range text {
		if n == most {
			return text[:at]
		}
		n++
	}
	return text
}
