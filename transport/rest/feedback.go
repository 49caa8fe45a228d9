package rest

import (
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/wire"
)

type feedbackRecord struct {
	ID           string `json:"id" is:"Id"`
	CodelabID    string `json:"codelab_id" is:"Id"`
	AttendeeID   string `json:"attendee_id" is:"Id"`
	Difficulty   string `json:"difficulty" enum:"1|2|3|4|5"`
	Satisfaction string `json:"satisfaction" enum:"1|2|3|4|5"`
	Comment      string `json:"comment" length:"..2000"`
	CreatedAt    string `json:"created_at" is:"Timestamp"`
}

func toFeedback(lab string, f *pb.Feedback) feedbackRecord {
	return feedbackRecord{f.Id, lab, f.AttendeeId, f.Difficulty, f.Satisfaction, f.Comment, wire.Stamp(f.CreatedAt)}
}

type feedbackGiveBody struct {
	Difficulty   *string `json:"difficulty" enum:"1|2|3|4|5"`
	Satisfaction *string `json:"satisfaction" enum:"1|2|3|4|5"`
	Comment      string  `json:"comment,omitempty" length:"..2000" doc:"Stored as sent."`
}

func giveFeedback(r *Request) error {
	var in feedbackGiveBody
	if err := r.decode(&in); err != nil {
		return err
	}
	v, err := r.do(codelab.GiveFeedback{
		Difficulty: *in.Difficulty, Satisfaction: *in.Satisfaction, Comment: in.Comment,
	})
	if err != nil {
		return err
	}
	return r.JSON(created{v.(*pb.Feedback).Id})
}

func getFeedback(r *Request) error {
	v := r.view()
	if r.fresh(v.Changed.Feedback, "a") {
		return nil
	}
	out := make([]feedbackRecord, 0, v.Feedback.Len())
	for _, f := range v.Feedback.All() {
		out = append(out, toFeedback(r.Codelab.ID(), f))
	}
	return r.JSON(out)
}
