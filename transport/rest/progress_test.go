package rest

import (
	"fmt"
	"testing"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/cow"
)

const minute = int64(60_000)

func progressOfPeople(end, now int64, people ...*pb.Attendee) timelineRecord {
	var all cow.Vector[*pb.Attendee]
	for _, a := range people {
		all.Append(a)
	}
	return toTimeline(&codelab.View{Meta: &pb.Codelab{EndedAt: end}, Steps: make([]*pb.Step, 2), Attendees: all.Capture()}, now)
}

func TestProgressCountsPeopleWhoReachedAStep(t *testing.T) {
	ann := &pb.Attendee{CreatedAt: 0, ReachedAt: []int64{0, 15_001}, CompletedAt: 45_000}
	bob := &pb.Attendee{CreatedAt: 30_000, ReachedAt: []int64{30_000, 30_000, 30_000}} // the third step was deleted later
	for _, tc := range []struct {
		end, now int64
		people   []*pb.Attendee
		want     string
	}{
		{0, minute, []*pb.Attendee{ann, bob}, "5 [[1 1 2 2 2] [0 0 2 2 2]] [0 0 0 1 1]"},
		{30_000, minute, []*pb.Attendee{ann, bob}, "3 [[1 1 2] [0 0 2]] [0 0 0]"}, // Ann completes after the end
		{0, 5, []*pb.Attendee{ann}, "2 [[1 1] [0 0]] [0 0]"},                      // less than an interval has passed
		{0, 0, []*pb.Attendee{{ReachedAt: []int64{0}}}, "2 [[1 1] [0 0]] [0 0]"},
		{0, minute, nil, "0 [[] []] []"},
	} {
		got := progressOfPeople(tc.end, tc.now, tc.people...)
		if text := fmt.Sprint(len(got.Times), got.Reached, got.Completed); text != tc.want {
			t.Errorf("at %d, with the end at %d: %s, want %s", tc.now, tc.end, text, tc.want)
		}
	}
}

func TestProgressHasALimitedNumberOfTimes(t *testing.T) {
	got := progressOfPeople(0, 600*minute, &pb.Attendee{CreatedAt: 0, ReachedAt: []int64{0, 300 * minute}})
	if len(got.Times) != progressTimes+1 || got.Times[0] != "1970-01-01T00:00:00.000Z" || got.Times[60] != "1970-01-01T10:00:00.000Z" {
		t.Errorf("the times are %v", got.Times)
	}
	if two := got.Reached[1]; two[29] != 0 || two[30] != 1 || two[60] != 1 {
		t.Errorf("the counts of step 2 are %v", two)
	}
}
