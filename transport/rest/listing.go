package rest

import (
	"cmp"
	"errors"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/transport/wire"
)

// listedRecord is a codelab in the facilitators' list.
type listedRecord struct {
	codelabRecord
	// Online and Attendees count people; UpdatedAt is when settings, steps,
	// quizzes or materials were last changed.
	Online    int    `json:"online"`
	Attendees int    `json:"attendees"`
	UpdatedAt string `json:"updated_at"`
}

// listForAdmins answers all codelabs with what is going on in them. It wakes
// only those whose figures were never recorded: they have not changed since a
// time when they were not kept.
func (r *Request) listForAdmins(all []*pb.Codelab) error {
	figures, err := r.api.List.Figures()
	if err != nil {
		return err
	}
	online := r.api.Workshops.Online()
	out := make([]listedRecord, 0, len(all))
	for _, m := range all {
		f := figures[m.Id]
		if f == nil {
			w, err := r.api.Workshops.Get(m.Id)
			switch {
			case durable.IsMissing(err):
				continue // deleted a moment ago
			case errors.Is(err, durable.ErrQuarantined):
				f = &pb.Figures{} // it does not open; its record is known
			case err != nil:
				return err
			default:
				v := w.View()
				f = &pb.Figures{Attendees: int32(v.Attendees.Len()), UpdatedAt: v.UpdatedAt}
			}
		}
		out = append(out, listedRecord{
			r.toCodelab(m, true), online[m.Id], int(f.Attendees), wire.Stamp(cmp.Or(f.UpdatedAt, m.CreatedAt)),
		})
	}
	return r.JSON(out)
}
