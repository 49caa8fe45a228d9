package rest

import (
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/wire"
)

type feedbackRecord struct {
	ID           string `json:"id"`
	CodelabID    string `json:"codelab_id"`
	AttendeeID   string `json:"attendee_id"`
	Difficulty   string `json:"difficulty"`
	Satisfaction string `json:"satisfaction"`
	Comment      string `json:"comment"`
	CreatedAt    string `json:"created_at"`
}

func toFeedback(lab string, f *pb.Feedback) feedbackRecord {
	return feedbackRecord{f.Id, lab, f.AttendeeId, f.Difficulty, f.Satisfaction, f.Comment, wire.Stamp(f.CreatedAt)}
}

func giveFeedback(r *Request) error {
	var in struct {
		Difficulty   *string `json:"difficulty"`
		Satisfaction *string `json:"satisfaction"`
		Comment      string  `json:"comment"`
	}
	if err := r.decode(&in); err != nil {
		return err
	}
	if in.Difficulty == nil {
		return wire.Invalid("difficulty is required")
	}
	if in.Satisfaction == nil {
		return wire.Invalid("satisfaction is required")
	}
	v, err := r.do(codelab.GiveFeedback{
		Difficulty: *in.Difficulty, Satisfaction: *in.Satisfaction, Comment: in.Comment,
	})
	if err != nil {
		return err
	}
	return r.JSON(struct {
		ID string `json:"id"`
	}{v.(*pb.Feedback).Id})
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
