package rest

import (
	"time"

	"atelier/actors/codelab"
	"atelier/transport/wire"
)

// timelineRecord is the progress of attendees over time.
type timelineRecord struct {
	Times     []string `json:"times" is:"Timestamp" doc:"Oldest first. Empty before the first registration."`
	Reached   [][]int  `json:"reached" doc:"For each step, the number of attendees who had reached it at each of the times."`
	Completed []int    `json:"completed" doc:"The number of attendees who had completed at each of the times."`
}

const (
	// progressTimes bounds the number of history points after the first.
	progressTimes = 60
	// progressStep is the minimum interval between points, because a workshop of five minutes does
	// not need sixty points.
	progressStep = 15 * time.Second
)

// progress responds with the number of attendees who had reached each step, over time. Attendees'
// records contain the times at which they reached their steps, so no history needs to be stored.
func progress(r *Request) error {
	return r.JSON(toTimeline(r.view(), r.api.Now().UnixMilli()))
}

func toTimeline(v *codelab.View, until int64) timelineRecord {
	out := timelineRecord{Times: []string{}, Reached: make([][]int, len(v.Steps)), Completed: []int{}}
	if end := v.Meta.GetEndedAt(); end != 0 {
		until = min(until, end)
	}
	from := until
	for _, a := range v.Attendees.All() {
		from = min(from, a.CreatedAt)
	}
	count := 0
	if v.Attendees.Len() > 0 {
		count = 1 + int(min(max((until-from)/progressStep.Milliseconds(), 1), progressTimes))
	}
	last := max(int64(count-1), 1)
	at := func(i int) int64 { return from + (until-from)*int64(i)/last }
	for i := range count {
		out.Times = append(out.Times, wire.Stamp(at(i)))
	}
	for i := range out.Reached {
		out.Reached[i] = make([]int, count)
	}
	out.Completed = make([]int, count)

	// The first loop counts the arrivals in each interval. Then the counts are added up.
	came := func(counts []int, ms int64) {
		if ms > until {
			return // ignore arrivals and completions after the end
		}
		i := 0
		if until > from {
			i = int((max(ms-from, 0)*last + until - from - 1) / (until - from))
		}
		counts[i]++
	}
	for _, a := range v.Attendees.All() {
		for i, ms := range a.ReachedAt[:min(len(a.ReachedAt), len(v.Steps))] {
			came(out.Reached[i], ms)
		}
		if a.CompletedAt != 0 {
			came(out.Completed, a.CompletedAt)
		}
	}
	for _, counts := range append(out.Reached, out.Completed) {
		for i := 1; i < len(counts); i++ {
			counts[i] += counts[i-1]
		}
	}
	return out
}
