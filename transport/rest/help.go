package rest

import (
	"slices"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/people"
	"atelier/transport/wire"
)

type helpRecord struct {
	ID           string  `json:"id" is:"Id"`
	CodelabID    string  `json:"codelab_id" is:"Id"`
	AttendeeID   string  `json:"attendee_id" is:"Id"`
	AttendeeName string  `json:"attendee_name"`
	StepNumber   int32   `json:"step_number" range:"1.."`
	Status       string  `json:"status" enum:"pending|in_progress|resolved"`
	CreatedAt    string  `json:"created_at" is:"Timestamp"`
	ClaimedBy    *string `json:"claimed_by" doc:"The facilitator who claimed it."`
	ResolvedAt   *string `json:"resolved_at" is:"Timestamp"`
	Message      string  `json:"message" length:"..500" doc:"The text of the request, or empty."`
	Person       *string `json:"person" doc:"The id of the facilitator or assistant who claimed the request. If the owner of the server claimed it, the owner's account. «claimed_by» is the name."`
	Place        *string `json:"place" length:"..40" doc:"The seat that the attendee has entered, if any."`
	Answer       *string `json:"answer" length:"..2000" doc:"The written answer, if any."`
}

// ownHelpRecord is a request as its author sees it.
type ownHelpRecord struct {
	helpRecord
	Position    *int     `json:"position" optional:"true" range:"1.." doc:"The position in the queue, from 1. Null once somebody comes. Only in an attendee's own list."`
	WaitSeconds *float64 `json:"wait_seconds" optional:"true" range:"0.." doc:"The expected wait until somebody comes: the median of the last ten waits. Null before the first wait, and once somebody comes. Only in an attendee's own list."`
}

// States of a request for help.
const (
	HelpPending    = "pending"
	HelpInProgress = "in_progress"
	HelpResolved   = "resolved"
)

var helpStatus = map[pb.HelpStatus]string{
	pb.HelpStatus_HELP_STATUS_PENDING:     HelpPending,
	pb.HelpStatus_HELP_STATUS_IN_PROGRESS: HelpInProgress,
	pb.HelpStatus_HELP_STATUS_RESOLVED:    HelpResolved,
}

func toHelp(lab string, h *pb.HelpRequest) helpRecord {
	return helpRecord{
		h.Id, lab, h.AttendeeId, h.AttendeeName, h.StepNumber, helpStatus[h.Status], wire.Stamp(h.CreatedAt), wire.OrNull(h.ClaimedBy), wire.StampOrNull(h.ResolvedAt),
		h.Message, wire.OrNull(h.Leader), wire.OrNull(h.Place), wire.OrNull(h.Answer),
	}
}

type helpAskBody struct {
	StepNumber *int32 `json:"step_number,omitempty" range:"1.." doc:"An existing step. Required for attendees. If a facilitator who offers help omits it, the offer is for the attendee's own step."`
	Message    string `json:"message,omitempty" length:"..500" doc:"The subject of the request. If the attendee asks again without a message, the open request keeps its message."`
	AttendeeID string `json:"attendee_id,omitempty" doc:"For facilitators: the attendee who is offered help."`
}

// askHelp asks for help for the calling attendee. If the caller is a facilitator and the body names
// an attendee, askHelp offers help to that attendee.
func askHelp(r *Request) error {
	var in helpAskBody
	if err := r.decode(&in); err != nil {
		return err
	}
	var wanted codelab.Body
	switch {
	case r.IsAdmin() && in.AttendeeID != "":
		wanted = codelab.OfferHelp{AttendeeID: in.AttendeeID, StepNumber: in.StepNumber, Message: in.Message}
	case r.IsAdmin() && !r.actAsAttendee():
		return wire.Invalid("attendee_id is required: the attendee to whom help is offered")
	case in.AttendeeID != "" && in.AttendeeID != r.Caller.ID:
		return errForbidden
	case in.StepNumber == nil:
		return wire.Invalid("step_number is required")
	default:
		wanted = codelab.AskHelp{StepNumber: *in.StepNumber, Message: in.Message}
	}
	v, err := r.take(wanted)
	if err != nil {
		return err
	}
	h, _ := v.(*pb.HelpRequest)
	return r.JSON(helpAsked{"ok", h.GetId()})
}

// helpAsked identifies the request that was created or already existed.
type helpAsked struct {
	Status string `json:"status" const:"ok"`
	ID     string `json:"id" is:"Id"`
}

