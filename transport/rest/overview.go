package rest

import (
	"slices"
	"time"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/wire"
)

type stepOverview struct {
	StepNumber    int      `json:"step_number" range:"1.."`
	Title         string   `json:"title"`
	People        int      `json:"people" doc:"The number of people who are on the step and have not completed."`
	MedianSeconds *float64 `json:"median_seconds" range:"0.." doc:"Of the people who went on; null if nobody has."`
	P90Seconds    *float64 `json:"p90_seconds" range:"0.."`
	SharePast     float64  `json:"share_past" range:"0..1" doc:"The share of all attendees who are past the step."`
	// Pulse counts the attendees with a state for the step.
	Pulse Pulses       `json:"pulse" is:"Pulses"`
	Ticks *[]taskCount `json:"ticks" doc:"The tasks of the step, and the number of people who ticked each. Null until at least three people have ticked one of them."`
}

type waiting struct {
	AttendeeID   string  `json:"attendee_id" is:"Id"`
	AttendeeName string  `json:"attendee_name"`
	StepNumber   int32   `json:"step_number" range:"1.."`
	Since        string  `json:"since" is:"Timestamp"`
	Seconds      float64 `json:"seconds"`
}

type overviewRecord struct {
	CodelabID     string         `json:"codelab_id" is:"Id"`
	Attendees     int            `json:"attendees"`
	Online        int            `json:"online" doc:"Attendees with a live connection."`
	Completed     int            `json:"completed"`
	Steps         []stepOverview `json:"steps"`
	LongestOnStep *waiting       `json:"longest_on_step"`
	OldestHelp    *helpRecord    `json:"oldest_help" is:"HelpRequest" doc:"The oldest unclaimed request."`
	OpenHelp      int            `json:"open_help" doc:"The number of unresolved requests."`
	Pulse         *Pulses        `json:"pulse" null:"false" is:"Pulses"`
	Checks        []checkCounts  `json:"checks" items:"..50" doc:"The checks that the steps declare, with the results that people's own programs have reported."`
}

// overview responds with the current state of the workshop. For each step it contains the number of
// people, their times, their pulses and their ticks. It also contains the longest stay on a step, the
// open requests for help and the results of checks.
func overview(r *Request) error {
	v := r.view()
	now := r.api.Now().UnixMilli()
	out := overviewRecord{
		CodelabID: r.Codelab.ID(), Attendees: v.Attendees.Len(), Online: r.Codelab.OnlineAttendees(), Completed: v.Completed,
		Steps: make([]stepOverview, len(v.Steps)), Pulse: ToPulses(v.Pulses),
	}
	pulses := make([]codelab.Pulses, len(v.Steps))
	spent := spentOn(v)
	past := make([]int, len(v.Steps))
	var longest *pb.Attendee
	for _, a := range v.Attendees.All() {
		for i := range v.Steps {
			if a.CompletedAt != 0 || int(a.FurthestStep) > i+1 {
				past[i]++
			}
		}
		if i := int(a.Pulse.GetStepNumber()) - 1; i >= 0 && i < len(pulses) {
			pulses[i].Count(a.Pulse.State, +1)
		}
		if a.CompletedAt != 0 {
			continue
		}
		if i := int(a.CurrentStep) - 1; i < len(out.Steps) {
			out.Steps[i].People++
		}
		if longest == nil || a.StepSince < longest.StepSince {
			longest = a
		}
	}
	out.Checks = countChecks(v)
	ticks := countTicks(v)
	for i, st := range v.Steps {
		o := &out.Steps[i]
		o.StepNumber, o.Title, o.Pulse, o.Ticks = i+1, st.Title, *ToPulses(pulses[i]), ticks[i]
		o.MedianSeconds, o.P90Seconds = quantile(spent[i], 0.5), quantile(spent[i], 0.9)
		if out.Attendees > 0 {
			o.SharePast = float64(past[i]) / float64(out.Attendees)
		}
	}
	if longest != nil {
		out.LongestOnStep = &waiting{
			longest.Id, longest.Name, longest.CurrentStep, wire.Stamp(longest.StepSince), seconds(now - longest.StepSince),
		}
	}
	for _, h := range v.Help.All() {
		if h.Status == pb.HelpStatus_HELP_STATUS_RESOLVED {
			continue
		}
		out.OpenHelp++
		if out.OldestHelp == nil && h.Status == pb.HelpStatus_HELP_STATUS_PENDING {
			rec := toHelp(r.Codelab.ID(), h)
			out.OldestHelp = &rec
		}
	}
	return r.JSON(out)
}

// spentOn returns, for each step, the sorted times of the people who moved on, in milliseconds. It
// leaves out people who skipped the step.
func spentOn(v *codelab.View) [][]int64 {
	out := make([][]int64, len(v.Steps))
	for _, a := range v.Attendees.All() {
		for i := range v.Steps {
			if ms := timeOn(a, i); ms > 0 {
				out[i] = append(out[i], ms)
			}
		}
	}
	for _, one := range out {
		slices.Sort(one)
	}
	return out
}

// timeOn returns the time that an attendee spent on a step (index from 0), in milliseconds, until
// they reached the next step or completed. The time is 0 if they are still on the step or skipped
// it.
func timeOn(a *pb.Attendee, i int) int64 {
	switch n := len(a.ReachedAt); {
	case i+1 < n:
		return max(0, a.ReachedAt[i+1]-a.ReachedAt[i]) // the clock may have been set back
	case i+1 == n && a.CompletedAt != 0:
		return max(0, a.CompletedAt-a.ReachedAt[i])
	}
	return 0
}

// quantile returns the smallest value that is at least as large as the fraction q of the values, in
// seconds. The values are sorted and in milliseconds. Without values quantile returns nil.
func quantile(sorted []int64, q float64) *float64 {
	if len(sorted) == 0 {
		return nil
	}
	i := int(q*float64(len(sorted))+0.999999) - 1
	s := seconds(sorted[min(max(i, 0), len(sorted)-1)])
	return &s
}

func seconds(ms int64) float64 { return (time.Duration(ms) * time.Millisecond).Seconds() }
