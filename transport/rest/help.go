package rest

import (
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/wire"
)

type helpRecord struct {
	ID           string  `json:"id"`
	CodelabID    string  `json:"codelab_id"`
	AttendeeID   string  `json:"attendee_id"`
	AttendeeName string  `json:"attendee_name"`
	StepNumber   int32   `json:"step_number"`
	Status       string  `json:"status"`
	CreatedAt    string  `json:"created_at"`
	ClaimedBy    *string `json:"claimed_by"`
	ResolvedAt   *string `json:"resolved_at"`
}

var helpStatus = map[pb.HelpStatus]string{
	pb.HelpStatus_HELP_STATUS_PENDING:     "pending",
	pb.HelpStatus_HELP_STATUS_IN_PROGRESS: "in_progress",
	pb.HelpStatus_HELP_STATUS_RESOLVED:    "resolved",
}

func toHelp(lab string, h *pb.HelpRequest) helpRecord {
	return helpRecord{
		h.Id, lab, h.AttendeeId, h.AttendeeName, h.StepNumber, helpStatus[h.Status], wire.Stamp(h.CreatedAt), wire.OrNull(h.ClaimedBy), wire.StampOrNull(h.ResolvedAt),
	}
}

func askHelp(r *Request) error {
	var in struct {
		StepNumber *int32 `json:"step_number"`
	}
	if err := r.decode(&in); err != nil {
		return err
	}
	if in.StepNumber == nil {
		return wire.Invalid("step_number is required")
	}
	if _, err := r.do(&pb.Command{Body: &pb.Command_AskHelp{AskHelp: &pb.AskHelp{StepNumber: *in.StepNumber}}}); err != nil {
		return err
	}
	return r.ok()
}

// getHelp answers the open queue to admins, and to attendees all of their own
// requests.
func getHelp(r *Request) error {
	v := r.view()
	if r.fresh(v.Changed.Help, r.Caller.Id) {
		return nil
	}
	out := func() any {
		out := []helpRecord{}
		for _, h := range v.Help.All() {
			if r.IsAdmin() && h.Status != pb.HelpStatus_HELP_STATUS_RESOLVED || h.AttendeeId == r.Caller.Id {
				out = append(out, toHelp(r.Lab.ID(), h))
			}
		}
		return out
	}
	if r.IsAdmin() {
		return r.cached(v.Encoded.Help, forAdmins, out)
	}
	return r.json(out())
}

func claimHelp(r *Request) error {
	v, err := r.do(&pb.Command{Body: &pb.Command_ClaimHelp{ClaimHelp: &pb.ClaimHelp{HelpId: r.Param("help_id")}}})
	if err != nil {
		return err
	}
	return r.json(toHelp(r.Lab.ID(), v.(*pb.HelpRequest)))
}

func resolveHelp(r *Request) error {
	if _, err := r.do(&pb.Command{Body: &pb.Command_ResolveHelp{ResolveHelp: &pb.ResolveHelp{HelpId: r.Param("help_id")}}}); err != nil {
		return err
	}
	return r.ok()
}