// take does the same as do for a command that can make the caller the claimant of a request. When a
// person loses the permission to claim, the server releases their existing claims. A claim stored
// after this release would remain, so take checks the claimant's permission once more.
func (r *Request) take(b codelab.Body) (any, error) {
	v, err := r.do(b)
	if err != nil || !r.IsAdmin() || r.who.Leader() == nil {
		return v, err
	}
	stands, err := r.api.Auth.Knows(&r.who, true)
	if err != nil || stands { // after an error, the next sweep checks the claim
		return v, nil
	}
	h, err := r.api.People.Get(people.ID)
	if err != nil {
		return nil, err
	}
	if err := r.api.ReleaseClaims(h.View()); err != nil {
		return nil, err
	}
	return nil, errLogin
}

// getHelp returns to admins the open queue, and to attendees all of their own requests.
func getHelp(r *Request) error {
	v := r.view()
	if r.fresh(v.Changed.Help, r.Caller.ID) {
		return nil
	}
	if !r.IsAdmin() {
		return r.JSON(ownHelp(v, r.Codelab.ID(), r.Caller.ID))
	}
	return r.cached(v.Encoded.Help, forAdmins, func() any {
		out := []helpRecord{}
		for _, h := range v.Help.All() {
			if h.Status != pb.HelpStatus_HELP_STATUS_RESOLVED {
				out = append(out, toHelp(r.Codelab.ID(), h))
			}
		}
		return out
	})
}

// ownHelp returns the requests of one attendee.
func ownHelp(v *codelab.View, lab, who string) []ownHelpRecord {
	out, waiting := []ownHelpRecord{}, 0
	for _, h := range v.Help.All() {
		pending := h.Status == pb.HelpStatus_HELP_STATUS_PENDING
		if pending {
			waiting++
		}
		if h.AttendeeId != who {
			continue
		}
		rec := ownHelpRecord{helpRecord: toHelp(lab, h)}
		if pending {
			place := waiting
			rec.Position, rec.WaitSeconds = &place, usualWait(v)
		}
		out = append(out, rec)
	}
	return out
}

// recentHelp is the number of requests from which the current wait is estimated.
const recentHelp = 10

// usualWait returns the median time, in seconds, that the latest recentHelp requests waited until
// they were claimed. Offers of help do not count. The result is nil if no request was claimed.
func usualWait(v *codelab.View) *float64 {
	var waited []int64
	for i := v.Help.Len() - 1; i >= 0 && len(waited) < recentHelp; i-- {
		if h := v.Help.At(i); h.ClaimedAt != 0 && !h.Offered {
			waited = append(waited, h.ClaimedAt-h.CreatedAt)
		}
	}
	slices.Sort(waited)
	return quantile(waited, 0.5)
}

func claimHelp(r *Request) error {
	v, err := r.take(codelab.ClaimHelp{HelpID: r.Param("help_id")})
	if err != nil {
		return err
	}
	return r.JSON(toHelp(r.Codelab.ID(), v.(*pb.HelpRequest)))
}

type helpReleaseBody struct {
	Reason string `json:"reason,omitempty" length:"..200" doc:"In your own words; optional."`
}

func releaseHelp(r *Request) error {
	var in helpReleaseBody
	if err := r.decodeOptional(&in); err != nil {
		return err
	}
	v, err := r.do(codelab.ReleaseHelp{HelpID: r.Param("help_id"), Reason: in.Reason})
	if err != nil {
		return err
	}
	return r.JSON(toHelp(r.Codelab.ID(), v.(*pb.HelpRequest)))
}

type helpAnswerBody struct {
	HelpIDs []string `json:"help_ids" items:"1..200" is:"Id"`
	Message *string  `json:"message" length:"1..2000"`
}

// answerHelp answers several help requests with one message.
func answerHelp(r *Request) error {
	var in helpAnswerBody
	if err := r.decode(&in); err != nil {
		return err
	}
	if _, err := r.do(codelab.AnswerHelp{HelpIDs: in.HelpIDs, Message: *in.Message}); err != nil {
		return err
	}
	return r.ok()
}

func resolveHelp(r *Request) error {
	if _, err := r.do(codelab.ResolveHelp{HelpID: r.Param("help_id")}); err != nil {
		return err
	}
	return r.ok()
}
